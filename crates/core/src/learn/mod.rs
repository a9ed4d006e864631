//! Learners: play an example, then absorb it.
//!
//! - [`model`]: what every learner is to other rooms;
//! - [`build`]: a spec turned into a learner;
//! - [`dispatch`]: a learner's loop compiled for each set of vector instructions;
//! - [`single`]: the learner with one rate; [`lanes`]: the learner with eight rates, mixed;
//! - [`many`]: many learners on the same examples;
//! - [`penalty`], [`tally`]: L2, and the sums of the rounds;
//! - [`table`]: the memory of slots.

mod build;
mod dispatch;
mod fixed;
mod lanes;
pub mod many;
pub mod model;
mod penalty;
mod single;
mod table;
pub mod tally;
