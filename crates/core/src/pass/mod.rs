//! A pass: a learner learns from examples of any source, or predicts them.
//!
//! - [`source`]: the sources of examples: a stream of files, examples in memory, the rows of a matrix;
//! - [`outcomes`]: the results of a pass;
//! - [`learner`]: the learner with its spec, its slots and the names of its features;
//! - [`shared`]: a learner for many threads; [`access`]: what a pass needs of a learner that may be shared;
//! - [`learning`], [`predicting`]: the passes; [`one`]: one example at a time;
//!   [`late`]: predictions whose labels come late.
//!
//! The feature spaces of learner and examples are compared here, once, and nowhere else.

mod access;
mod late;
mod learner;
mod learning;
mod one;
mod outcomes;
mod predicting;
#[cfg(test)]
mod save_faults;
mod shared;
mod source;

pub use learner::Learner;
pub use one::One;
pub use outcomes::{Explained, LabelSums, Outcomes};
pub use shared::{SharedLearner, learn_many};
pub use source::Source;
