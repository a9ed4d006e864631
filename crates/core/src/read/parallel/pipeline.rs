//! Blocks parsed on many cores and handed over in order.
//!
//! Every reader, including the stream's own thread, takes the next task from the files, one at a time, parses
//! its lines and puts the result in the queue. The stream takes results from the queue by their numbers. If
//! the next one is not there, the stream parses a block itself: parsing is most of the work, and an idle core
//! would be half of a small machine.
//!
//! A thread that helps a learner may be an [`Assistant`]: it parses a block when it has nothing else to do. One reader
//! pauses for it, so that there are never more busy threads than cores.
//!
//! Threads are started when the stream comes to its third block, so that short files need none, and when the
//! format is known. If only Arrow files have been met, the threads leave text to the stream. Names are
//! recorded in the order of the lines, by one reader.
//!
//! Cost: three blocks for each reader are in flight between the files and the stream, so that a preempted
//! reader does not stall the others. There are never more than [`MOST_BLOCKS`], and never more than
//! [`MOST_BYTES`] and one block.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use super::files::{Files, Piece, Task};
use super::parsed::{Parsed, Parser};
use crate::example::{Chunk, Requirements};
use crate::read::format::{Format, LabelReader};
use crate::read::source::{Block, OnInterrupt, Stop, never_ask_here};

/// The most blocks in flight. More would only use memory: one learner cannot consume more.
const MOST_BLOCKS: usize = 16;
/// The most bytes of text in flight, not counting the block being read; lines may be long.
const MOST_BYTES: usize = 8 << 20;
/// The number of blocks that the stream parses before it starts threads.
const ALONE: u64 = 2;
/// How often a waiting stream checks for interrupts.
const PATIENCE: Duration = Duration::from_millis(50);

/// The consumer side of the pipeline, owned by the stream.
pub struct Pipeline {
    shared: Arc<Shared>,
    /// The parser of the stream's own thread.
    pub parser: Parser,
    threads: usize,
    helpers_started: bool,
    /// Whether a batch of an Arrow file or of a table was met, whose format need not be detected.
    met_batch: bool,
    wanted: u64,
    stop: Stop,
    on_interrupt: OnInterrupt,
}

struct Shared {
    files: Mutex<Files>,
    queue: Mutex<Queue>,
    changed: Condvar,
    /// The assistants have gone. Not `changed`, which would wake the reader that pauses for every block.
    unassisted: Condvar,
    most_blocks: usize,
}

/// The state shared by the readers, under a mutex.
#[derive(Default)]
struct Queue {
    parsed: BTreeMap<u64, Parsed>,
    /// The number of blocks in flight, and their bytes, including the stream's own block.
    blocks: usize,
    bytes: usize,
    requirements: Requirements,
    spare: Vec<(Block, Chunk)>,
    assistants: usize,
    ended: bool,
    panicked: bool,
}

impl Queue {
    fn has_capacity(&self, most_blocks: usize) -> bool {
        let more_to_come = !self.ended || self.blocks == 0;
        more_to_come && self.blocks < most_blocks && self.bytes <= MOST_BYTES
    }

    /// Recycled or new buffers for one more block.
    fn take_buffers(&mut self) -> (Block, Chunk) {
        self.blocks += 1;
        let (block, mut chunk) = self.spare.pop().unwrap_or_default();
        chunk.restart(self.requirements.clone());
        (block, chunk)
    }
}

impl Pipeline {
    /// A pipeline of `threads` readers, including the stream's own. It sets `stop` when it is dropped.
    pub fn new(
        files: Files,
        parser: Parser,
        threads: usize,
        stop: Stop,
        on_interrupt: OnInterrupt,
    ) -> Self {
        let shared = Shared {
            files: Mutex::new(files),
            queue: Mutex::default(),
            changed: Condvar::new(),
            unassisted: Condvar::new(),
            most_blocks: (3 * threads).min(MOST_BLOCKS),
        };
        Pipeline {
            shared: Arc::new(shared),
            parser,
            threads,
            helpers_started: false,
            met_batch: false,
            wanted: 0,
            stop,
            on_interrupt,
        }
    }

