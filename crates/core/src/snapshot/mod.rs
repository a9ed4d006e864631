//! Model files: a learner as safetensors, so that other programs can read the weights.
//!
//! ```text
//! 8 bytes     length of the header
//! header      JSON: where each tensor lies, and one string of metadata, `lessregret`
//! body        the tensors
//! ```
//!
//! Only touched slots are stored: `slot` (u32, ascending) lists them, and one float32 tensor for each field
//! of the rule's slot holds their state, in the same order. `gradient_sum` (float64) is there when regret is
//! certified; `low` and `high` when each coordinate has its own box; `names` (text, one name a line) and
//! `collided` when names were kept. A rule whose slot has no field `weight` gets, for other readers, the
//! weights that are not zero: `weight_slot`, `weight`. If values are divided by the largest, `scale` holds the
//! divisor of each slot, if any is not 1. If they are centred, `count`, `mean` and `squares` (float64) hold the
//! statistics of each slot, zeros if it has none.
//!
//! A slim file holds `slot`, `weight` and the scales of the weights that are not zero: enough to predict. If
//! values are centred, it also holds the features that were in every example, which the intercept depends on.
//!
//! The metadata hold the format version, the spec, the tally, the statistics of the labels if these are
//! standardised, and a CRC-32 of the whole file, computed with
//! the checksum's own eight digits as zeros. A file is written under a temporary name, flushed to the disk
//! and renamed over the old one: a reader sees either the whole old model or the whole new one. Writing and
//! reading stream; neither holds a second copy of the slots in memory.

#[cfg(test)]
mod allocation_faults;
mod checks;
mod json;
mod layout;
#[cfg(test)]
mod learned_in_parallel;
mod read;
mod refusal;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::example::LabelStatistics;
use crate::learn::tally::Tally;
use crate::spec::Spec;

pub use read::{Loaded, load, load_bytes, read_header};
pub use write::{Snapshot, save, to_bytes};

/// The version of the format that this code writes and reads.
pub const FORMAT: u32 = 1;

/// The number of slots of a tensor that are in memory at a time while it is written or read.
const BLOCK: usize = 1 << 14;

const METADATA_KEY: &str = "lessregret";
const NO_CHECKSUM: &str = "00000000";

/// The metadata of a model file: everything but the slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// CRC-32 of the file in hexadecimal.
    pub checksum: String,
    /// The version of the format.
    pub format: u32,
    /// The version of the program that wrote the file.
    pub writer: String,
    /// The spec of the learner.
    pub spec: Spec,
    /// The sums over the rounds so far.
    pub tally: Tally,
    /// The number of bad lines skipped so far.
    pub skipped: u64,
    /// The number of slots stored.
    pub touched: u64,
    /// Whether the names of the features were kept.
    pub names: bool,
    /// The number of slots with two different names, if names were kept.
    pub collisions: u64,
    /// Whether only the weights are stored: enough to predict, not to continue learning.
    pub slim: bool,
    /// Whether each coordinate has a box of its own.
    pub boxes: bool,
    /// The state that coupled coordinates share.
    pub shared: Value,
    /// The statistics of the labels, if the learner standardises labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelStatistics>,
}

/// The position of the eight digits of the checksum in the header.
///
/// The metadata are JSON inside a JSON string, hence the backslashes.
fn checksum_offset(header: &[u8]) -> Option<usize> {
    let before = br#"{\"checksum\":\""#;
    let start = memchr::memmem::find(header, before)? + before.len();
    (header.len() >= start + NO_CHECKSUM.len()).then_some(start)
}

#[cfg(test)]
mod tests {
    use safetensors::SafeTensors;

    use super::*;
    use crate::error::Result;
    use crate::example::Chunk;
    use crate::learn::model::{Inspect, Model};

    /// A learner that has met more slots than are written at a time.
    fn learner(rate: &str) -> Result<(Spec, Box<dyn Model>)> {
        let rule = format!(r#"{{"name":"per-coordinate","rate":{rate},"radius":9.0,"box":null}}"#);
        let rest = r#""table":{"bits":16},"intercept":false,"certify":true"#;
        let spec = Spec::parse(&format!(r#"{{"loss":"hinge","rule":{rule},{rest}}}"#))?;
        let (mut model, mut chunk) = (spec.build(None)?, Chunk::new(None));
        for round in 0..40u32 {
            (0..1000).for_each(|k| chunk.push(round * 1000 + k, 1.0 / (k + 1) as f32));
            chunk.finish(if round % 3 == 0 { -1.0 } else { 1.0 }, 1.0, b"");
        }
        model.learn((&chunk).into(), &mut Vec::new())?;
        Ok((spec, model))
    }

    fn bytes(spec: &Spec, model: &dyn Inspect, slim: bool) -> Vec<u8> {
        let snapshot = Snapshot { spec, model, skipped: 0, names: None, slim };
        to_bytes(snapshot).expect("memory can be written to")
    }

    #[test]
    fn columns_are_whole_however_many_blocks_they_have() -> Result<()> {
        for rate in ["0.5", "\"auto\""] {
            let (spec, model) = learner(rate)?;
            let (touched, mut floats, mut sums) = (model.touched(), Vec::new(), Vec::new());
            assert!(touched.len() > 2 * BLOCK);
            model.copy_field(1, &touched, &mut floats);
            model.copy_gradient_sums(&touched, &mut sums);
            let file = bytes(&spec, &*model, false);
            let tensors = SafeTensors::deserialize(&file).expect("our own file");
            let data = |name| tensors.tensor(name).expect("a tensor").data().to_vec();
            let numbers: Vec<_> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
            assert_eq!(data("energy"), numbers);
            let numbers: Vec<_> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
            assert_eq!(data("gradient_sum"), numbers);
        }
        Ok(())
    }

    #[test]
    fn a_model_that_is_read_is_written_as_it_was() -> Result<()> {
        for rate in ["0.5", "\"auto\""] {
            let (spec, model) = learner(rate)?;
            for slim in [false, true] {
                let file = bytes(&spec, &*model, slim);
                let loaded = load_bytes(&file, "<bytes>")?;
                assert_eq!(loaded.model.is_slim(), slim);
                assert!(bytes(&spec, loaded.model.inspected(), slim) == file, "{rate}, {slim}");
            }
        }
        Ok(())
    }
}
