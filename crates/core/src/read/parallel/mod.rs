//! Parses files into blocks of examples, on one core or on many. The stream hands the examples out in order.
//!
//! ```text
//! files ─tasks, numbered─▶ parser ─parsed blocks─▶ board ─in order─▶ stream ─▶ learner
//!                          parser ┘                  parser ┘  (the stream's own thread)
//! ```
//!
//! - [`files`]: the blocks of all files, one after another, numbered; [`tables`]: the headers of tables;
//! - [`parsed`]: parses a block into examples, on any thread;
//! - [`pipeline`]: the work queue of the threads, and the order of the results.

pub mod files;
pub mod parsed;
pub mod pipeline;
pub mod tables;
