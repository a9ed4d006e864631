//! Two threads learn from the chunks of a stream: the lanes on one, and beside them what the lanes do not wait for.
//!
//! ```text
//! helper     scale 1, 2    observe 1, scale 3, parse    observe 2, scale 4, parse    …
//! learner    parse         lanes 1                      lanes 2, parse               …
//! ```
//!
//! The numbers are those of chunks. The standard scale depends on the examples only, so it runs ahead of the lanes,
//! by at most [`AHEAD`] chunks. The lanes do not depend on the mixture, so the observer runs behind them. Every
//! number is computed by the same code from the same numbers as on one thread, so no bit depends on the threads.
//!
//! If a round cannot be learned, the rounds before it are observed, and the scales of the others are undone
//! (`example/scale/batch.rs`): the state is that after the examples before.
//!
//! No thread waits while there is a block of text to parse. The helper parses one when nothing is to be observed or
//! scaled, the learner when no chunk is scaled. So two cores have exactly two busy threads, whatever the shares of
//! reading and learning are; with a thread more, the scheduler would stop the lanes now and then for the time of a
//! chunk. Whole chunks are handed over, and some are ahead, because the other thread may be parsing: that takes some
//! milliseconds, as a chunk does.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use super::observe::{Observe, Observer, Rounds};
use super::{Lanes, Scratch};
use crate::error::{Error, Result};
use crate::example::{Chunk, Given, ScaledBatch, Scales, Undo};
use crate::learn::dispatch::{self, Batch};
use crate::learn::frame::Boxes;
use crate::learn::model::{Chunks, ReadAhead};
use crate::learn::tally::BATCH;
use crate::rule::Rule;
use crate::simd::InstructionSet;
use crate::spec::Scope;

/// How many chunks may be on their way to the lanes.
const AHEAD: usize = 2;

/// How many batches are handed to the observer together.
const TOGETHER: usize = 8;

/// A chunk that is scaled, or to be scaled. Its buffers are used again.
#[derive(Default)]
struct Work {
    chunk: Chunk,
    batches: Vec<Part>,
    /// How many of the batches are scaled.
    scaled: usize,
    /// Why these are not all of the chunk.
    failed: Option<Error>,
}

/// A batch of a chunk.
#[derive(Default)]
struct Part {
    /// The examples; after an error those that were not learned.
    range: Range<usize>,
    is_scaled: bool,
    scaled: ScaledBatch,
    undo: Undo,
    given: Vec<Given>,
}

/// What the learner asks of the helper.
enum Request {
    Scale(Box<Work>),
    Observe(Vec<Rounds>),
    /// Undo the scales of a chunk, or of its last examples. The last chunk is undone first.
    Undo(Box<Work>),
}

/// What the helper has done.
enum Done {
    Scaled(Box<Work>),
    Observed(Vec<Rounds>),
}

/// Buffers, kept from call to call.
#[derive(Default)]
pub(super) struct Spare {
    works: Vec<Work>,
    rounds: Vec<Rounds>,
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// Whether chunks can be learned in parallel. Before there is a table of statistics, a scale cannot be undone.
    pub(super) fn can_be_helped(&self) -> bool {
        let (penalty, scales) = (self.frame.penalty, &self.frame.scales);
        let is_whole = penalty.l2 > 0.0 && penalty.scope == Scope::All;
        !is_whole && (scales.can_scale_batch() || matches!(scales, Scales::None))
    }

    /// Learn from chunks with the help of another thread.
    pub(super) fn learn_in_parallel(
        &mut self,
        chunks: &mut dyn Chunks,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let path = InstructionSet::chosen().map_err(Error::Spec)?;
        let mut scales = std::mem::replace(&mut self.frame.scales, Scales::None);
        let placeholder = Observer::new(self.frame.loss, false, 0.0, None);
        let mut observer = std::mem::replace(&mut self.observer, placeholder);
        let before = observer.tally.rounds;
        let ((to_helper, requests), (to_learner, done)) = (channel(), channel());
        let helper = Helper {
            path,
            scaled: before,
            scales: &mut scales,
            observer: &mut observer,
            margins,
            read_ahead: chunks.assistant().unwrap_or_else(|| Box::new(|| false)),
        };
        let learned = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(move || helper.run(&requests, &to_learner));
                let (helper, ahead, has_more) = (to_helper, 0, true);
                let talk = Conversation { path, before, helper, done, ahead, has_more };
                talk.learn(self, chunks)
            })
        }));
        // Also after a panic, so that no learner is left without its scales.
        (self.frame.scales, self.observer) = (scales, observer);
        learned.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// The learner's side of the two threads.
