//! The strict reader of the records of a table: cells, checked one by one, then the example.
//!
//! It has all the messages, and `read/fast/csv.rs` must equal it bit for bit.
//!
//! Cost: every cell is copied once. Records that the fast reader can read never come here.

use super::cell::Cell;
use super::encoder::Encoder;
use super::faults::CellFault;
use super::layout::Layout;
use crate::example::{Chunk, Names};
use crate::read::format::Fault;
use crate::read::format::csv::{Cells, RecordFault};

/// Reads records into chunks.
#[derive(Clone, Debug)]
pub struct RecordReader {
    /// Turns cells into features.
    pub encoder: Encoder,
    cells: Cells,
}

impl RecordReader {
    /// A reader of rows for an encoder.
    pub fn new(encoder: Encoder) -> Self {
        RecordReader { encoder, cells: Cells::default() }
    }

    /// Add the example of a record, without its newline, to `chunk`; false if the record is an empty line. A fault comes
    /// with its line, counted from 0 at the record's first. A bad record does not change the chunk.
    pub fn read(
        &mut self,
        record: &[u8],
        layout: &Layout,
        chunk: &mut Chunk,
        names: Option<&mut Names>,
    ) -> Result<bool, (u64, Fault)> {
        self.parse(record, layout, chunk, names).map_err(|fault| fault.located(record))
    }

    fn parse(
        &mut self,
        record: &[u8],
        layout: &Layout,
        chunk: &mut Chunk,
        names: Option<&mut Names>,
    ) -> Result<bool, RecordFault> {
        let RecordReader { encoder, cells } = self;
        if !cells.split(record, layout.delimiter)? {
            return Ok(false);
        }
        if cells.len() != layout.width {
            let too_many = (cells.len() > layout.width).then(|| cells.start(layout.width));
            return Err(layout.wrong_width(cells.len(), too_many));
        }
        let cell = |k: usize| match layout.places[k] {
            Some(place) => Cell::Text(cells.get(place as usize)),
            None => Cell::Missing,
        };
        let outcome = match names {
            None => encoder.encode(cell, chunk),
            Some(names) => encoder.encode_named(cell, chunk, names),
        };
        outcome.map(|()| true).map_err(|fault| placed(fault, layout, cells))
    }
}

fn placed(fault: CellFault, layout: &Layout, cells: &Cells) -> RecordFault {
    let CellFault { column, expected, found } = fault;
    let at = layout.places[column].map(|place| cells.start(place as usize));
    RecordFault { at, expected, found }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::loss::Labels;
    use crate::read::table::layout::NamesFrom;
    use crate::spec::{Classes, Column, FeatureSpace, Kind, Schema};

    fn reader() -> (RecordReader, Layout) {
        let column = |(name, kind): (&str, Kind)| Column { name: name.into(), kind, words: 1 };
        let columns = [("age", Kind::Number), ("city", Kind::Category), ("y", Kind::Label)];
        let schema = Arc::new(Schema {
            columns: columns.map(column).into(),
            missing: vec![String::new()],
            classes: Some(Classes { negative: Some("no".into()), positive: "yes".into() }),
            names: Vec::new(),
            crosses: Vec::new(),
        });
        let space = FeatureSpace::text(20, Labels::Binary);
        let names = ["y", "age", "city"].map(str::to_owned);
        let layout = Layout::new(&names, NamesFrom::Header, b',', &schema, Labels::Binary);
        (RecordReader::new(Encoder::new(&space, &schema).unwrap()), layout.unwrap())
    }

    fn told(record: &str) -> String {
        let (mut reader, layout) = reader();
        let mut chunk = Chunk::new(None);
        let (line, fault) = reader.read(record.as_bytes(), &layout, &mut chunk, None).unwrap_err();
        assert!(chunk.is_empty());
        format!("{line}:{}: expected {}, found {}", fault.column, fault.expected, fault.found)
    }

    #[test]
    fn a_record_is_an_example_in_the_order_of_the_schema() {
        let (mut reader, layout) = reader();
        let (mut chunk, mut names) = (Chunk::new(None), Names::default());
        let mut read = |record: &[u8]| reader.read(record, &layout, &mut chunk, Some(&mut names));
        assert_eq!(read(b"yes,\"37\",\"New \"\"York\"\"\"\r"), Ok(true));
        assert_eq!(read(b""), Ok(false));
        let example = chunk.example(0);
        assert_eq!((example.label, example.values), (1.0, &[37.0, 1.0][..]));
        let name = |slot: &u32| names.get(*slot).unwrap().to_vec();
        let found: Vec<_> = example.slots.iter().map(name).collect();
        assert_eq!(found, [b"age".to_vec(), b"city=New \"York\"".to_vec()]);
    }

    #[test]
    fn faults_are_told_where_they_are() {
        let cure = "(write a cell with ',' in it in quotes)";
        for (record, expected) in [
            ("yes,37", format!("0:0: expected 3 cells, one for each column of the header {cure}, found 2")),
            (
                "yes,37,x,y",
                format!("0:10: expected 3 cells, one for each column of the header {cure}, found 4"),
            ),
            ("maybe,37,x", "0:1: expected the label 'no' or 'yes' in column 'y', found 'maybe'".into()),
            (
                "\"no\n\",\"\n old\",x",
                "1:3: expected a number in column 'age'; train with --category age if its cells are not all \
                 numbers, found '\\x0a old'"
                    .into(),
            ),
        ] {
            assert_eq!(told(record), expected);
        }
    }
}