    /// The next block in order. `labels` is the spelling of labels before it; `requirements` are the
    /// properties that its examples must have.
    pub fn next_parsed(
        &mut self,
        labels: LabelReader,
        requirements: &Requirements,
    ) -> io::Result<Parsed> {
        if self.wanted >= ALONE && !self.helpers_started && self.can_be_helped() {
            self.start_helpers();
        }
        let shared = Arc::clone(&self.shared);
        loop {
            let mut queue = shared.queue();
            assert!(!queue.panicked, "a thread that reads has panicked");
            queue.requirements.clone_from(requirements);
            if let Some(parsed) = queue.parsed.remove(&self.wanted) {
                self.wanted += 1;
                queue.blocks -= 1;
                shared.changed.notify_all();
                return Ok(parsed);
            }
            if queue.has_capacity(shared.most_blocks)
                && let Some(files) = try_lock(&shared.files)
                // Another thread may be parsing the block that is wanted; to wait for one behind it would hold that up.
                && (files.next_number() == self.wanted || !files.may_wait())
            {
                let (block, chunk) = queue.take_buffers();
                drop(queue);
                self.read_here(shared.next_task(files, block), chunk, labels);
                continue;
            }
            let waited = shared.changed.wait_timeout(queue, PATIENCE);
            if waited.is_ok_and(|(_, waited)| waited.timed_out()) {
                (self.on_interrupt)()?;
            }
        }
    }

    /// Whether the next block is parsed.
    pub fn is_next_parsed(&self) -> bool {
        self.shared.queue().parsed.contains_key(&self.wanted)
    }

    /// Parse a block on the stream's own thread ahead of its turn. Says no, at once, if none may be read now.
    pub fn parse_ahead(&mut self, labels: LabelReader) -> bool {
        let next = self.shared.try_next_task();
        let is_any = next.is_some();
        if let Some((task, chunk)) = next {
            self.read_here(task, chunk, labels);
        }
        is_any
    }

    /// A parser for another thread, if blocks may be parsed by others.
    pub fn assistant(&self) -> Option<Assistant> {
        self.helpers_started.then(|| {
            self.shared.queue().assistants += 1;
            Assistant { shared: Arc::clone(&self.shared), parser: self.parser.sibling() }
        })
    }

    fn read_here(&mut self, task: Task, chunk: Chunk, mut labels: LabelReader) {
        // The blocks before this one are being parsed by others, so their labels are not known yet.
        self.met_batch |= matches!(task.piece, Piece::Batch(_) | Piece::Rows(_));
        let is_its_turn = task.number == self.wanted;
        if task.begins_file || !is_its_turn {
            labels.next_file();
        }
        let parsed = match is_its_turn {
            true => self.parser.parse(task, chunk, labels),
            false => self.parser.parse_or_leave(task, chunk, labels),
        };
        self.shared.put(parsed);
    }

    /// Recycle the buffers of a block that was handed out, before the next one is requested.
    pub fn recycle(&self, block: Block, chunk: Chunk) {
        let mut queue = self.shared.queue();
        queue.bytes -= block.lines().len();
        self.shared.changed.notify_all();
        // Large buffers, for long lines, are freed.
        if queue.spare.len() < self.shared.most_blocks && !block.is_large() && !chunk.is_large() {
            queue.spare.push((block, chunk));
        }
    }

    fn can_be_helped(&self) -> bool {
        let reader = &self.parser.lines.reader;
        let is_known = reader.format() != Format::Auto || self.met_batch;
        self.threads > 1 && reader.names().is_none() && is_known
    }

