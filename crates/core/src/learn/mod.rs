//! Learners: play an example, then absorb it.
//!
//! - [`model`]: what learning, predicting and inspecting a model are to other rooms;
//! - [`build`]: a spec turned into a learner;
//! - [`dispatch`]: a learner's loop compiled for each set of vector instructions;
//! - [`rounds`]: the loop over examples; [`sound`]: which rounds may be learned;
//! - [`frame`]: what every learner has beside its slots;
//! - [`single`]: the learner with one rate; [`lanes`]: the learner with eight rates, mixed;
//! - [`slim`]: weights that predict and do not learn;
//! - [`many`]: many learners on the same examples;
//! - [`penalty`], [`tally`]: L2, and the sums of the rounds;
//! - [`table`]: the memory of slots.

mod build;
mod dispatch;
mod frame;
mod lanes;
pub mod many;
pub mod model;
mod penalty;
mod rounds;
mod single;
pub mod slim;
mod sound;
mod table;
pub mod tally;
