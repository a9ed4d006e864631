//! A learner led through examples to learn from.
//!
//! Examples are read while everybody may look at the learner. It is changed for the time of a batch: of at most
//! [`BLOCK`] examples, and of at most 64 if somebody waits.

use super::access::Change;
use super::learner::Learner;
use super::outcomes::Outcomes;
use super::predicting::predict_parts;
use super::source::{Checked, Source};
use crate::error::{Error, Result};
use crate::example::{Chunk, Ordered};
use crate::learn::model::{Chunks, ReadAhead};
use crate::read::rows::Rows;
use crate::read::stream::Stream;

/// The number of examples between two checks for interrupts.
pub(super) const BLOCK: usize = 1 << 14;

/// Play and absorb the examples; returns their outcomes. If an error stops it, the examples before are learned.
pub(super) fn learn(learner: &impl Change, source: Source<'_>) -> Result<Outcomes> {
    // A slim model is an error before anything is read.
    learner.change(|learner| learner.model.learner().map(|_| ()))?;
    let (space, mut chunk) = learner.look(|learner| (learner.space().clone(), learner.chunk()));
    let mut outcomes = Outcomes::default();
    match source.check_learnable(&space)? {
        Checked::Stream(stream, Some(limit)) => learn_block(learner, stream, &mut chunk, limit),
        Checked::Stream(stream, None) => {
            every_block(stream, |stream| learn_block(learner, stream, &mut chunk, BLOCK))
        }
        Checked::Memory(examples, order) => {
            let zeros = chunk.requirements().zeros;
            learn_parts(learner, examples.ordered(order, zeros)?, &mut outcomes)?;
            Ok(outcomes)
        }
        Checked::Rows(rows) => learn_rows(learner, &rows, &mut chunk),
    }
}

/// Learn from the next examples of a stream, at most `limit`: all that are there, or a chunk of a pipe.
///
/// After the first chunk an error is left to the next call, so that the outcomes before it are not lost.
fn learn_block(
    learner: &impl Change,
    stream: &mut Stream,
    chunk: &mut Chunk,
    limit: usize,
) -> Result<Outcomes> {
    let mut outcomes = Outcomes::default();
    let mut left = limit - fill(learner, stream, chunk, limit)?;
    loop {
        let learned = match is_helped(learner, stream, left) {
            true => {
                let most = left.min(BLOCK);
                left -= most;
                learner.change(|learner| learn_blocks(learner, stream, chunk, most, &mut outcomes))
            }
            false if stream.may_lack_labels() => {
                learn_or_predict(learner, (&*chunk).into(), &mut outcomes)
            }
            false => learn_parts(learner, (&*chunk).into(), &mut outcomes),
        };
        match learned {
            Err(error) if !outcomes.is_empty() && !stream.is_interrupted() => stream.fail(error),
            learned => learned?,
        }
        if left == 0 || !stream.goes_on() {
            return Ok(outcomes);
        }
        match fill(learner, stream, chunk, left) {
            Err(error) if stream.is_interrupted() => return Err(error),
            Err(_) | Ok(0) => return Ok(outcomes),
            Ok(filled) => left -= filled,
        }
    }
}

/// Whether another thread is to help with the next chunks. Nobody may wait: the state between is not a model.
fn is_helped(learner: &impl Change, stream: &Stream, left: usize) -> bool {
    let may_help =
        left > 0 && stream.has_threads() && stream.goes_on() && !stream.may_lack_labels();
    let gains =
        |learner: &mut Learner| learner.model.learner().is_ok_and(|it| it.gains_from_helper());
    may_help && !learner.is_waited_for() && learner.change(gains)
}

/// Replace the examples of the chunk by the next ones.
fn fill(
    learner: &impl Change,
    stream: &mut Stream,
    chunk: &mut Chunk,
    limit: usize,
) -> Result<usize> {
    let before = stream.skipped();
    let filled = stream.fill(chunk, limit);
    let skipped = stream.skipped() - before;
    if skipped > 0 {
        learner.change(|learner| learner.skipped += skipped);
    }
    filled
}

/// Learn from the chunk and from what follows in the stream, at most `left` more examples.
fn learn_blocks(
    learner: &mut Learner,
    stream: &mut Stream,
    first: &mut Chunk,
    left: usize,
    outcomes: &mut Outcomes,
) -> Result<()> {
    let Learner { model, skipped, .. } = learner;
    let (mut margins, is_first) = (std::mem::take(&mut outcomes.margins), true);
    let mut blocks = Blocks { stream, first, is_first, left, skipped, outcomes, failed: None };
    let learned = model.learner()?.learn_chunks(&mut blocks, &mut margins);
    let failed = blocks.failed;
    outcomes.margins = margins;
    outcomes.margins.truncate(outcomes.len() * outcomes.width());
    learned.and(failed.map_or(Ok(()), Err))
}