struct Conversation {
    path: InstructionSet,
    /// The number of rounds before the next chunk.
    before: u64,
    helper: Sender<Request>,
    done: Receiver<Done>,
    /// The number of chunks that are with the helper.
    ahead: usize,
    /// Whether there may be chunks after those.
    has_more: bool,
}

impl Conversation {
    /// Let the lanes learn from all chunks, to the end or the first error.
    fn learn<R: Rule, B: Boxes>(
        mut self,
        lanes: &mut Lanes<R, B>,
        chunks: &mut dyn Chunks,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        while let Some(mut work) = self.next_work(&mut lanes.spare, chunks) {
            let learned = self.learn_work(lanes, &mut work, &mut scratch);
            if learned.is_err() {
                self.undo(work, &mut lanes.spare);
                return learned;
            }
            self.before += work.chunk.len() as u64;
            chunks.learned(&work.chunk);
            // Large buffers, for long lines, are freed.
            if !work.chunk.is_large() {
                lanes.spare.works.push(work);
            }
        }
        Ok(())
    }

    /// The next chunk that is scaled; none after the last. Parses while there is none, rather than to wait.
    fn next_work(&mut self, spare: &mut Spare, chunks: &mut dyn Chunks) -> Option<Work> {
        loop {
            while self.has_more && (self.ahead == 0 || self.ahead < AHEAD && chunks.is_ready()) {
                self.has_more = self.send_next(spare, chunks);
            }
            let done = match self.done.try_recv() {
                Err(TryRecvError::Empty) if self.has_more && chunks.read_ahead() => continue,
                Err(_) => return self.next_scaled(spare),
                Ok(done) => done,
            };
            match done {
                Done::Observed(mut rounds) => spare.rounds.append(&mut rounds),
                Done::Scaled(work) => {
                    self.ahead -= 1;
                    return Some(*work);
                }
            }
        }
    }

    /// Send the next chunk to be scaled. Says whether there was one.
    fn send_next(&mut self, spare: &mut Spare, chunks: &mut dyn Chunks) -> bool {
        let mut work = spare.works.pop().unwrap_or_default();
        let has_more = chunks.fill(&mut work.chunk);
        if has_more {
            self.ahead += 1;
            self.send(Request::Scale(Box::new(work)));
        } else {
            spare.works.push(work);
        }
        has_more
    }

    /// Wait for the next chunk that is scaled; none after the last.
    fn next_scaled(&mut self, spare: &mut Spare) -> Option<Work> {
        while self.ahead > 0 {
            match self.done.recv().ok()? {
                Done::Observed(mut rounds) => spare.rounds.append(&mut rounds),
                Done::Scaled(work) => {
                    self.ahead -= 1;
                    return Some(*work);
                }
            }
        }
        None
    }

    /// Let the lanes learn from a chunk, and send its rounds to be observed.
    fn learn_work<R: Rule, B: Boxes>(
        &self,
        lanes: &mut Lanes<R, B>,
        work: &mut Work,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let penalised = lanes.frame.penalty.l2 > 0.0;
        for parts in work.batches[..work.scaled].chunks_mut(TOGETHER) {
            let (mut played, mut learned) = (Vec::with_capacity(TOGETHER), Ok(()));
            for part in parts {
                scratch.rounds = lanes.spare.rounds.pop().unwrap_or_default();
                learned = self.learn_part(lanes, penalised, &work.chunk, part, scratch);
                played.push(std::mem::take(&mut scratch.rounds));
                if learned.is_err() {
                    break;
                }
            }
            self.send(Request::Observe(played));
            learned?;
        }
        work.failed.take().map_or(Ok(()), Err)
    }

