//! Learners: play each example, then absorb it.
//!
//! - [`model`]: the traits to learn, predict and inspect, as other modules use them;
//! - [`build`]: builds a learner from a spec;
//! - [`dispatch`]: a learner's kernels compiled for each set of vector instructions;
//! - [`rounds`]: the loop over examples; [`sound`]: checks for numeric overflow before learning;
//! - [`frame`]: what every learner has beside its slots;
//! - [`single`]: the learner with one rate; [`lanes`]: the learner with several lanes, mixed;
//!   [`classes`]: the learner of many classes, with one rate or several lanes;
//! - [`late`]: what a prediction keeps until its label comes;
//! - [`explain`]: the parts of one prediction;
//! - [`slim`]: a model of weights only, which predicts and does not learn;
//! - [`many`]: many learners on the same examples;
//! - [`merging`]: the state of one learner from that of many;
//! - [`penalty`], [`tally`], [`certificate`]: L2, the sums over the rounds, what they certify;
//! - [`table`]: the memory of the lanes.

mod build;
pub mod certificate;
mod classes;
mod dispatch;
pub mod explain;
mod frame;
mod lanes;
pub mod late;
pub mod many;
pub mod merging;
pub mod model;
mod penalty;
mod rounds;
mod single;
pub mod slim;
mod sound;
mod table;
pub mod tally;

pub use classes::Codes;
