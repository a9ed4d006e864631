//! From the rows of a table to examples.
//!
//! ```text
//! CSV text ─────▶ cells ─encoder─▶ slots and values ─▶ chunk
//! Arrow arrays ─▶   │                   ▲
//!                   └────infer────▶ schema
//! ```
//!
//! - [`array`]: a column that others hold in memory; [`batch`]: rows of such columns, from any library;
//! - [`cell`]: one cell, from text or from a typed array;
//! - [`encoder`]: the features of a row, by the schema of the table;
//! - [`words`]: the words of text; [`time`]: dates and times of day;
//! - [`infer`]: what the columns seem to be, from the first rows; [`batch_sample`]: from those of batches.
//!
//! A row gives the same features whatever it was read from: numbers are float64 that are rounded to float32, and
//! features come in the order of the schema.

pub mod array;
pub mod batch;
pub mod batch_sample;
pub mod cell;
pub mod encoder;
pub mod infer;
pub mod time;
pub mod words;
