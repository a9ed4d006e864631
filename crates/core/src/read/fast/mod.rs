//! Reads blocks of lines in two stages. Lines that are not plain go to the strict [`Reader`].
//!
//! ```text
//! block ─windows─▶ some lines ─separators─▶ positions of separators ─vw | svmlight─▶ examples
//!                                             └─ not plain ─▶ Reader::read, the oracle
//! ```
//!
//! A fast reader either returns exactly what the strict one would return, bit for bit, or rejects the line.
//! So valid text pays nothing for error messages, and error messages are implemented once.
//!
//! Cost: a window of 16 KiB, its separators and the filter of the chunk stay in the L1 cache. Nothing is
//! allocated per line.

pub mod csv;
mod cursor;
mod names;
mod numbers;
mod separators;
mod svmlight;
mod vw;

use std::marker::PhantomData;
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::example::Chunk;
use crate::read::format::{Fault, Format, Head, LabelReader, NamespaceReader, ReadState, Reader};
use crate::simd::pairs4::{FOUR, Pairs4};
use crate::simd::{InstructionSet, Simd, WithSimd};
use names::Names;
pub use separators::PADDING;
use separators::Separators;

/// The number of bytes of text in a window. A window is longer only if a single line is.
const WINDOW: usize = 16 << 10;

/// Longer lines go to the strict reader: their separators take four times the memory of the text.
const LONGEST_FAST_LINE: usize = 256 << 10;

/// The result of a fast reader for a plain line.
pub struct Plain {
    /// The label, importance and tag.
    pub head: Head,
    /// The number of features written.
    pub features: usize,
    /// The number of separators of the line, including the one at its end.
    pub separators: usize,
}

/// A block of a line: the range of its namespace in the text, and that of its features in the scratch.
#[derive(Clone, Debug)]
pub struct NamedBlock {
    /// The name of the namespace.
    pub namespace: Range<usize>,
    /// Its features.
    pub features: Range<usize>,
}

/// Memory for the features of a line, reused from line to line.
#[derive(Clone, Debug, Default)]
struct Features {
    slots: Vec<u32>,
    values: Vec<f32>,
    names: Names,
    /// The blocks of the line, if namespaces are selected or crossed.
    blocks: Vec<NamedBlock>,
}

impl Features {
    fn reserve(&mut self, most: usize) {
        // One more, because a feature is written before it is known to be valid. A multiple of eight, for the
        // names.
        let scratch = (most + 1).next_multiple_of(8);
        if self.slots.len() < scratch {
            self.slots.resize(scratch, 0);
            self.values.resize(scratch, 0.0);
            self.names.reserve(scratch);
        }
    }

    #[inline(always)]
    fn scratch(&mut self, mask: u64) -> Scratch<'_> {
        let slots = &mut self.slots[..];
        // Slices of equal length, so that the compiler needs one bounds check for both.
        let values = &mut self.values[..slots.len()];
        self.names.begin_line();
        self.blocks.clear();
        Scratch { slots, values, names: &mut self.names, blocks: &mut self.blocks, mask }
    }

    #[inline(always)]
    fn give_to(&self, chunk: &mut Chunk, text: &[u8], plain: &Plain) {
        chunk.extend(&self.slots[..plain.features], &self.values[..plain.features]);
        let Head { label, importance, base, ref tag } = plain.head;
        chunk.set_base(base);
        chunk.finish(label, importance, &text[tag.clone()]);
    }

    /// Give the features of the selected namespaces and their crosses to the chunk. False, and nothing is given, if
    /// they cannot be crossed.
    #[inline(never)]
    fn give_namespaces_to(
        &self,
        chunk: &mut Chunk,
        text: &[u8],
        plain: &Plain,
        namespaces: &mut NamespaceReader,
        mask: u64,
    ) -> bool {
        namespaces.begin_line();
        for NamedBlock { namespace, features } in &self.blocks {
            let name = &text[namespace.clone()];
            if namespaces.selects(name) {
                let first = chunk.unfinished().0.len();
                chunk.extend(&self.slots[features.clone()], &self.values[features.clone()]);
                namespaces.add_block(name, first..first + features.len());
            }
        }
        if namespaces.append_crosses(chunk, mask as u32, None).is_err() {
            chunk.discard();
            return false;
        }
        let Head { label, importance, base, ref tag } = plain.head;
        chunk.set_base(base);
        chunk.finish(label, importance, &text[tag.clone()]);
        true
    }
}