    fn start_helpers(&mut self) {
        self.helpers_started = true;
        for number in 1..self.threads.min(MOST_BLOCKS) {
            let shared = Arc::clone(&self.shared);
            let parser = self.parser.sibling();
            let helper = thread::Builder::new().name("lessregret reader".to_owned());
            // If no thread can be started the stream parses alone.
            let _ = helper.spawn(move || help(&shared, parser, number == 1));
        }
    }
}

impl Drop for Pipeline {
    /// Helpers stop at their next check. A helper that is blocked on a pipe is not joined.
    fn drop(&mut self) {
        self.stop.set();
        self.shared.queue().ended = true;
        self.shared.changed.notify_all();
        self.shared.unassisted.notify_all();
    }
}

/// A thread that parses a block now and then, and never waits for one.
pub struct Assistant {
    shared: Arc<Shared>,
    parser: Parser,
}

impl Assistant {
    /// Parse one block. Says no, at once, if none may be read now.
    pub fn parse_block(&mut self) -> bool {
        never_ask_here();
        let _alarm = PanicGuard(&self.shared);
        let next = self.shared.try_next_task();
        let is_any = next.is_some();
        if let Some((task, chunk)) = next {
            self.shared.put(self.parser.parse_unknown(task, chunk));
        }
        is_any
    }
}

impl Drop for Assistant {
    fn drop(&mut self) {
        self.shared.queue().assistants -= 1;
        self.shared.unassisted.notify_all();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Back-pressure: wait until one more block may be in flight and return its buffers. `None` at the end.
    fn wait_for_capacity(&self) -> Option<(Block, Chunk)> {
        let mut queue = self.queue();
        while !queue.ended && !queue.has_capacity(self.most_blocks) {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        (!queue.ended).then(|| queue.take_buffers())
    }

    /// The next task, if one more block may be in flight and no other thread is reading the files.
    fn try_next_task(&self) -> Option<(Task, Chunk)> {
        let mut queue = self.queue();
        if queue.ended || !queue.has_capacity(self.most_blocks) {
            return None;
        }
        let files = try_lock(&self.files)?;
        let (block, chunk) = queue.take_buffers();
        drop(queue);
        Some((self.next_task(files, block), chunk))
    }

    /// Wait until there is no assistant.
    fn pause(&self) {
        let mut queue = self.queue();
        while !queue.ended && queue.assistants > 0 {
            queue = self.unassisted.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn next_task(&self, mut files: MutexGuard<'_, Files>, block: Block) -> Task {
        let task = files.next_task(block);
        let mut queue = self.queue();
        queue.ended |= matches!(task.piece, Piece::End | Piece::Failed(_));
        queue.bytes += task.block.lines().len();
        drop(queue);
        drop(files);
        // The stream may have found the files locked; wake it, so that it need not wait for this block.
        self.changed.notify_all();
        task
    }

    fn put(&self, parsed: Parsed) {
        self.queue().parsed.insert(parsed.task.number, parsed);
        self.changed.notify_all();
    }
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The loop of a helper thread: parse blocks until there are no more. One of the helpers pauses for assistants.
fn help(shared: &Shared, mut parser: Parser, pauses: bool) {
    never_ask_here();
    let _alarm = PanicGuard(shared);
    while let Some((task, chunk)) = next_task(shared, pauses) {
        shared.put(parser.parse_unknown(task, chunk));
    }
}

/// The next task, when back-pressure allows one more block; `None` at the end.
fn next_task(shared: &Shared, pauses: bool) -> Option<(Task, Chunk)> {
    if pauses {
        shared.pause();
    }
    // The lock of the files is held while waiting for capacity, so that at most one block exceeds the limit,
    // however long it is.
    let files = shared.files.lock().unwrap_or_else(PoisonError::into_inner);
    let (block, chunk) = shared.wait_for_capacity()?;
    Some((shared.next_task(files, block), chunk))
}

/// Reports a panic to the stream, which would otherwise wait forever for the block being parsed.
struct PanicGuard<'a>(&'a Shared);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.queue().panicked = true;
            self.0.changed.notify_all();
        }
    }
}
