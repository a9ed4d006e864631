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

mod current;
mod open;
mod setup;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use current::Current;
use setup::Setup;

use crate::error::{Error, InputError, Result};
use crate::example::{Arrays, Chunk, Names, Requirements, Scales};
use crate::read::format::{Format, LabelReader};
use crate::read::parallel::files::{Piece, Waiting};
use crate::read::parallel::parsed::Parsed;
use crate::read::parallel::pipeline::{Assistant, Pipeline};
use crate::read::source::Stop;
use crate::spec::{FeatureSpace, Scale};

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
    setup: Setup,
    /// By how much the importance of negatives is multiplied.
    negative_importance: f64,
    /// The files that are not opened yet; taken by the first call.
    waiting: VecDeque<Waiting>,
    pipeline: Option<Pipeline>,
    current: Option<Current>,
    labels: LabelReader,
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

impl Stream {
    /// The columns of the tables read so far that the schema does not have.
    pub fn ignored_columns(&self) -> &[String] {
        &self.ignored_columns
    }

    /// Whether examples may have no label although the labels are of a kind.
    pub fn may_lack_labels(&self) -> bool {
        self.setup.may_lack_labels
    }

    /// The request to stop reading. Once it is set the stream has no more examples, as if the files had ended.
    pub fn stop(&self) -> Stop {
        self.setup.stop.clone()
    }

    /// Whether more threads than the caller's may be used.
    pub fn has_threads(&self) -> bool {
        self.setup.threads > 1
    }

    /// Whether more examples of a file are there. Says no for a pipe, whose next bytes may take their time. Depends on
    /// the bytes only, not on the threads.
    pub fn goes_on(&self) -> bool {
        let goes_on = |current: &Current| current.has_more() && !current.parsed.task.is_of_pipe;
        self.failed.is_none()
            && !self.setup.stop.is_set()
            && self.current.as_ref().is_some_and(goes_on)
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

    /// Replace the chunk's examples by the next ones, at most `limit` and at least one. Returns their number;
    /// 0 after the last. A chunk is also full with about 65,536 features or a megabyte of tags, and may be
    /// handed out when it is half full.
    pub fn fill(&mut self, chunk: &mut Chunk, limit: usize) -> Result<usize> {
        chunk.clear();
        if self.setup.stop.is_set() {
            return Ok(0);
        }
        if self.failed.is_none() {
            // Zeros that are scaled here are values, whatever the caller requires.
            let required = chunk.requirements().zeros;
            chunk.require_zeros(required || self.setup.spec.space.scale == Scale::Standard);
            let failed = self.read_up_to(chunk, limit.max(1)).err();
            // A stop ends a wait by an error of its own.
            self.failed = failed.filter(|_| !self.setup.stop.is_set());
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
        match (self.setup.on_interrupt)() {
            Err(error) if !self.setup.stop.is_set() => Err(interrupted(&self.file, &error).into()),
            _ => Ok(()),
        }
    }

    /// The feature space that the examples are read for.
    pub fn space(&self) -> &FeatureSpace {
        &self.setup.spec.space
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
        if self.setup.spec.bad_lines == BadLines::Stop || self.first_skipped.is_none() {
            let error = current.first_bad_line();
            if self.setup.spec.bad_lines == BadLines::Stop {
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
                let waiting = std::mem::take(&mut self.waiting);
                self.pipeline.insert(self.setup.start(waiting)?)
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
mod tests;