/// Scratch for the features of a line.
pub struct Scratch<'a> {
    slots: &'a mut [u32],
    values: &'a mut [f32],
    /// The names of the features that are not hashed yet.
    pub names: &'a mut Names,
    /// The blocks of the line, for a grammar that notes them.
    pub blocks: &'a mut Vec<NamedBlock>,
    mask: u64,
}

impl Scratch<'_> {
    /// Write feature number `k`.
    #[inline(always)]
    pub fn set(&mut self, k: usize, hash: u64, value: f32) -> Option<()> {
        self.set_slot(k, hash)?;
        self.set_value(k, value)
    }

    /// Write the slot of feature number `k`.
    #[inline(always)]
    pub fn set_slot(&mut self, k: usize, hash: u64) -> Option<()> {
        *self.slots.get_mut(k)? = (hash & self.mask) as u32;
        Some(())
    }

    /// Write the value of feature number `k`.
    #[inline(always)]
    pub fn set_value(&mut self, k: usize, value: f32) -> Option<()> {
        *self.values.get_mut(k)? = value;
        Some(())
    }

    /// Write four features, the first of them number `k`.
    #[inline(always)]
    pub fn set_four(&mut self, k: usize, (hashes, values): Pairs4) -> Option<()> {
        let mask = self.mask as u32;
        *self.slots.get_mut(k..)?.first_chunk_mut::<FOUR>()? = hashes.map(|hash| hash & mask);
        *self.values.get_mut(k..)?.first_chunk_mut::<FOUR>()? = values;
        Some(())
    }

    /// Write the slots of the names among the first `count` features.
    #[inline(always)]
    pub fn hash_names<V: Simd>(&mut self, simd: V, count: usize) {
        self.names.hash(simd, count, self.mask as u32, self.slots);
    }
}

/// A grammar, as the loop over windows uses it.
pub trait Grammar {
    /// The bytes that end words, in addition to blanks and control characters.
    const ENDS: [u8; 2];
    /// Whether the blocks of a line are noted, because namespaces are selected or crossed.
    const NOTES_BLOCKS: bool;

    /// Read the line that starts at byte `start`. `separators` are the separators from there on. `None` if
    /// the line is not plain.
    fn read<V: Simd>(
        simd: V,
        text: &[u8],
        separators: &[u32],
        start: usize,
        labels: &mut LabelReader,
        scratch: Scratch<'_>,
    ) -> Option<Plain>;
}

/// The result of reading a block, in addition to its examples.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of lines read, including bad ones.
    pub lines: u64,
    /// For every bad line, the number of examples of the block before it.
    pub bad: Vec<u32>,
    /// The first bad line, counted from 1 in the block, and its fault.
    pub first_bad: Option<(u64, Fault)>,
}

/// Reads blocks of lines into chunks.
#[derive(Debug)]
pub struct BlockReader {
    /// The strict reader, which also holds the label spelling of the file and the names.
    pub reader: Reader,
    separators: Separators,
    features: Features,
    path: InstructionSet,
    stops: bool,
}

impl BlockReader {
    /// A reader that either stops at the first bad line of a block, or reports it and continues.
    pub fn new(reader: Reader, path: InstructionSet, stops: bool) -> Self {
        BlockReader {
            reader,
            separators: Separators::default(),
            features: Features::default(),
            path,
            stops,
        }
    }

    /// Another reader for the same lines, see [`Reader::sibling`].
    pub fn sibling(&self) -> Self {
        BlockReader::new(self.reader.sibling(), self.path, self.stops)
    }

    /// Add the examples of the lines to `chunk`.
    ///
    /// Every line ends with a newline, and at least `PADDING` bytes of `text` follow the last.
    pub fn read(&mut self, text: &[u8], lines: Range<usize>, chunk: &mut Chunk) -> Report {
        debug_assert!(lines.is_empty() || text[lines.end - 1] == b'\n');
        debug_assert!(text.len() >= lines.end + PADDING);
        let mut report = Report::default();
        let mut at = lines.start;
        while at < lines.end && !(self.stops && report.first_bad.is_some()) {
            // Only the strict reader records names and values to slice by; recording costs more than reading.
            let is_fast = self.reader.names().is_none() && self.reader.state.by.is_none();
            let fast = if is_fast { self.reader.format } else { Format::Auto };
            at = match fast {
                // The blocks of tables are read by `csv::TableReader`.
                Format::Auto | Format::Csv(_) => {
                    read_strictly(&mut self.reader, text, at, chunk, &mut report)
                }
                Format::Vw if self.reader.state.namespaces.is_some() => {
                    self.read_window::<vw::Vw<true>>(text, at..lines.end, chunk, &mut report)
                }
                Format::Vw => {
                    self.read_window::<vw::Vw<false>>(text, at..lines.end, chunk, &mut report)
                }
                Format::Svmlight => {
                    self.read_window::<svmlight::Svmlight>(text, at..lines.end, chunk, &mut report)
                }
            };
        }
        report
    }

