//! The first record of a table, which says where its columns are.
//!
//! It is read by the thread that cuts the file into blocks, before any row. The layout then goes with every block, so
//! that any thread can read its rows.

use std::sync::Arc;

use super::files::Piece;
use crate::error::InputError;
use crate::loss::Labels;
use crate::read::format::csv::{Cells, Dialect, RecordFault, record_at};
use crate::read::source::{Block, LONGEST_LINE};
use crate::read::table::layout::{Layout, NamesFrom, check_distinct, names_in, numbered};
use crate::spec::Schema;

/// How all tables of a stream are written, and what they are read for.
#[derive(Clone, Debug)]
pub struct Tables {
    /// How the tables are written.
    pub dialect: Dialect,
    /// The names of the columns, for tables without a header.
    pub names: Option<Vec<String>>,
    /// What the columns are.
    pub schema: Arc<Schema>,
    /// The kind of the labels.
    pub labels: Labels,
}

impl Tables {
    /// The layout of a table that begins with this block, after `lines` lines without a record. The header is taken out
    /// of the block. `None` if the block has only empty lines.
    pub fn begin(
        &self,
        block: &mut Block,
        piece: &Piece,
        lines: u64,
        file: &str,
    ) -> Result<Option<Arc<Layout>>, InputError> {
        if matches!(piece, Piece::TooLong) {
            return Err(located(file, lines, &[], too_long()));
        }
        let range = block.lines();
        let bytes = &block.text()[..range.end];
        let (mut at, mut empty) = (range.start, 0);
        while at < range.end {
            let (record, next) = record_at(bytes, at, self.dialect.delimiter);
            let record = &bytes[record];
            match self.layout(record) {
                Ok(Some(layout)) => {
                    block.pass_lines(if self.dialect.header { next } else { at });
                    return Ok(Some(Arc::new(layout)));
                }
                Ok(None) => empty += 1,
                Err(fault) => return Err(located(file, lines + empty, record, fault)),
            }
            at = next;
        }
        block.pass_lines(range.end);
        Ok(None)
    }

    /// The layout by the first record; `None` if the record is an empty line.
    fn layout(&self, record: &[u8]) -> Result<Option<Layout>, RecordFault> {
        if let (false, Some(names)) = (self.dialect.header, &self.names) {
            // The first record is a row like all others, and may be bad.
            check_distinct(names, None)?;
            return self.layout_of(names, NamesFrom::Given).map(Some);
        }
        let mut cells = Cells::default();
        if !cells.split(record, self.dialect.delimiter)? {
            return Ok(None);
        }
        if !self.dialect.header {
            return self.layout_of(&numbered(cells.len()), NamesFrom::FirstRow).map(Some);
        }
        let names = names_in(&cells);
        check_distinct(&names, Some(&cells))?;
        self.layout_of(&names, NamesFrom::Header).map(Some)
    }

    fn layout_of(&self, names: &[String], from: NamesFrom) -> Result<Layout, RecordFault> {
        Layout::new(names, from, self.dialect.delimiter, &self.schema, self.labels)
    }
}

fn located(file: &str, lines: u64, record: &[u8], fault: RecordFault) -> InputError {
    let (line, fault) = fault.located(record);
    InputError {
        file: file.to_owned(),
        line: lines + line + 1,
        column: fault.column,
        found: fault.found,
        expected: fault.expected,
    }
}

/// The fault of a record that is too long.
pub fn too_long() -> RecordFault {
    RecordFault {
        at: None,
        expected: format!(
            "a row of at most {} MiB (is a quote not closed, or not at the start of its cell?)",
            LONGEST_LINE >> 20
        ),
        found: "a longer one".to_owned(),
    }
}
