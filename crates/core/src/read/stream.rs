//! A stream of examples from files, one file after another.
//!
//! ```text
//! stream = { file }
//! ```
//!
//! [`Stream::fill`] hands out whole chunks. The examples before a bad line come first; the next call and
//! every call after it return the error. The number of threads affects only the time.
//!
//! Cost: blocks of half a megabyte, a few for every thread, see [`crate::read::parallel::pipeline`]; more
//! only for lines longer than that. A chunk is handed over without copying if it fits.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, InputError, Result};
use crate::example::{Arrays, Chunk, Names, Requirements, Scales};
use crate::loss::Labels;
use crate::read::arrow::batch::BatchReader;
use crate::read::arrow::schema::namespaces_checksum;
use crate::read::fast::BlockReader;
use crate::read::fast::csv::TableReader;
use crate::read::format::{Format, LabelReader, Reader};
use crate::read::parallel::files::{Files, Piece, Waiting};
use crate::read::parallel::parsed::{Parsed, Parser};
use crate::read::parallel::pipeline::{Assistant, Pipeline};
use crate::read::parallel::tables::Tables;
use crate::read::source::{OnInterrupt, Stop};
use crate::read::table::batch::{Batches, PieceReader, Pieces};
use crate::read::table::encoder::Encoder;
use crate::simd::InstructionSet;
use crate::spec::{FeatureSpace, Scale, Schema};

/// The number of features of a full chunk: about half a megabyte of slots and values.
pub(crate) const FULL: usize = 1 << 16;
/// The number of bytes of tags with which a chunk is full. Tags can be as long as lines.
const FULL_OF_TAGS: usize = 1 << 20;

/// What to do with a line that cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLines {
    /// Stop with an error.
    Stop,
    /// Count the line and continue.
    Skip,
}

/// The settings of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// The format of all files.
    pub format: Format,
    /// The feature space of the examples.
    pub space: FeatureSpace,
    /// What to do with a bad line.
    pub bad_lines: BadLines,
    /// Whether to record the names of the features.
    pub names: bool,
}

/// Examples from files.
pub struct Stream {
    spec: StreamSpec,
    /// The names of the columns of tables without a header.
    column_names: Option<Vec<String>>,
    /// The columns or namespaces whose values are written behind the tags.
    by: Vec<String>,
    /// By how much the importance of negatives is multiplied.
    negative_importance: f64,
    threads: usize,
    stop: Stop,
    on_interrupt: OnInterrupt,
    /// The files that are not opened yet; taken by the first call.
    waiting: VecDeque<Waiting>,
    pipeline: Option<Pipeline>,
    current: Option<Current>,
    labels: LabelReader,
    may_lack_labels: bool,
    /// How values are scaled; none if the feature space is invalid.
    scales: Option<Scales>,
    /// The number of examples that were scaled.
    scaled: u64,
    file: Arc<str>,
    lines: u64,
    bytes_read: u64,
    skipped: u64,
    first_skipped: Option<InputError>,
    ignored_columns: Vec<String>,
    failed: Option<Error>,
    is_interrupted: bool,
}

/// The block whose examples are being handed out.
struct Current {
    parsed: Parsed,
    /// The number of its examples already handed out, and of its bad lines already counted.
    given: usize,
    counted: usize,
    /// The number of lines of the file before it, and the spelling of labels in them.
    lines_before: u64,
    labels_before: LabelReader,
}

impl Stream {
    /// The examples of `files` in order; `-` is standard input.
    pub fn open<P: Into<PathBuf>>(files: Vec<P>, spec: StreamSpec) -> Stream {
        let named = |file: P| Waiting::Named(file.into());
        Stream::new(files.into_iter().map(named).collect(), spec)
    }

    /// Set the function that is called when a signal interrupts a read.
    pub fn on_interrupt(
        self,
        on_interrupt: impl Fn() -> io::Result<()> + Send + Sync + 'static,
    ) -> Stream {
        let stop = self.stop.clone();
        let or_stop: OnInterrupt = Arc::new(move || on_interrupt().and_then(|()| stop.check()));
        Stream { on_interrupt: or_stop, ..self }
    }

    /// Let examples have no label: their label is then NaN.
    pub fn unlabelled(self, may_lack_labels: bool) -> Stream {
        let labels = if may_lack_labels { self.labels.or_none() } else { self.labels };
        Stream { labels, may_lack_labels, ..self }
    }

    /// Whether examples may have no label although the labels are of a kind.
    pub fn may_lack_labels(&self) -> bool {
        self.may_lack_labels
    }

