//! A pass: a learner learns from examples of any source, or predicts them.
//!
//! - [`source`]: the sources of examples: a stream of files, examples in memory, the rows of a matrix;
//! - [`outcomes`]: the results of a pass;
//! - [`learner`]: the learner with its spec, its slots and the names of its features.
//!
//! The feature spaces of learner and examples are compared here, once, and nowhere else.

mod learner;
mod outcomes;
#[cfg(test)]
mod save_faults;
mod source;

pub use learner::{Learner, learn_many};
pub use outcomes::{Explained, LabelSums, Outcomes};
pub use source::Source;
