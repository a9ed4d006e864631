//! Examples as plain values that can be compared to the bit.

use lessregret_core::Chunk;

/// Label, importance, tag and features. Floats are compared as bits, so that NaN equals NaN.
pub type Copied = (u32, u32, Vec<u8>, Vec<(u32, u32)>);

/// The examples of a chunk; checks the invariants of a chunk.
pub fn copied(chunk: &Chunk) -> Vec<Copied> {
    (0..chunk.len()).map(|k| copy(chunk, k)).collect()
}

fn copy(chunk: &Chunk, k: usize) -> Copied {
    let example = chunk.example(k);
    let zeros = chunk.requirements().zeros;
    assert!(example.values.iter().all(|value| value.is_finite() && (zeros || *value != 0.0)));
    assert!(example.importance >= 0.0 && example.importance.is_finite());
    let values = example.values.iter().map(|value| value.to_bits());
    let features = example.slots.iter().copied().zip(values).collect();
    let (label, importance) = (example.label.to_bits(), example.importance.to_bits());
    (label, importance, chunk.tag(k).to_vec(), features)
}