    fn learn_part<R: Rule, B: Boxes>(
        &self,
        lanes: &mut Lanes<R, B>,
        penalised: bool,
        chunk: &Chunk,
        part: &mut Part,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let batch = Batch {
            examples: chunk.into(),
            range: part.range.clone(),
            before: self.before + part.range.start as u64,
            scaled: part.is_scaled.then_some(&mut part.scaled),
        };
        let learned = dispatch::play_batch(self.path, lanes, penalised, batch, scratch);
        let rounds = &mut scratch.rounds;
        part.range.start += rounds.len();
        part.given.truncate(rounds.len());
        std::mem::swap(&mut rounds.given, &mut part.given);
        learned
    }

    /// Undo the scales of the examples that were not learned: the rest of this chunk and all after it.
    fn undo(&mut self, work: Work, spare: &mut Spare) {
        let mut unlearned = vec![work];
        while let Some(work) = self.next_scaled(spare) {
            unlearned.push(work);
        }
        while let Some(work) = unlearned.pop() {
            self.send(Request::Undo(Box::new(work)));
        }
    }

    fn send(&self, request: Request) {
        // The helper is there as long as this sender is, unless it panicked.
        let _ = self.helper.send(request);
    }
}

/// The thread beside the lanes.
struct Helper<'a> {
    path: InstructionSet,
    /// The number of examples that are scaled.
    scaled: u64,
    scales: &'a mut Scales,
    observer: &'a mut Observer,
    margins: &'a mut Vec<f64>,
    read_ahead: ReadAhead,
}

impl Helper<'_> {
    /// Do what the learner asks for, to the end.
    fn run(mut self, requests: &Receiver<Request>, learner: &Sender<Done>) {
        while let Some(request) = self.next_request(requests) {
            let done = match request {
                Request::Scale(work) => Done::Scaled(self.scale(work)),
                Request::Observe(rounds) => Done::Observed(self.observe(rounds)),
                Request::Undo(work) => {
                    self.undo(&work);
                    continue;
                }
            };
            // A learner that is gone needs no answer.
            let _ = learner.send(done);
        }
    }

    /// The next request; none after the last. Parses while there is none.
    fn next_request(&mut self, requests: &Receiver<Request>) -> Option<Request> {
        loop {
            match requests.try_recv() {
                Err(TryRecvError::Empty) if (self.read_ahead)() => {}
                // Nothing can be parsed before the learner takes a chunk, and then it sends one.
                Err(_) => return requests.recv().ok(),
                Ok(request) => return Some(request),
            }
        }
    }

    /// Scale a chunk, up to the first error.
    fn scale(&mut self, mut work: Box<Work>) -> Box<Work> {
        let length = work.chunk.len();
        let batches = length.div_ceil(BATCH);
        if work.batches.len() < batches {
            work.batches.resize_with(batches, Part::default);
        }
        work.scaled = batches;
        for (k, part) in work.batches[..batches].iter_mut().enumerate() {
            part.range = k * BATCH..length.min((k + 1) * BATCH);
            if let Err(error) = self.scale_part(&work.chunk, part) {
                (work.scaled, work.failed) = (k, Some(error));
                break;
            }
        }
        work
    }

    fn scale_part(&mut self, chunk: &Chunk, part: &mut Part) -> Result<()> {
        part.is_scaled = self.scales.can_scale_batch();
        if part.is_scaled {
            let Part { range, scaled, undo, given, .. } = part;
            self.scales.scale_batch(chunk.into(), range.clone(), self.scaled, scaled, undo)?;
            if let Some(labels) = self.scales.labels_mut() {
                labels.take_rounds(given);
            }
        }
        self.scaled += part.range.len() as u64;
        Ok(())
    }

    /// Observe rounds that were played.
    fn observe(&mut self, mut batches: Vec<Rounds>) -> Vec<Rounds> {
        for rounds in batches.iter_mut().filter(|rounds| rounds.len() > 0) {
            let (observer, margins) = (&mut *self.observer, &mut *self.margins);
            self.path.run(Observe { observer, rounds, margins });
        }
        batches
    }

    /// Undo the scales of the examples of a chunk that were not learned.
    fn undo(&mut self, work: &Work) {
        for part in work.batches[..work.scaled].iter().rev().filter(|part| part.is_scaled) {
            self.scales.undo((&work.chunk).into(), part.range.clone(), &part.undo);
        }
    }
}
