//! From files to parsed blocks, on one core or on many; the stream hands their examples out.
//!
//! ```text
//! files ─tasks, numbered─▶ parser ─parsed blocks─▶ board ─in order─▶ stream ─▶ learner
//!                          parser ┘                  parser ┘  (the stream's own thread)
//! ```
//!
//! - [`files`]: the blocks of all files, one after another, with their numbers;
//! - [`parsed`]: a block read into examples, by any thread;
//! - [`pipeline`]: who reads what, and in which order it comes out.

pub mod files;
pub mod parsed;
pub mod pipeline;
