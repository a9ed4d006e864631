//! What a stream is told before it reads, and how its readers are made of that.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::{Pipeline, StreamSpec};
use crate::error::{Error, Result};
use crate::read::arrow::batch::BatchReader;
use crate::read::arrow::schema::namespaces_checksum;
use crate::read::fast::BlockReader;
use crate::read::fast::csv::TableReader;
use crate::read::format::{Format, Reader};
use crate::read::parallel::files::{Files, Waiting};
use crate::read::parallel::parsed::Parser;
use crate::read::parallel::tables::Tables;
use crate::read::source::{OnInterrupt, Stop};
use crate::read::table::batch::PieceReader;
use crate::read::table::encoder::Encoder;
use crate::simd::InstructionSet;
use crate::spec::Schema;

use super::BadLines;

/// The settings of a stream and what may end it.
pub(super) struct Setup {
    pub spec: StreamSpec,
    /// The names of the columns of tables without a header.
    pub column_names: Option<Vec<String>>,
    /// The columns or namespaces whose values are written behind the tags.
    pub by: Vec<String>,
    pub may_lack_labels: bool,
    pub threads: usize,
    pub stop: Stop,
    pub on_interrupt: OnInterrupt,
}

impl Setup {
    /// One thread, and nothing that interrupts.
    pub fn new(spec: StreamSpec) -> Self {
        let stop = Stop::default();
        let asked = stop.clone();
        let (column_names, by) = (None, Vec::new());
        let on_interrupt: OnInterrupt = Arc::new(move || asked.check());
        Setup { spec, column_names, by, may_lack_labels: false, threads: 1, stop, on_interrupt }
    }

    /// Call a function when a signal interrupts a read, and then ask whether to stop.
    pub fn interrupted_by(self, ask: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        let stop = self.stop.clone();
        let on_interrupt: OnInterrupt = Arc::new(move || ask().and_then(|()| stop.check()));
        Setup { on_interrupt, ..self }
    }

    /// Check the feature space and the tables.
    pub fn check(&self) -> Result<()> {
        let space = &self.spec.space;
        space.check_text()?;
        space.table.check()?;
        space.bits()?;
        self.check_tables()
    }

    /// Check that tables, if the files are tables, can be read.
    fn check_tables(&self) -> Result<()> {
        let Format::Csv(dialect) = self.spec.format else { return Ok(()) };
        dialect.check()?;
        match self.spec.space.schema {
            Some(_) => self.spec.space.check(),
            None => Err(Error::Spec(
                "a table needs a feature space with a schema, which says what its columns are; infer_schema makes one \
                 from the first rows"
                    .to_owned(),
            )),
        }
    }

    /// Start to read the files.
    pub fn start(&self, waiting: VecDeque<Waiting>) -> Result<Pipeline> {
        let (stop, on_interrupt) = (self.stop.clone(), Arc::clone(&self.on_interrupt));
        let (tables, asked) = (self.tables(), Arc::clone(&on_interrupt));
        let parser = self.parser(tables.as_ref())?;
        let files = Files::new(waiting, tables, self.threads > 1, stop.clone(), asked);
        Ok(Pipeline::new(files, parser, self.threads, stop, on_interrupt))
    }

    /// The readers of everything that files can hold.
    fn parser(&self, tables: Option<&Tables>) -> Result<Parser> {
        let path = InstructionSet::chosen().map_err(Error::Spec)?;
        let (space, stops) = (&self.spec.space, self.spec.bad_lines == BadLines::Stop);
        let bits = space.bits()?;
        let reader = Reader::new(self.spec.format, space.labels, bits, self.spec.names)
            .namespaces(space.namespaces.clone())
            .unlabelled(self.may_lack_labels)
            .by(&self.by);
        let encoder = tables.map(|tables| self.encoder(&tables.schema)).transpose()?;
        let schema = space.schema.as_ref().filter(|_| space.has_columns());
        let of_rows = schema.map(|schema| self.encoder(schema)).transpose()?;
        let namespaces = namespaces_checksum(space.namespaces.as_deref());
        Ok(Parser {
            lines: BlockReader::new(reader, path, stops),
            batches: BatchReader { bits, namespaces, stops },
            tables: encoder.map(|encoder| TableReader::new(encoder, path, stops)),
            rows: of_rows.map(|encoder| PieceReader::new(encoder, stops)),
        })
    }

    fn encoder(&self, schema: &Arc<Schema>) -> Result<Encoder> {
        Encoder::new(&self.spec.space, schema)?.unlabelled(self.may_lack_labels).by(&self.by)
    }

    /// What the tables are, if the files are tables.
    fn tables(&self) -> Option<Tables> {
        let (Format::Csv(dialect), Some(schema)) = (self.spec.format, &self.spec.space.schema)
        else {
            return None;
        };
        let (names, schema) = (self.column_names.clone(), Arc::clone(schema));
        Some(Tables { dialect, names, schema, labels: self.spec.space.labels })
    }
}