    /// The request to stop reading. Once it is set the stream has no more examples, as if the files had ended.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Set the number of threads, including the caller's; the default is 1.
    pub fn threads(self, threads: usize) -> Stream {
        Stream { threads: threads.max(1), ..self }
    }

    /// Set the names of the columns of tables without a header; the default is c1, c2, ….
    pub fn column_names(self, names: Vec<String>) -> Stream {
        Stream { column_names: Some(names), ..self }
    }

    /// Write the values of these columns or namespaces behind the tag of every example; see `example/fields.rs`.
    pub fn by(self, by: Vec<String>) -> Stream {
        Stream { by, ..self }
    }

    /// Let every negative that is read from now on stand for 1/kept negatives, since the others were left out: its
    /// importance is multiplied by that.
    pub fn negatives_kept(&mut self, kept: f64) -> Result<()> {
        if !(kept > 0.0 && kept <= 1.0) {
            return Err(Error::Spec(format!(
                "negatives_kept must be a number above 0 and at most 1, found {kept}"
            )));
        }
        if !matches!(self.spec.space.labels, Labels::Binary | Labels::Any) {
            return Err(Error::Spec(format!(
                "negatives_kept is for the losses of two classes, found {} labels; leave it out",
                self.spec.space.labels.name()
            )));
        }
        self.negative_importance = 1.0 / kept;
        Ok(())
    }

    /// The columns of the tables read so far that the schema does not have.
    pub fn ignored_columns(&self) -> &[String] {
        &self.ignored_columns
    }

    /// Whether more threads than the caller's may be used.
    pub fn has_threads(&self) -> bool {
        self.threads > 1
    }

    /// Whether more examples of a file are there. Says no for a pipe, whose next bytes may take their time. Depends on
    /// the bytes only, not on the threads.
    pub fn goes_on(&self) -> bool {
        let goes_on = |current: &Current| current.has_more() && !current.parsed.task.is_of_pipe;
        self.failed.is_none() && !self.stop.is_set() && self.current.as_ref().is_some_and(goes_on)
    }

    /// Whether the block that the next examples end in is parsed.
    pub fn is_ready(&self) -> bool {
        self.pipeline.as_ref().is_some_and(Pipeline::is_next_parsed)
    }

    /// Parse a block ahead of its turn, on this thread. Says no, at once, if none may be read now.
    pub fn parse_ahead(&mut self) -> bool {
        let labels = self.labels;
        self.pipeline.as_mut().is_some_and(|pipeline| pipeline.parse_ahead(labels))
    }

    /// A parser for another thread that has other work, too.
    pub fn assistant(&self) -> Option<Assistant> {
        self.pipeline.as_ref()?.assistant()
    }