/// Learn from the examples that have a label and predict the others, in their order.
fn learn_or_predict(
    learner: &impl Change,
    examples: Ordered<'_>,
    outcomes: &mut Outcomes,
) -> Result<()> {
    let is_labelled = |k: usize| !examples.example(k).label.is_nan();
    let mut start = 0;
    while start < examples.len() {
        let learns = is_labelled(start);
        let end = (start + 1..examples.len()).find(|&k| is_labelled(k) != learns);
        let run = examples.part(start, end.unwrap_or(examples.len()) - start);
        match learns {
            true => learn_parts(learner, run, outcomes)?,
            false => predict_parts(learner, run, outcomes)?,
        }
        start += run.len();
    }
    // Without examples, too, outcomes tell how many classes there are.
    outcomes.widen(outcomes.len(), learner.look(Learner::classes));
    Ok(())
}

/// Learn from examples, in parts if somebody waits for the learner. A part that fails has no outcomes.
fn learn_parts(
    learner: &impl Change,
    examples: Ordered<'_>,
    outcomes: &mut Outcomes,
) -> Result<()> {
    let mut start = 0;
    while start < examples.len() {
        let part = examples.part(start, learner.most_rounds());
        let had = outcomes.len();
        let learned = learner.change(|learner| learn_part(learner, part, outcomes));
        if learned.is_err() {
            outcomes.margins.truncate(had * outcomes.width());
        }
        learned?;
        outcomes.note(part);
        start += part.len();
    }
    // Without examples, too, outcomes tell how many classes there are.
    outcomes.widen(outcomes.len(), learner.look(Learner::classes));
    Ok(())
}

/// Learn from examples and append their margins. Classes that are met make place in those before.
fn learn_part(learner: &mut Learner, part: Ordered<'_>, outcomes: &mut Outcomes) -> Result<()> {
    outcomes.widen(outcomes.len(), learner.classes());
    let learned = learner.model.learner()?.learn(part, &mut outcomes.margins);
    outcomes.classes = learner.classes();
    learned
}

fn learn_rows(learner: &impl Change, rows: &Rows<'_>, chunk: &mut Chunk) -> Result<Outcomes> {
    let mut outcomes = Outcomes::with_capacity(rows.len());
    learner.change(|learner| learner.expect(rows.features() as u64));
    rows.chunks_ahead(chunk, |chunk| learn_parts(learner, chunk.into(), &mut outcomes))?;
    Ok(outcomes)
}

/// The blocks of a stream that follow without waiting, the first of them already read.
struct Blocks<'a> {
    stream: &'a mut Stream,
    first: &'a mut Chunk,
    is_first: bool,
    /// The number of examples that may still be read.
    left: usize,
    skipped: &'a mut u64,
    outcomes: &'a mut Outcomes,
    /// Why the stream ended early.
    failed: Option<Error>,
}

impl Chunks for Blocks<'_> {
    fn fill(&mut self, chunk: &mut Chunk) -> bool {
        chunk.restart(self.first.requirements().clone());
        if std::mem::take(&mut self.is_first) {
            chunk.swap_examples(self.first);
            return true;
        }
        if self.left == 0 || !self.stream.goes_on() {
            return false;
        }
        let before = self.stream.skipped();
        let filled = self.stream.fill(chunk, self.left);
        *self.skipped += self.stream.skipped() - before;
        match filled {
            Ok(filled) => self.left -= filled,
            Err(error) => self.failed = Some(error),
        }
        !chunk.is_empty()
    }

    fn learned(&mut self, chunk: &Chunk) {
        self.outcomes.note_chunk(chunk);
    }

    fn is_ready(&self) -> bool {
        self.is_first || self.left == 0 || self.stream.is_ready()
    }

    fn read_ahead(&mut self) -> bool {
        self.stream.parse_ahead()
    }

    fn assistant(&self) -> Option<ReadAhead> {
        let mut assistant = self.stream.assistant()?;
        Some(Box::new(move || assistant.parse_block()))
    }
}

/// The outcomes of all blocks that are left of a stream; an interrupt ends them between two blocks.
pub(super) fn every_block(
    stream: &mut Stream,
    mut next: impl FnMut(&mut Stream) -> Result<Outcomes>,
) -> Result<Outcomes> {
    let mut all = Outcomes::default();
    loop {
        let block = next(stream)?;
        all.append(&block);
        if block.is_empty() {
            return Ok(all);
        }
        stream.check_interrupt()?;
    }
}
