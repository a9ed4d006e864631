//! Measures the time to update a random slot, and the learner's time for a feature in such a slot.
//!
//! ```text
//! random_update BITS FEATURES EXAMPLES REPEATS
//! ```
//!
//! The limit is the least that any learner must do: read, change and write one random slot for every feature,
//! in arrays laid out as the learner's, one lane (8 bytes) or eight (64 bytes). The iterations of its loop
//! are independent, so out-of-order execution overlaps many cache misses. It is measured with pages of 4 kB
//! and with huge pages of 2 MB; the learner requests the latter. Limits and learner alternate on the same
//! chunk; memory is touched before the clock starts.
//!
//! Eight lanes have lines only for slots that were met, in the order of first use. So that this order is not
//! that of the chunk, the learner has met the same slots before in another one. The learner looks up the
//! positions of the lines itself, or they come with the chunk, as in a run from text; both are measured.
//!
//! Prints one JSON document a line: lanes, what, nanoseconds for a feature.

mod seeded;

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use bytemuck::{Pod, cast_slice_mut};
use lessregret_core::Line as _;
use lessregret_core::SlotLookup;
use lessregret_core::per_coordinate::{Line, Slot};
use lessregret_core::{Chunk, Requirements};
use memmap2::MmapMut;
use seeded::{Numbers, Outcome, learner, random_chunk};

const SEED: u64 = 2;

fn main() -> Outcome<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let &[bits, features, examples, repeats] = arguments.as_slice() else {
        return Err("expected BITS FEATURES EXAMPLES REPEATS".into());
    };
    let bits = bits as u32;
    let chunk = random_chunk(bits, examples, features, SEED);
    let slot = Slot { weight: 1.0, energy: 1.0 };
    compare(1, "0.1", bits, &chunk, repeats, slot, |slot| slot.weight += 1.0)?;
    let mut line = Line::default();
    line.put(0, slot);
    let change = |line: &mut Line| {
        let mut state = line.get(0);
        state.weight += 1.0;
        line.put(0, state);
    };
    compare(8, "\"auto\"", bits, &chunk, repeats, line, change)
}

/// Run limits and learner alternately, once more than requested: the first turn is a warm-up and not printed.
fn compare<T: Pod>(
    lanes: usize,
    rate: &str,
    bits: u32,
    chunk: &Chunk,
    repeats: usize,
    entry: T,
    change: impl Fn(&mut T),
) -> Outcome<()> {
    let mut limits =
        [("limit", table(bits, entry, false)?), ("limit-large", table(bits, entry, true)?)];
    let mut model = learner(bits, rate)?;
    let mut margins = Vec::new();
    model.expect(((1 + repeats) * chunk.features()) as u64);
    model.learn((&mixed_up(chunk, SEED)).into(), &mut margins)?;
    let found = model.index().map(|index| with_positions(chunk, index));
    for turn in 0..=repeats {
        for (what, table) in &mut limits {
            let sweep = || {
                change_all(cast_slice_mut(table), chunk, &change);
                Ok(())
            };
            tell(turn, lanes, what, nanoseconds(chunk, sweep)?)?;
        }
        for (what, chunk) in [("learn", Some(chunk)), ("learn-found", found.as_ref())] {
            let Some(chunk) = chunk else { continue };
            margins.clear();
            let learned = nanoseconds(chunk, || Ok(model.learn(chunk.into(), &mut margins)?))?;
            tell(turn, lanes, what, learned)?;
        }
    }
    black_box(limits);
    Ok(())
}

/// The examples of a chunk with the positions of their lines, as readers of text provide them.
fn with_positions(chunk: &Chunk, index: Arc<dyn SlotLookup>) -> Chunk {
    let mut found =
        Chunk::for_requirements(Requirements { index: Some(index), ..Requirements::default() });
    found.append(chunk);
    found.look_up_positions();
    found
}

fn change_all<T>(entries: &mut [T], chunk: &Chunk, change: &impl Fn(&mut T)) {
    for example in chunk.examples() {
        example.slots.iter().for_each(|&slot| change(&mut entries[slot as usize]));
    }
}

/// 2^bits entries, in pages of 4 kB, or in huge pages of 2 MB if the system has them.
fn table<T: Pod>(bits: u32, entry: T, large: bool) -> Outcome<MmapMut> {
    let mut memory = MmapMut::map_anon(size_of::<T>() << bits)?;
    #[cfg(target_os = "linux")]
    if large {
        memory.advise(memmap2::Advice::HugePage)?;
    }
    cast_slice_mut(&mut memory).fill(entry);
    Ok(memory)
}

/// The features of a chunk in another order, shuffled across the examples.
fn mixed_up(chunk: &Chunk, seed: u64) -> Chunk {
    let mut numbers = Numbers(seed);
    let mut slots: Vec<u32> = chunk.examples().flat_map(|each| each.slots).copied().collect();
    for k in (1..slots.len()).rev() {
        slots.swap(k, numbers.below(k as u64 + 1) as usize);
    }
    let mut mixed = Chunk::new(None);
    for slots in slots.chunks(slots.len().div_ceil(chunk.len())) {
        slots.iter().for_each(|&slot| mixed.push(slot, 1.0));
        mixed.finish(numbers.label(), 1.0, b"");
    }
    mixed
}

/// The time that `work` takes for each feature of the chunk.
fn nanoseconds(chunk: &Chunk, work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64() * 1e9 / chunk.features() as f64)
}

fn tell(turn: usize, lanes: usize, what: &str, nanoseconds: f64) -> Outcome<()> {
    if turn == 0 {
        return Ok(());
    }
    let line =
        format!(r#"{{"lanes": {lanes}, "what": "{what}", "nanoseconds": {nanoseconds:.3}}}"#);
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
