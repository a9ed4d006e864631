//! What the first rows of a table show about its columns.
//!
//! ```text
//! bytes ─source─▶ blocks of records ─▶ cells ─▶ one sample for each column
//! ```
//!
//! Cost: the strict reader, and a map of the different cells of each column, for at most the first rows.

use serde::Serialize;

use super::cell::Cell;
use super::infer::{ColumnSample, MOST_VALUES};
use super::layout::{Layout, NamesFrom, check_distinct, names_in, numbered};
use super::missing::Spellings;
use crate::error::{InputError, Result};
use crate::loss::Labels;
use crate::read::format::csv::{Cells, Dialect, RecordFault, newlines, record_at};
use crate::read::source::{Block, Blocks, Cut, Source};
use crate::spec::{Kind, Schema};

/// The most values that a summary lists.
const LISTED: usize = 12;

/// What is to be sampled, and how it is written.
#[derive(Clone, Debug)]
pub struct SampleSpec {
    /// How the table is written.
    pub dialect: Dialect,
    /// The names of the columns, if the table has no header.
    pub names: Option<Vec<String>>,
    /// The spellings of a missing cell.
    pub missing: Vec<String>,
    /// The most rows to read.
    pub rows: usize,
    /// Whether bad rows are passed over.
    pub skips: bool,
}

/// What was seen of a table.
#[derive(Clone, Debug, Serialize)]
pub struct TableSummary {
    /// The number of rows.
    pub rows: u64,
    /// The columns, in the order of the file.
    pub columns: Vec<ColumnSummary>,
}

/// What was seen of a column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// What it seems to be.
    pub kind: Kind,
    /// The number of cells, with missing ones.
    pub cells: u64,
    /// The number of missing cells.
    pub missing: u64,
    /// The number of different values, without missing.
    pub different: usize,
    /// Whether there may be more different values than were counted.
    pub is_cut: bool,
    /// Whether all cells are numbers.
    pub is_number: bool,
    /// The smallest and the largest number among the cells.
    pub range: Option<(f64, f64)>,
    /// The most frequent values and their numbers.
    pub values: Vec<(String, u64)>,
}

/// The first rows of a table.
struct Sample<'a> {
    spec: &'a SampleSpec,
    file: String,
    missing: Spellings,
    cells: Cells,
    names: Vec<String>,
    layout: Option<Layout>,
    columns: Vec<ColumnSample>,
    rows: usize,
    /// The number of lines before the record being read.
    lines: u64,
}

/// Read the first rows of a table.
pub fn sample(source: Source, spec: &SampleSpec) -> Result<TableSummary> {
    spec.dialect.check()?;
    let mut sample = Sample {
        spec,
        file: source.origin.name.clone(),
        missing: Spellings::new(&spec.missing),
        cells: Cells::default(),
        names: Vec::new(),
        layout: None,
        columns: Vec::new(),
        rows: 0,
        lines: 0,
    };
    let mut blocks = Blocks::of_records(source.bytes, spec.dialect.delimiter);
    let mut block = Block::default();
    while sample.rows < spec.rows {
        match blocks.next_block(&mut block).map_err(|error| source.origin.broken(&error))? {
            Cut::Lines => sample.read(&block)?,
            Cut::TooLong => sample.lines += 1,
            Cut::End => break,
        }
    }
    Ok(sample.summary())
}

impl Sample<'_> {
    fn read(&mut self, block: &Block) -> Result<()> {
        let lines = block.lines();
        let bytes = &block.text()[..lines.end];
        self.lines += block.lines_before();
        let mut at = lines.start;
        while at < lines.end && self.rows < self.spec.rows {
            let (record, next) = record_at(bytes, at, self.spec.dialect.delimiter);
            let record = &bytes[record];
            let is_needed = self.spec.dialect.header || self.spec.names.is_none();
            let is_header = self.layout.is_none() && is_needed;
            match self.read_record(record) {
                Err(fault) if is_header || !self.spec.skips => {
                    return Err(self.located(fault, record).into());
                }
                Ok(()) | Err(_) => {}
            }
            self.lines += newlines(&bytes[at..next]);
            at = next;
        }
        Ok(())
    }

    fn read_record(&mut self, record: &[u8]) -> std::result::Result<(), RecordFault> {
        let Sample { spec, cells, .. } = self;
        if !cells.split(record, spec.dialect.delimiter)? {
            return Ok(());
        }
        if self.layout.is_none() {
            self.begin()?;
            if self.spec.dialect.header {
                return Ok(());
            }
        }
        if let Some(layout) = &self.layout
            && self.cells.len() != layout.width
        {
            let width = layout.width;
            let too_many = (self.cells.len() > width).then(|| self.cells.start(width));
            return Err(layout.wrong_width(self.cells.len(), too_many));
        }
        self.rows += 1;
        for (column, cell) in self.columns.iter_mut().zip(self.cells.iter()) {
            column.add(Cell::Text(cell), &self.missing);
        }
        Ok(())
    }

    /// Take the names of the columns from the first record.
    fn begin(&mut self) -> std::result::Result<(), RecordFault> {
        let (names, from) = match &self.spec.names {
            _ if self.spec.dialect.header => (names_in(&self.cells), NamesFrom::Header),
            Some(names) => (names.clone(), NamesFrom::Given),
            None => (numbered(self.cells.len()), NamesFrom::FirstRow),
        };
        check_distinct(&names, Some(&self.cells).filter(|_| from == NamesFrom::Header))?;
        let nothing = Schema::default();
        let delimiter = self.spec.dialect.delimiter;
        self.layout = Some(Layout::new(&names, from, delimiter, &nothing, Labels::Any)?);
        self.columns = vec![ColumnSample::default(); names.len()];
        self.names = names;
        Ok(())
    }

    fn located(&self, fault: RecordFault, record: &[u8]) -> InputError {
        let (line, fault) = fault.located(record);
        InputError {
            file: self.file.clone(),
            line: self.lines + line + 1,
            column: fault.column,
            found: fault.found,
            expected: fault.expected,
        }
    }

    fn summary(self) -> TableSummary {
        let columns = self.names.into_iter().zip(&self.columns);
        let columns = columns.map(|(name, column)| ColumnSummary::new(name, column)).collect();
        TableSummary { rows: self.rows as u64, columns }
    }
}