    /// Read the first lines; returns the start of the next one.
    fn read_window<G: Grammar>(
        &mut self,
        text: &[u8],
        lines: Range<usize>,
        chunk: &mut Chunk,
        report: &mut Report,
    ) -> usize {
        let lines = lines.start..window_end(text, lines);
        if lines.len() > LONGEST_FAST_LINE {
            return read_strictly(&mut self.reader, text, lines.start, chunk, report);
        }
        let path = self.path;
        let window = Window { block: self, text, lines, chunk, report, grammar: PhantomData::<G> };
        path.run(window)
    }
}

/// The lines of one window.
struct Window<'a, G> {
    block: &'a mut BlockReader,
    text: &'a [u8],
    lines: Range<usize>,
    chunk: &'a mut Chunk,
    report: &'a mut Report,
    grammar: PhantomData<G>,
}

impl<G: Grammar> WithSimd for Window<'_, G> {
    type Output = usize;

    #[inline(always)]
    fn call<V: Simd>(self, simd: V) -> usize {
        self.read(simd)
    }
}

impl<G: Grammar> Window<'_, G> {
    #[inline(always)]
    fn read<V: Simd>(self, simd: V) -> usize {
        let Window { block, text, lines, chunk, report, .. } = self;
        let BlockReader { reader, separators, features, stops, .. } = block;
        let mut separators = separators.find(simd, text, lines.clone(), b' ', G::ENDS);
        features.reserve(separators.len());
        let mut at = lines.start;
        while at < lines.end && !(*stops && report.first_bad.is_some()) {
            let mut labels = reader.state.labels;
            let scratch = features.scratch(reader.state.mask);
            let plain = G::read(simd, text, separators, at, &mut labels, scratch);
            if let Some(plain) =
                plain.filter(|plain| give::<G>(features, chunk, text, plain, &mut reader.state))
            {
                reader.state.labels = labels;
                report.lines += 1;
                at = separators[plain.separators - 1] as usize + 1;
                separators = &separators[plain.separators..];
            } else {
                at = read_strictly(reader, text, at, chunk, report);
                let passed = separators.iter().position(|&separator| separator as usize >= at);
                separators = &separators[passed.unwrap_or(separators.len())..];
            }
        }
        at
    }
}

/// Give the features of a plain line to the chunk; false if the strict reader must read the line.
#[inline(always)]
fn give<G: Grammar>(
    features: &Features,
    chunk: &mut Chunk,
    text: &[u8],
    plain: &Plain,
    state: &mut ReadState,
) -> bool {
    if G::NOTES_BLOCKS
        && let Some(namespaces) = &mut state.namespaces
    {
        return features.give_namespaces_to(chunk, text, plain, namespaces, state.mask);
    }
    features.give_to(chunk, text, plain);
    true
}

/// The end of the last line that ends within a window's length, or of the first line if none does.
fn window_end(text: &[u8], lines: Range<usize>) -> usize {
    let near = lines.end.min(lines.start + WINDOW);
    if let Some(newline) = memrchr(b'\n', &text[lines.start..near]) {
        return lines.start + newline + 1;
    }
    memchr(b'\n', &text[near..lines.end]).map_or(lines.end, |newline| near + newline + 1)
}

/// Read the line at byte `start` with the strict reader; returns the start of the next line.
#[inline(never)]
fn read_strictly(
    reader: &mut Reader,
    text: &[u8],
    start: usize,
    chunk: &mut Chunk,
    report: &mut Report,
) -> usize {
    let end = memchr(b'\n', &text[start..]).map_or(text.len(), |newline| start + newline);
    let line = &text[start..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    report.lines += 1;
    if let Err(fault) = reader.read(line, chunk) {
        report.bad.push(chunk.len() as u32);
        report.first_bad.get_or_insert((report.lines, fault));
    }
    end + 1
}
