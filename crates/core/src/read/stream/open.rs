//! How a stream is made: of files, readers or tables, with its settings.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::setup::Setup;
use super::{Stream, StreamSpec};
use crate::error::{Error, Result};
use crate::example::Scales;
use crate::loss::Labels;
use crate::read::format::LabelReader;
use crate::read::parallel::files::Waiting;
use crate::read::table::batch::{Batches, Pieces};

impl Stream {
    /// The examples of `files` in order; `-` is standard input.
    pub fn open<P: Into<PathBuf>>(files: Vec<P>, spec: StreamSpec) -> Stream {
        let named = |file: P| Waiting::Named(file.into());
        Stream::new(files.into_iter().map(named).collect(), spec)
    }

    /// The examples of `reader`, called `name` in messages.
    pub fn over(name: &str, reader: Box<dyn Read + Send>, spec: StreamSpec) -> Stream {
        let given = Waiting::Given(name.to_owned(), reader);
        Stream::new(VecDeque::from([given]), spec)
    }

    /// The examples of a table, called `name` in messages; the feature space has a schema.
    pub fn over_table(name: &str, batches: Box<dyn Batches>, spec: StreamSpec) -> Result<Stream> {
        Stream::over_table_by(name, batches, spec, Vec::new())
    }

    /// Like [`Stream::over_table`], with the values of some columns behind the tags.
    pub fn over_table_by(
        name: &str,
        batches: Box<dyn Batches>,
        spec: StreamSpec,
        by: Vec<String>,
    ) -> Result<Stream> {
        let (mut pieces, unused) = Pieces::new(name, batches, &spec.space)?;
        if let Some(schema) = &spec.space.schema {
            pieces.also_read(&by, schema);
        }
        let table = Waiting::Table(name.to_owned(), Box::new(pieces));
        let stream = Stream::new(VecDeque::from([table]), spec).by(by);
        Ok(Stream { ignored_columns: unused, ..stream })
    }

    /// The examples of files that are not opened yet, by their names or as readers.
    pub fn new(waiting: VecDeque<Waiting>, spec: StreamSpec) -> Stream {
        let labels = LabelReader::new(spec.space.labels);
        let setup = Setup::new(spec);
        let scales = setup.check().and_then(|()| Scales::new(&setup.spec.space));
        let (scales, failed) = match scales {
            Ok(scales) => (Some(scales), None),
            Err(error) => (None, Some(error)),
        };
        Stream {
            setup,
            negative_importance: 1.0,
            waiting,
            pipeline: None,
            current: None,
            labels,
            scales,
            scaled: 0,
            file: Arc::from(""),
            lines: 0,
            bytes_read: 0,
            skipped: 0,
            first_skipped: None,
            ignored_columns: Vec::new(),
            failed,
            is_interrupted: false,
        }
    }

    /// Set the function that is called when a signal interrupts a read.
    pub fn on_interrupt(
        self,
        on_interrupt: impl Fn() -> io::Result<()> + Send + Sync + 'static,
    ) -> Stream {
        Stream { setup: self.setup.interrupted_by(on_interrupt), ..self }
    }

    /// Let examples have no label: their label is then NaN.
    pub fn unlabelled(self, may_lack_labels: bool) -> Stream {
        let labels = if may_lack_labels { self.labels.or_none() } else { self.labels };
        Stream { labels, setup: Setup { may_lack_labels, ..self.setup }, ..self }
    }

    /// Set the number of threads, including the caller's; the default is 1.
    pub fn threads(self, threads: usize) -> Stream {
        let threads = threads.max(1);
        Stream { setup: Setup { threads, ..self.setup }, ..self }
    }

    /// Set the names of the columns of tables without a header; the default is c1, c2, ….
    pub fn column_names(self, names: Vec<String>) -> Stream {
        let column_names = Some(names);
        Stream { setup: Setup { column_names, ..self.setup }, ..self }
    }

    /// Write the values of these columns or namespaces behind the tag of every example; see `example/fields.rs`.
    pub fn by(self, by: Vec<String>) -> Stream {
        Stream { setup: Setup { by, ..self.setup }, ..self }
    }

    /// Let every negative that is read from now on stand for 1/kept negatives, since the others were left out: its
    /// importance is multiplied by that.
    pub fn negatives_kept(&mut self, kept: f64) -> Result<()> {
        if !(kept > 0.0 && kept <= 1.0) {
            return Err(Error::Spec(format!(
                "negatives_kept must be a number above 0 and at most 1, found {kept}"
            )));
        }
        if !matches!(self.setup.spec.space.labels, Labels::Binary | Labels::Any) {
            return Err(Error::Spec(format!(
                "negatives_kept is for the losses of two classes, found {} labels; leave it out",
                self.setup.spec.space.labels.name()
            )));
        }
        self.negative_importance = 1.0 / kept;
        Ok(())
    }
}