    /// Whether reading was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Let the next call and every call after it return this error.
    pub fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
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
        Ok(Stream { ignored_columns: unused, by, ..Stream::new(VecDeque::from([table]), spec) })
    }

    /// The examples of files that are not opened yet, by their names or as readers.
    pub fn new(waiting: VecDeque<Waiting>, spec: StreamSpec) -> Stream {
        let FeatureSpace { table, labels, .. } = spec.space;
        let bits = spec.space.check_text().and_then(|()| table.check());
        let bits = bits.and_then(|()| spec.space.bits());
        let scales = bits.and_then(|_| check_tables(&spec)).and_then(|()| Scales::new(&spec.space));
        let (scales, failed) = match scales {
            Ok(scales) => (Some(scales), None),
            Err(error) => (None, Some(error)),
        };
        let stop = Stop::default();
        Stream {
            spec,
            column_names: None,
            by: Vec::new(),
            negative_importance: 1.0,
            threads: 1,
            on_interrupt: {
                let stop = stop.clone();
                Arc::new(move || stop.check())
            },
            stop,
            may_lack_labels: false,
            waiting,
            pipeline: None,
            current: None,
            labels: LabelReader::new(labels),
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

    /// Replace the chunk's examples by the next ones, at most `limit` and at least one. Returns their number;
    /// 0 after the last. A chunk is also full with about 65,536 features or a megabyte of tags, and may be
    /// handed out when it is half full.
    pub fn fill(&mut self, chunk: &mut Chunk, limit: usize) -> Result<usize> {
        chunk.clear();
        if self.stop.is_set() {
            return Ok(0);
        }
        if self.failed.is_none() {
            // Zeros that are scaled here are values, whatever the caller requires.
            let required = chunk.requirements().zeros;
            chunk.require_zeros(required || self.spec.space.scale == Scale::Standard);
            let failed = self.read_up_to(chunk, limit.max(1)).err();
            // A stop ends a wait by an error of its own.
            self.failed = failed.filter(|_| !self.stop.is_set());
            chunk.require_zeros(required);
            if self.negative_importance != 1.0 {
                chunk.weigh_negatives(self.negative_importance);
            }
            if let Err(error) = self.scale(chunk) {
                // Some of the examples are divided, and the stream has passed all: none is handed out.
                chunk.clear();
                self.failed = Some(error);
            }
        }
        match &self.failed {
            Some(error) if chunk.is_empty() => Err(error.clone()),
            _ => Ok(chunk.len()),
        }
    }

    fn scale(&mut self, chunk: &mut Chunk) -> Result<()> {
        match &mut self.scales {
            None | Some(Scales::None) => Ok(()),
            Some(scales) => {
                let before = self.scaled;
                self.scaled += chunk.len() as u64;
                scales.scale_chunk(chunk, before)
            }
        }
    }

    /// The next examples as arrays of their own, at most `limit`, with values of 0 if asked for.
    pub fn read_arrays(&mut self, limit: usize, zeros: bool) -> Result<Arrays> {
        let mut chunk = Chunk::for_requirements(Requirements { zeros, ..Requirements::default() });
        self.fill(&mut chunk, limit)?;
        Ok(chunk.to_arrays())
    }

    /// Return an error if a signal arrived. Callers that read a long stream check regularly.
    pub fn check_interrupt(&self) -> Result<()> {
        match (self.on_interrupt)() {
            Err(error) if !self.stop.is_set() => Err(interrupted(&self.file, &error).into()),
            _ => Ok(()),
        }
    }

    /// The feature space that the examples are read for.
    pub fn space(&self) -> &FeatureSpace {
        &self.spec.space
    }

    /// The number of lines skipped.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The error of the first skipped line.
    pub fn first_skipped(&self) -> Option<&InputError> {
        self.first_skipped.as_ref()
    }

    /// The number of bytes read from the files, in their compressed form.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The names met so far, if they are recorded.
    pub fn names(&self) -> Option<&Names> {
        self.pipeline.as_ref()?.parser.lines.reader.names()
    }

    fn read_up_to(&mut self, chunk: &mut Chunk, limit: usize) -> Result<()> {
        while chunk.len() < limit && !is_full(chunk) {
            if let Some(current) = &mut self.current
                && current.has_more()
            {
                if current.is_whole() && chunk.features() >= FULL / 2 {
                    // Start the next chunk with this block, to avoid copying it.
                    break;
                }
                if !current.parsed.chunk.requirements().are_alike(chunk.requirements())
                    && let Some(pipeline) = &mut self.pipeline
                {
                    let labels = current.labels_before;
                    pipeline.parser.parse_again(&mut current.parsed, chunk.requirements(), labels);
                }
                current.give(chunk, limit);
                self.count_bad_lines(false)?;
            } else {
                let holds_back = !chunk.is_empty() && self.may_wait();
                if holds_back || !self.next_block(chunk.requirements())? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the next examples are of a pipe and not there yet. Those before them are not held back for them.
    fn may_wait(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.parsed.task.is_of_pipe)
            && !self.is_ready()
    }

    /// Count the bad lines before the examples handed out, or all bad lines of the block.
    fn count_bad_lines(&mut self, all: bool) -> Result<()> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        let bad = &current.parsed.report.bad[current.counted..];
        let passed =
            if all { bad.len() } else { bad.partition_point(|&at| (at as usize) < current.given) };
        if passed == 0 {
            return Ok(());
        }
        if self.spec.bad_lines == BadLines::Stop || self.first_skipped.is_none() {
            let error = current.first_bad_line();
            if self.spec.bad_lines == BadLines::Stop {
                return Err(error.into());
            }
            self.first_skipped = Some(error);
        }
        current.counted += passed;
        self.skipped += passed as u64;
        Ok(())
    }

    /// Move to the next block; false after the last.
    fn next_block(&mut self, requirements: &Requirements) -> Result<bool> {
        self.count_bad_lines(true)?;
        let labels = self.labels;
        let pipeline = match &mut self.pipeline {
            Some(pipeline) => pipeline,
            None => {
                let pipeline = Stream::start(
                    &self.spec,
                    self.column_names.take(),
                    &self.by,
                    std::mem::take(&mut self.waiting),
                    self.threads,
                    self.may_lack_labels,
                    (self.stop.clone(), Arc::clone(&self.on_interrupt)),
                )?;
                self.pipeline.insert(pipeline)
            }
        };
        if let Some(Current { parsed, .. }) = self.current.take() {
            pipeline.recycle(parsed.task.block, parsed.chunk);
        }
        let parsed = pipeline.next_parsed(labels, requirements);
        self.is_interrupted = parsed.is_err();
        let parsed = parsed.map_err(|error| interrupted(&self.file, &error))?;
        self.admit(parsed, requirements)
    }

    fn start(
        spec: &StreamSpec,
        names: Option<Vec<String>>,
        by: &[String],
        waiting: VecDeque<Waiting>,
        threads: usize,
        may_lack_labels: bool,
        (stop, on_interrupt): (Stop, OnInterrupt),
    ) -> Result<Pipeline> {
        let path = InstructionSet::chosen().map_err(Error::Spec)?;
        let bits = spec.space.bits()?;
        let reader = Reader::new(spec.format, spec.space.labels, bits, spec.names)
            .namespaces(spec.space.namespaces.clone())
            .unlabelled(may_lack_labels)
            .by(by);
        let stops = spec.bad_lines == BadLines::Stop;
        let lines = BlockReader::new(reader, path, stops);
        let described = tables_of(spec, names);
        let encoder_of = |schema: &Arc<Schema>| {
            Encoder::new(&spec.space, schema)?.unlabelled(may_lack_labels).by(by)
        };
        let encoder = described.as_ref().map(|tables| encoder_of(&tables.schema));
        let tables = encoder.transpose()?.map(|encoder| TableReader::new(encoder, path, stops));
        let asked = Arc::clone(&on_interrupt);
        let files = Files::new(waiting, described, threads > 1, stop.clone(), asked);
        let namespaces = namespaces_checksum(spec.space.namespaces.as_deref());
        let batches = BatchReader { bits, namespaces, stops };
        let schema = spec.space.schema.as_ref().filter(|_| spec.space.has_columns());
        let encoder = schema.map(encoder_of);
        let rows = encoder.transpose()?.map(|encoder| PieceReader::new(encoder, stops));
        let parser = Parser { lines, batches, tables, rows };
        Ok(Pipeline::new(files, parser, threads, stop, on_interrupt))
    }

    fn note_ignored_columns(&mut self, parsed: &Parsed) {
        for name in parsed.task.layout.iter().flat_map(|layout| &layout.ignored) {
            if !self.ignored_columns.contains(name) {
                self.ignored_columns.push(name.clone());
            }
        }
    }

    /// Accept the block whose turn has come; false if it is the end.
    fn admit(&mut self, mut parsed: Parsed, requirements: &Requirements) -> Result<bool> {
        self.bytes_read = parsed.task.bytes_read;
        match parsed.task.piece {
            Piece::End => return Ok(false),
            Piece::Failed(error) => return Err(error.into()),
            Piece::Lines | Piece::TooLong | Piece::Batch(_) | Piece::Rows(_) => {}
        }
        if parsed.task.begins_file {
            self.labels.next_file();
            self.lines = 0;
            self.note_ignored_columns(&parsed);
        }
        self.lines += parsed.task.block.lines_before();
        let fits = !parsed.is_left
            && self.labels.agrees(&parsed.labels)
            && parsed.chunk.requirements().are_alike(requirements);
        if !fits && let Some(pipeline) = &mut self.pipeline {
            pipeline.parser.parse_again(&mut parsed, requirements, self.labels);
        }
        if let Some(damage) = parsed.damage {
            return Err(damage.of_file(&parsed.task.file).into());
        }
        let labels_before = self.labels;
        self.labels.go_on(&parsed.labels);
        self.file = Arc::clone(&parsed.task.file);
        let lines_before = self.lines;
        self.lines += parsed.report.lines;
        self.current = Some(Current { parsed, given: 0, counted: 0, lines_before, labels_before });
        Ok(true)
    }
}

/// What the tables of a stream are, if its files are tables.
fn tables_of(spec: &StreamSpec, names: Option<Vec<String>>) -> Option<Tables> {
    match (spec.format, &spec.space.schema) {
        (Format::Csv(dialect), Some(schema)) => {
            Some(Tables { dialect, names, schema: Arc::clone(schema), labels: spec.space.labels })
        }
        _ => None,
    }
}

/// Check that tables, if the files are tables, can be read.
fn check_tables(spec: &StreamSpec) -> Result<()> {
    let Format::Csv(dialect) = spec.format else { return Ok(()) };
    dialect.check()?;
    match spec.space.schema {
        Some(_) => spec.space.check(),
        None => Err(Error::Spec(
            "a table needs a feature space with a schema, which says what its columns are; infer_schema makes one \
             from the first rows"
                .to_owned(),
        )),
    }
}

impl Current {
    fn has_more(&self) -> bool {
        self.given < self.parsed.chunk.len()
    }

    fn is_whole(&self) -> bool {
        self.given == 0
    }

    /// Move the next examples to `chunk`, as many as fit.
    fn give(&mut self, chunk: &mut Chunk, limit: usize) {
        let from = &mut self.parsed.chunk;
        if self.given == 0 && chunk.is_empty() && from.len() <= limit && !is_full(from) {
            self.given = from.len();
            from.swap_examples(chunk);
            return;
        }
        let start = self.given;
        let (features, tags) = (from.features_before(start), from.tags_before(start));
        let (had_features, had_tags) = (chunk.features(), chunk.tag_bytes());
        let most = from.len().min(start.saturating_add(limit - chunk.len()));
        let fits = |end: usize| {
            had_features + from.features_before(end) - features < FULL
                && had_tags + from.tags_before(end) - tags < FULL_OF_TAGS
        };
        let mut end = start + 1;
        while end < most && fits(end) {
            end += 1;
        }
        chunk.append_some(from, start..end);
        self.given = end;
    }

    fn first_bad_line(&self) -> InputError {
        let (line, fault) = self.parsed.report.first_bad.clone().unwrap_or_default();
        InputError {
            file: self.parsed.task.file.to_string(),
            line: self.lines_before + line,
            column: fault.column,
            found: fault.found,
            expected: fault.expected,
        }
    }
}

fn is_full(chunk: &Chunk) -> bool {
    chunk.features() >= FULL || chunk.tag_bytes() >= FULL_OF_TAGS
}

fn interrupted(file: &str, error: &io::Error) -> InputError {
    InputError {
        file: file.to_owned(),
        line: 0,
        column: 0,
        found: format!("trouble ({error})"),
        expected: "a file that can be read".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::loss::Labels;
    use crate::read::source::LONGEST_LINE;

    const SPEC: StreamSpec = spec(BadLines::Stop);
    const SKIP: StreamSpec = spec(BadLines::Skip);

    const fn spec(bad_lines: BadLines) -> StreamSpec {
        let space = FeatureSpace::text(18, Labels::Binary);
        StreamSpec { format: Format::Auto, space, bad_lines, names: false }
    }

    fn over(text: &[u8], spec: StreamSpec) -> Stream {
        Stream::over("data", Box::new(Cursor::new(text.to_vec())), spec)
    }

    fn files(texts: &[&[u8]]) -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |(i, text): (usize, &&[u8])| {
            let path = folder.path().join(format!("{i}.txt"));
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let names = texts.iter().enumerate().map(write).collect();
        (folder, names)
    }

    fn message(outcome: Result<usize>) -> String {
        outcome.unwrap_err().to_string()
    }

    #[test]
    fn chunks_hold_at_most_the_limit() {
        let mut stream = over(b"1 1:1\n\n0 2:1\n# note\n1 3:1\n", SPEC);
        let mut chunk = Chunk::new(Some(9));
        assert_eq!(stream.fill(&mut chunk, 2), Ok(2));
        assert_eq!(chunk.example(1).slots, [2, 9]);
        assert_eq!(stream.fill(&mut chunk, 2), Ok(1));
        assert_eq!(stream.fill(&mut chunk, 2), Ok(0));
        assert_eq!(stream.fill(&mut chunk, 2), Ok(0));
        assert!(chunk.is_empty());
    }

    #[test]
    fn zeros_may_be_required_in_the_middle_of_a_block() {
        let mut stream = over(b"1 1:0 2:1\n0 1:0\n1 1:0\n", SPEC);
        for (zeros, slots) in [(true, &[1, 2][..]), (false, &[]), (true, &[1])] {
            let requirements = Requirements { zeros, ..Requirements::default() };
            let mut chunk = Chunk::for_requirements(requirements);
            assert_eq!(stream.fill(&mut chunk, 1), Ok(1));
            assert_eq!(chunk.example(0).slots, slots);
        }
    }

    #[test]
    fn chunks_hold_about_the_full_number_of_features() {
        let line = "1 |a b c d e f g h i j k l m n o p q\n";
        let mut stream = over(line.repeat(10_000).as_bytes(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, usize::MAX), Ok(FULL / 16));
        assert_eq!(stream.fill(&mut chunk, 0), Ok(1));
    }

    #[test]
    fn the_rest_of_a_block_has_no_limit() {
        let mut stream = over("1 |a b c d\n".repeat(100).as_bytes(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 1), Ok(1));
        assert_eq!(stream.fill(&mut chunk, usize::MAX), Ok(99));
    }

    #[test]
    fn chunks_hold_about_a_megabyte_of_tags() {
        let line = format!("1 '{} |a b\n", "x".repeat(FULL_OF_TAGS / 4));
        let mut stream = over(line.repeat(10).as_bytes(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 100), Ok(4));
    }

    #[test]
    fn examples_before_a_bad_line_come_first_and_the_error_stays() {
        let mut stream = over(b"1 1:1\n0 2:1\n1 x\n1 3:1\n", SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(2));
        for _ in 0..2 {
            let told = "data:3:3: expected an index, 0 or more, found 'x'";
            assert_eq!(message(stream.fill(&mut chunk, 10)), told);
            assert!(chunk.is_empty());
        }
    }

    #[test]
    fn bad_lines_are_skipped_and_counted() {
        let text = b"1 1:1\n2 2:1\n1 x\n1 3:1\n\xff\xfe\n";
        let mut stream = over(text, SKIP);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(2));
        assert_eq!(stream.skipped(), 3);
        let first = stream.first_skipped().unwrap().to_string();
        assert_eq!(first, "data:2:1: expected a label 1, 0 or -1, found '2'");
        assert_eq!(stream.fill(&mut chunk, 10), Ok(0));
        assert_eq!(stream.bytes_read(), text.len() as u64);
    }

    #[test]
    fn a_line_too_long_is_one_bad_line() {
        let long = [b"1 ".repeat(LONGEST_LINE), b"\n1 2:1\n".to_vec()].concat();
        let mut chunk = Chunk::new(None);
        let told = "data:1: expected a line of at most 16 MiB, found a longer one";
        assert_eq!(message(over(&long, SPEC).fill(&mut chunk, 9)), told);
        let mut stream = over(&long, SKIP);
        assert_eq!(stream.fill(&mut chunk, 9), Ok(1));
        assert_eq!(stream.skipped(), 1);
    }

    #[test]
    fn files_follow_each_other_each_with_its_own_lines_and_negatives() {
        let (_folder, names) =
            files(&[b"0 1:1", b"", b"\xef\xbb\xbf-1 2:1\r\n", b"\n1 3:1\n2 1:1"]);
        let mut stream = Stream::open(names.clone(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(3));
        let told = format!("{}:3:1: expected a label 1, 0 or -1, found '2'", names[3]);
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
        assert_eq!(stream.bytes_read(), 5 + 11 + 12);
    }

    #[test]
    fn a_format_found_holds_for_all_files() {
        let (_folder, names) = files(&[b"1 |a b\n", b"1 1:1\n"]);
        let mut stream = Stream::open(names.clone(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(1));
        let told = format!("{}:1:6: expected '|' before the features, found end of line", names[1]);
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
    }

    #[test]
    fn a_missing_file_is_met_when_its_turn_comes() {
        let (_folder, mut names) = files(&[b"1 1:1\n"]);
        names.push("no/such.txt".to_owned());
        // Skipping applies to lines, not to files.
        let mut stream = Stream::open(names, SKIP);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(1));
        let told = "no/such.txt: expected a file that can be read, found no such file";
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
        assert_eq!(stream.skipped(), 0);
    }

    #[test]
    fn nothing_is_not_an_error() {
        let mut chunk = Chunk::new(None);
        for text in ["", "\n\n", "# note\n", "\u{feff}"] {
            assert_eq!(over(text.as_bytes(), SPEC).fill(&mut chunk, 1), Ok(0));
        }
        assert_eq!(Stream::open(Vec::<String>::new(), SPEC).fill(&mut chunk, 1), Ok(0));
    }

    #[test]
    fn impossible_bits_are_refused() {
        for bits in [0, 32, 64, u32::MAX] {
            let outcome =
                over(b"", StreamSpec { space: FeatureSpace::text(bits, Labels::Binary), ..SPEC })
                    .fill(&mut Chunk::new(None), 1);
            assert_eq!(message(outcome), format!("bits must be from 1 to 31, found {bits}"));
        }
    }
}
