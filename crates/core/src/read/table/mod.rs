//! From the rows of a table to examples.
//!
//! ```text
//! CSV text ─────▶ cells ─encoder─▶ slots and values ─▶ chunk
//! Arrow arrays ─▶   │                   ▲
//!                   └────infer────▶ schema
//! ```
//!
//! - [`mod@array`]: a column that others hold in memory; [`batch`]: rows of such columns, from any library;
//! - [`layout`]: where a file has the columns of the schema, from its header;
//! - [`reader`]: the strict reader of a record of CSV;
//! - [`cell`]: one cell, from text or from a typed array; [`missing`]: how cells that have no content are spelled;
//! - [`encoder`]: the features of a row, by the schema of the table; [`prepared`]: their names, hashed;
//!   [`classes`]: labels; [`faults`]: cells that do not fit;
//! - [`words`]: the words of text; [`time`]: dates and times of day;
//! - [`infer`]: what the columns seem to be, from the first rows; [`sample`]: reads these rows of a file,
//!   [`batch_sample`] those of batches.
//!
//! A row gives the same features whatever it was read from: numbers are float64 that are rounded to float32, and
//! features come in the order of the schema.

pub mod array;
pub mod batch;
pub mod batch_sample;
pub mod cell;
pub mod classes;
pub mod encoder;
pub mod faults;
pub mod infer;
pub mod layout;
pub mod missing;
pub mod prepared;
pub mod reader;
pub mod sample;
pub mod time;
pub mod words;
