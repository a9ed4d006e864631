//! A pass: a learner is led through examples, wherever they come from.
//!
//! - [`source`]: what can be learned from: a stream of files, examples in memory, the rows of a matrix;
//! - [`outcomes`]: what a pass gives back;
//! - [`learner`]: the learner as a whole: its spec, its slots, the names of its features.
//!
//! The feature spaces of learner and examples are compared here, once, and nowhere else.

mod learner;
mod outcomes;
mod source;

pub use learner::{Learner, learn_many};
pub use outcomes::Outcomes;
pub use source::Source;
