//! The core of lessregret: text in, slots moved, tallies out; no Python.

pub mod arrow;
mod audience;
pub mod comparator;
#[cfg(target_arch = "x86_64")]
mod eight;
mod elementary;
pub mod error;
pub mod example;
pub mod faces;
pub mod gather;
pub mod hash;
mod hash_eight;
pub mod importance;
pub mod lane_tallies;
pub mod lanes;
pub mod learner;
mod lesson;
pub mod loss;
mod memory;
pub mod mixture;
pub mod model;
pub mod names;
pub mod pages;
pub mod penalty;
pub mod places;
pub mod reading;
pub mod rule;
pub mod scale;
mod sheet;
mod shelf;
pub mod snapshot;
pub mod spec;
pub mod stream;
mod sums;
pub mod tally;
pub mod text;
pub mod together;
pub mod vectors;
pub mod whole_file;

pub use error::{Error, InputError, Result};
pub use example::{Chunk, Example, Wishes};
