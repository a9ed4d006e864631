//! From bytes to examples.
//!
//! ```text
//! files ─source─▶ blocks of lines ─format | fast─▶ chunks of examples ─stream─▶ learner
//! rows of arrays ──────────────────────────────rows──▶
//! ```
//!
//! - [`source`]: opens files and pipes, decompresses gzip and zstd, cuts bytes into blocks of whole lines;
//! - [`mod@format`]: the strict grammars, one per file; they are the oracle that the fast readers are tested
//!   against;
//! - [`fast`]: two-stage readers of the same grammars, for plain lines;
//! - [`arrow`]: Arrow files of examples, for later passes;
//! - [`json`]: the bodies of a service, if they are plain;
//! - [`parallel`]: blocks parsed on all cores and handed over in order;
//! - [`rows`]: the rows of a sparse matrix, read in place;
//! - [`table`]: the rows of tables, by their schema;
//! - [`stream`]: examples from files, one after another; [`memory`]: examples kept for more passes.

pub mod arrow;
pub mod fast;
pub mod format;
pub mod json;
pub mod memory;
pub mod parallel;
pub mod rows;
pub mod source;
pub mod stream;
pub mod table;