impl ColumnSummary {
    /// The summary of a sample.
    pub fn new(name: String, column: &ColumnSample) -> Self {
        let values = column.most_frequent().into_iter().take(LISTED);
        let listed = |(value, count): (&[u8], u64)| (String::from_utf8_lossy(value).into(), count);
        ColumnSummary {
            // A column without a name is mostly the number of the row.
            kind: if name.is_empty() { Kind::Ignore } else { column.kind() },
            name,
            cells: column.cells,
            missing: column.missing,
            different: column.values.len(),
            is_cut: column.values.len() >= MOST_VALUES,
            is_number: column.is_number(),
            range: column.range.filter(|_| column.is_number()),
            values: values.map(listed).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use super::*;
    use crate::read::source::OnInterrupt;

    const SPEC: SampleSpec = SampleSpec {
        dialect: Dialect { delimiter: b',', header: true },
        names: None,
        missing: Vec::new(),
        rows: 100,
        skips: false,
    };

    fn sampled(text: &str, spec: &SampleSpec) -> Result<TableSummary> {
        let never: OnInterrupt = Arc::new(|| Ok(()));
        let source = Source::new("t.csv", Box::new(Cursor::new(text.to_owned())), &never);
        sample(source?, spec)
    }

    #[test]
    fn columns_are_counted() {
        let table = "id,n,c,\na,1,\"x, y\",0\nb,,z,1\nb,2.5,z,2\n";
        let spec = SampleSpec { missing: vec![String::new()], ..SPEC };
        let found = sampled(table, &spec).unwrap();
        assert_eq!(found.rows, 3);
        let kinds: Vec<_> =
            found.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
        let (category, number) = (Kind::Category, Kind::Number);
        assert_eq!(kinds, [("id", category), ("n", number), ("c", category), ("", Kind::Ignore)]);
        assert_eq!((found.columns[1].missing, found.columns[1].range), (1, Some((1.0, 2.5))));
        assert_eq!(found.columns[2].values, [("z".to_owned(), 2), ("x, y".to_owned(), 1)]);
    }

    #[test]
    fn only_the_first_rows_are_read() {
        let found = sampled("a\n1\n2\nx\n", &SampleSpec { rows: 2, ..SPEC }).unwrap();
        assert_eq!((found.rows, found.columns[0].kind), (2, Kind::Number));
    }

    #[test]
    fn tables_without_header_have_given_or_numbered_names() {
        let dialect = Dialect { delimiter: b';', header: false };
        let spec = SampleSpec { dialect, ..SPEC };
        let names = |spec: &SampleSpec| {
            let columns = sampled("\n1;2\n", spec).unwrap().columns;
            columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&spec), ["c1", "c2"]);
        assert_eq!(
            names(&SampleSpec { names: Some(vec!["x".into(), "y".into()]), ..spec }),
            ["x", "y"]
        );
    }

    #[test]
    fn bad_rows_stop_or_are_passed_over() {
        let told = sampled("a,b\n1,2\n\n3\n", &SPEC).unwrap_err().to_string();
        assert!(told.starts_with("t.csv:4: expected 2 cells"), "{told}");
        let found = sampled("a,b\n1,2\n\n3\n", &SampleSpec { skips: true, ..SPEC }).unwrap();
        assert_eq!(found.rows, 1);
        let told = sampled("a,a\n1,2\n", &SampleSpec { skips: true, ..SPEC }).unwrap_err();
        assert!(told.to_string().starts_with("t.csv:1:3: expected a name for each column"));
    }
}
