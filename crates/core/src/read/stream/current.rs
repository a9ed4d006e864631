//! The block whose examples are being handed out.

use super::{FULL, FULL_OF_TAGS, is_full};
use crate::error::InputError;
use crate::example::Chunk;
use crate::read::format::LabelReader;
use crate::read::parallel::parsed::Parsed;

/// The block whose examples are being handed out.
pub(super) struct Current {
    pub parsed: Parsed,
    /// The number of its examples already handed out, and of its bad lines already counted.
    pub given: usize,
    pub counted: usize,
    /// The number of lines of the file before it, and the spelling of labels in them.
    pub lines_before: u64,
    pub labels_before: LabelReader,
}

impl Current {
    pub fn has_more(&self) -> bool {
        self.given < self.parsed.chunk.len()
    }

    pub fn is_whole(&self) -> bool {
        self.given == 0
    }

    /// Move the next examples to `chunk`, as many as fit.
    pub fn give(&mut self, chunk: &mut Chunk, limit: usize) {
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

    pub fn first_bad_line(&self) -> InputError {
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
