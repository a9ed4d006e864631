//! Model files: a learner as safetensors, so that anything can read the weights.
//!
//! ```text
//! 8 bytes     length of the header
//! header      JSON: where each tensor lies, and one string of metadata, `lessregret`
//! body        the tensors
//! ```
//!
//! Only touched slots are stored: `slot` (u32, ascending) says which, and one float32 tensor for
//! each field of the rule's slot says what they hold, in the same order. `gradient_sum` (float64)
//! is there when regret is certified; `low` and `high` when each coordinate has its own box;
//! `names` (text, one name a line) and `collided` when names were kept. A rule whose slot has no
//! field `weight` gets, for other readers, the weights that are not zero: `weight_slot`, `weight`.
//! Where values are scaled, `scale` holds what each slot's are divided by, if any is not 1.
//!
//! A slim file holds `slot`, `weight` and, if there is one, `scale`, for the weights that are not
//! zero: enough to predict.
//!
//! The metadata hold the format version, the spec, the tally and a CRC-32 of the whole file, taken
//! with the checksum's own eight digits as zeros. A file is written beside its place, flushed to
//! the disk and renamed over the old one: whoever reads sees the old model or the new one, whole.
//! Writing and reading stream; neither holds a second copy of the slots in memory.

mod read;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::learn::tally::Tally;
use crate::spec::Spec;

pub use read::{Loaded, load, load_bytes, read_header};
pub use write::{Snapshot, save, to_bytes};

/// The version of the format that this code writes and reads.
pub const FORMAT: u32 = 1;

const METADATA_KEY: &str = "lessregret";
const NO_CHECKSUM: &str = "00000000";

/// The metadata of a model file: all but the slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// CRC-32 of the file in hexadecimal.
    pub checksum: String,
    /// The version of the format.
    pub format: u32,
    /// The version of the program that wrote the file.
    pub writer: String,
    /// Which learner this is.
    pub spec: Spec,
    /// The sums so far.
    pub tally: Tally,
    /// Lines passed over so far because they were bad.
    pub skipped: u64,
    /// How many slots are stored.
    pub touched: u64,
    /// Whether the names of the features were kept.
    pub names: bool,
    /// Slots that met two different names, where names were kept.
    pub collisions: u64,
    /// Whether only the weights are stored: enough to predict, not to go on learning.
    pub slim: bool,
    /// Whether each coordinate has a box of its own.
    pub boxes: bool,
    /// The state that coupled coordinates share.
    pub shared: Value,
}

/// Where the eight digits of the checksum stand among the header's bytes.
///
/// The metadata are JSON inside a JSON string, hence the backslashes.
fn checksum_offset(header: &[u8]) -> Option<usize> {
    let before = br#"{\"checksum\":\""#;
    let start = memchr::memmem::find(header, before)? + before.len();
    (header.len() >= start + NO_CHECKSUM.len()).then_some(start)
}
