//! Labels that come late: what a prediction keeps until then.
//!
//! ```text
//! play_late(example)  ─▶  Kept      … other rounds …      learn_late(example, label, Kept)
//! ```
//!
//! The gradient is that of the margin that was played, and of the values as they were scaled then. Cost: 12 bytes a
//! feature while the prediction waits.

use crate::error::{Error, Result};

/// A prediction that waits for its label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// The margin that was played.
    pub margin: f64,
    /// The slots of the features, as they were played.
    pub slots: Vec<u32>,
    /// The scaled values.
    pub values: Vec<f32>,
    /// What the rule read of each slot.
    pub readings: Vec<f32>,
}

/// The bytes of a margin, and those of a slot, a value or a reading.
const MARGIN: usize = 8;
const WORD: usize = 4;

impl Kept {
    /// The margin, the slots, the values and the readings, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Kept { margin, slots, values, readings } = self;
        let mut bytes = margin.to_le_bytes().to_vec();
        bytes.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
        bytes.extend(values.iter().chain(readings).flat_map(|float| float.to_le_bytes()));
        bytes
    }

    /// What [`Kept::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Kept> {
        let Some((margin, rest)) = bytes.split_first_chunk::<MARGIN>() else { return Err(torn()) };
        let (words, beyond) = rest.as_chunks::<WORD>();
        if words.len() % 3 != 0 || !beyond.is_empty() {
            return Err(torn());
        }
        let mut parts = words.chunks(words.len().max(3) / 3);
        let mut next = || parts.next().unwrap_or_default().iter().copied();
        let slots = next().map(u32::from_le_bytes).collect();
        let values = next().map(f32::from_le_bytes).collect();
        let readings = next().map(f32::from_le_bytes).collect();
        Ok(Kept { margin: f64::from_le_bytes(*margin), slots, values, readings })
    }
}

fn torn() -> Error {
    Error::Spec("expected the bytes of a played example, found others".into())
}

/// The error of a model without this way of learning.
pub fn cannot_learn_late() -> Error {
    Error::Spec(
        "this model does not learn from old predictions; that takes the rule 'adaptive-revision' with two classes or \
         a loss whose labels are not standardised, without L2 and importance-aware updates"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_were_written_and_others_are_refused() {
        let played = Kept {
            margin: -0.75,
            slots: vec![7, 1 << 20],
            values: vec![1.5, -2.0],
            readings: vec![0.25, 3.0],
        };
        for played in [played, Kept { margin: 1.0, ..Kept::default() }] {
            let bytes = played.to_bytes();
            assert_eq!(Kept::from_bytes(&bytes).ok(), Some(played));
            assert!(Kept::from_bytes(&bytes[1..]).is_err());
            assert!(Kept::from_bytes(&[&bytes[..], &[0; 4]].concat()).is_err());
        }
    }
}
