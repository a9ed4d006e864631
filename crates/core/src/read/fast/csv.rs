//! The rows of tables in two stages. Records that are not plain go to the strict [`RecordReader`].
//!
//! ```text
//! block ─windows─▶ positions of delimiters, quotes and controls ─▶ cells ─▶ features
//!                                    └─ not plain ─▶ RecordReader, the oracle
//! ```
//!
//! A record is plain if it has as many cells as the header and, in its quoted cells, no doubled quotes. Cells of a plain
//! record are ranges of the text. Where the schema has only numbers, categories, label, weight, base and tag, and no crosses,
//! features are written from the text: numbers by `numbers.rs`, and the names of categories, with the state of the hash
//! after `column=`, are hashed eight at a time. Other schemas, and rows with a cell that needs care, take the cells to the
//! [`Encoder`], which also finds every fault.
//!
//! Cost: a window of 16 KiB and its positions stay in the L1 cache. Nothing is allocated per row.

use std::ops::Range;

use super::numbers;
use super::separators::Separators;
use super::{Features, Report, Scratch};
use crate::example::{Chunk, Names};
use crate::read::format::csv::{newlines, record_at};
use crate::read::table::cell::Cell;
use crate::read::table::encoder::Encoder;
use crate::read::table::layout::Layout;
use crate::read::table::reader::RecordReader;
use crate::simd::{InstructionSet, Simd, WithSimd};
use crate::spec::Kind;

/// The number of bytes of text in a window. A record that does not fit in is read strictly.
const WINDOW: usize = 16 << 10;
/// Bytes up to this one are separators: all controls, but not the blank.
const CONTROLS: u8 = 0x1f;

/// Reads blocks of records into chunks.
#[derive(Clone, Debug)]
pub struct TableReader {
    strict: RecordReader,
    /// What to do with every column, if all of them are easy.
    steps: Option<Vec<Step>>,
    separators: Separators,
    features: Features,
    cells: Vec<Range<u32>>,
    mask: u64,
    path: InstructionSet,
    stops: bool,
}

/// What to do with the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Skip,
    Number,
    Category,
    Label,
    Weight,
    Base,
    Tag,
}

impl Step {
    fn of(kind: Kind) -> Option<Step> {
        match kind {
            Kind::Number => Some(Step::Number),
            Kind::Category => Some(Step::Category),
            Kind::Label => Some(Step::Label),
            Kind::Weight => Some(Step::Weight),
            Kind::Base => Some(Step::Base),
            Kind::Tag => Some(Step::Tag),
            Kind::Ignore => Some(Step::Skip),
            Kind::Text | Kind::Time => None,
        }
    }
}

/// The row of a table as an example, beside its features.
struct Row {
    label: f32,
    importance: f32,
    base: f32,
    tag: Range<usize>,
    features: usize,
}

/// Why the fast reader does not read a record.
enum Left {
    /// The record does not end in the window.
    CutOff,
    /// The strict reader must read it.
    NotPlain,
}

/// A record whose cells were found.
struct Found {
    /// The number of separators, including the newline.
    separators: usize,
    /// The number of lines.
    lines: u64,
    /// The start of the next record.
    next: usize,
}

impl TableReader {
    /// A reader that either stops at the first bad record of a block, or reports it and continues.
    pub fn new(encoder: Encoder, path: InstructionSet, stops: bool) -> Self {
        let schema = encoder.schema();
        let steps = schema.columns.iter().map(|column| Step::of(column.kind));
        let is_easy = schema.crosses.is_empty() && !encoder.has_by();
        let steps = if is_easy { steps.collect() } else { None };
        TableReader {
            mask: encoder.mask(),
            steps,
            strict: RecordReader::new(encoder),
            separators: Separators::default(),
            features: Features::default(),
            cells: Vec::new(),
            path,
            stops,
        }
    }

    /// Add the examples of the records to `chunk`.
    ///
    /// The last record ends with a newline, and at least `PADDING` bytes of `text` follow it. Names are recorded if they
    /// are given; then all records are read strictly, since recording costs more than reading.
    pub fn read(
        &mut self,
        text: &[u8],
        records: Range<usize>,
        layout: &Layout,
        chunk: &mut Chunk,
        mut names: Option<&mut Names>,
    ) -> Report {
        let mut report = Report::default();
        let mut at = records.start;
        while at < records.end && !(self.stops && report.first_bad.is_some()) {
            if let Some(names) = &mut names {
                let rest = at..records.end;
                at = self.read_strictly(text, rest, layout, chunk, &mut report, Some(names));
                continue;
            }
            let path = self.path;
            let rest = at..records.end;
            let report = &mut report;
            at = path.run(Window { table: self, text, records: rest, layout, chunk, report });
        }
        report
    }

    /// Read the first record strictly; returns the start of the next one.
    #[inline(never)]
    fn read_strictly(
        &mut self,
        text: &[u8],
        records: Range<usize>,
        layout: &Layout,
        chunk: &mut Chunk,
        report: &mut Report,
        names: Option<&mut Names>,
    ) -> usize {
        let text = &text[..records.end];
        let (record, next) = record_at(text, records.start, layout.delimiter);
        let line = report.lines + 1;
        report.lines += newlines(&text[records.start..next]);
        if let Err((offset, fault)) = self.strict.read(&text[record], layout, chunk, names) {
            report.bad.push(chunk.len() as u32);
            report.first_bad.get_or_insert((line + offset, fault));
        }
        next
    }

    /// Add the example of the cells found to `chunk`; false if the strict reader must tell what is wrong.
    #[inline(always)]
    fn read_cells<V: Simd>(
        &mut self,
        simd: V,
        text: &[u8],
        layout: &Layout,
        chunk: &mut Chunk,
    ) -> bool {
        let TableReader { strict, steps, features, cells, mask, .. } = self;
        if let Some(steps) = steps {
            let source = Row::source(&strict.encoder, text, cells, layout, steps);
            if let Some(row) = source.read(simd, features.scratch(*mask)) {
                let Row { label, importance, base, tag, features: count } = row;
                chunk.extend(&features.slots[..count], &features.values[..count]);
                chunk.set_base(base);
                chunk.finish(label, importance, &text[tag]);
                return true;
            }
        }
        encode(&mut strict.encoder, text, cells, layout, chunk)
    }
}

#[inline(never)]
fn encode(
    encoder: &mut Encoder,
    text: &[u8],
    cells: &[Range<u32>],
    layout: &Layout,
    chunk: &mut Chunk,
) -> bool {
    let cell = |k: usize| match layout.places[k] {
        Some(place) => {
            let Range { start, end } = cells[place as usize];
            Cell::Text(&text[start as usize..end as usize])
        }
        None => Cell::Missing,
    };
    encoder.encode(cell, chunk).is_ok()
}

/// The records of one window.
struct Window<'a> {
    table: &'a mut TableReader,
    text: &'a [u8],
    records: Range<usize>,
    layout: &'a Layout,
    chunk: &'a mut Chunk,
    report: &'a mut Report,
}

impl WithSimd for Window<'_> {
    type Output = usize;

    #[inline(always)]
    fn call<V: Simd>(self, simd: V) -> usize {
        self.read(simd)
    }
}

impl Window<'_> {
    #[inline(always)]
    fn read<V: Simd>(self, simd: V) -> usize {
        let Window { table, text, records, layout, chunk, report } = self;
        let window = records.start..records.end.min(records.start + WINDOW);
        // The list is taken out of the reader while the reader is used.
        let mut positions = std::mem::take(&mut table.separators);
        let also = [layout.delimiter, b'"'];
        let mut separators = positions.find(simd, text, window.clone(), CONTROLS, also);
        table.features.reserve(layout.places.len());
        let mut at = records.start;
        while at < window.end && !(table.stops && report.first_bad.is_some()) {
            let cells = &mut table.cells;
            let found = match simple_cells(text, separators, at, layout, cells) {
                Some(found) => Ok(found),
                None => find_cells(text, separators, at, layout, cells),
            };
            match found {
                Ok(found) if table.read_cells(simd, text, layout, chunk) => {
                    report.lines += found.lines;
                    at = found.next;
                    separators = &separators[found.separators..];
                    continue;
                }
                // It may be plain in the next window.
                Err(Left::CutOff) if at > records.start => break,
                _ => {}
            }
            at = table.read_strictly(text, at..records.end, layout, chunk, report, None);
            let passed = separators.iter().position(|&separator| separator as usize >= at);
            separators = &separators[passed.unwrap_or(separators.len())..];
        }
        table.separators = positions;
        at
    }
}

/// Find the cells of the record that starts at byte `start`, if it has no quotes and no controls; `separators` are those
/// from there on. Nearly all records are so, and a loop without branches finds their cells.
#[inline(always)]
fn simple_cells(
    text: &[u8],
    separators: &[u32],
    start: usize,
    layout: &Layout,
    cells: &mut Vec<Range<u32>>,
) -> Option<Found> {
    let (&newline, inner) = separators.get(..layout.width)?.split_last()?;
    if text[newline as usize] != b'\n' || newline as usize == start {
        return None;
    }
    if cells.len() != layout.width {
        cells.resize(layout.width, 0..0);
    }
    let (last, firsts) = cells.split_last_mut()?;
    let (mut start, mut is_odd) = (start as u32, false);
    for (cell, &end) in firsts.iter_mut().zip(inner) {
        is_odd |= text[end as usize] != layout.delimiter;
        *cell = start..end;
        start = end + 1;
    }
    *last = start..newline;
    let next = newline as usize + 1;
    (!is_odd).then_some(Found { separators: layout.width, lines: 1, next })
}

/// Find the cells of the record that starts at byte `start`; `separators` are those from there on.
#[inline(never)]
fn find_cells(
    text: &[u8],
    separators: &[u32],
    start: usize,
    layout: &Layout,
    cells: &mut Vec<Range<u32>>,
) -> Result<Found, Left> {
    cells.clear();
    let (mut start, mut passed, mut lines) = (start as u32, 0, 1);
    loop {
        let mut end = *separators.get(passed).ok_or(Left::CutOff)?;
        passed += 1;
        let mut byte = text[end as usize];
        let mut cell = start..end;
        if byte == b'"' {
            if end != start {
                return Err(Left::NotPlain);
            }
            (passed, lines) = pass_quoted(text, separators, passed, lines)?;
            // The separator after the closing quote must touch it.
            let close = separators[passed - 1];
            end = *separators.get(passed).ok_or(Left::CutOff)?;
            passed += 1;
            if end != close + 1 {
                return Err(Left::NotPlain);
            }
            cell = start + 1..close;
            byte = text[end as usize];
        }
        if byte != layout.delimiter && byte != b'\n' {
            // A control character in a cell is part of it, unless it is a NUL or a carriage return.
            (passed, end, byte) = pass_controls(text, separators, passed, end, byte, layout)?;
            if cell.end < end && text[cell.end as usize] == b'"' && cell.start > start {
                // Only the end of the line may follow a closing quote.
                if byte != b'\n' || end != cell.end + 2 {
                    return Err(Left::NotPlain);
                }
            } else {
                cell.end =
                    if byte == b'\n' && text[end as usize - 1] == b'\r' { end - 1 } else { end };
            }
        }
        cells.push(cell);
        if byte == b'\n' {
            let is_row = cells.len() == layout.width && (cells.len() > 1 || !cells[0].is_empty());
            let next = end as usize + 1;
            return if is_row {
                Ok(Found { separators: passed, lines, next })
            } else {
                Err(Left::NotPlain)
            };
        }
        start = end + 1;
    }
}

/// Pass over the separators of a quoted cell, up to its closing quote; also counts its lines.
#[inline(always)]
fn pass_quoted(
    text: &[u8],
    separators: &[u32],
    mut passed: usize,
    mut lines: u64,
) -> Result<(usize, u64), Left> {
    loop {
        let place = *separators.get(passed).ok_or(Left::CutOff)?;
        passed += 1;
        match text[place as usize] {
            b'"' => return Ok((passed, lines)),
            b'\n' => lines += 1,
            0 => return Err(Left::NotPlain),
            _ => {}
        }
    }
}

/// Pass over control characters that belong to a cell, and over the carriage return before a newline.
#[inline(never)]
fn pass_controls(
    text: &[u8],
    separators: &[u32],
    mut passed: usize,
    mut end: u32,
    mut byte: u8,
    layout: &Layout,
) -> Result<(usize, u32, u8), Left> {
    while byte != layout.delimiter && byte != b'\n' {
        match byte {
            b'\r' if text.get(end as usize + 1) == Some(&b'\n') => {}
            b'\r' | b'"' | 0 => return Err(Left::NotPlain),
            _ => {}
        }
        end = *separators.get(passed).ok_or(Left::CutOff)?;
        passed += 1;
        byte = text[end as usize];
    }
    Ok((passed, end, byte))
}

/// A row whose cells were found.
struct Source<'a> {
    encoder: &'a Encoder,
    text: &'a [u8],
    cells: &'a [Range<u32>],
    layout: &'a Layout,
    steps: &'a [Step],
}

impl Row {
    #[inline(always)]
    fn source<'a>(
        encoder: &'a Encoder,
        text: &'a [u8],
        cells: &'a [Range<u32>],
        layout: &'a Layout,
        steps: &'a [Step],
    ) -> Source<'a> {
        Source { encoder, text, cells, layout, steps }
    }
}

impl Source<'_> {
    /// Write the features of the row; `None` if a cell needs the encoder.
    #[inline(always)]
    fn read<V: Simd>(&self, simd: V, mut scratch: Scratch<'_>) -> Option<Row> {
        let mut row = Row { label: f32::NAN, importance: 1.0, base: 0.0, tag: 0..0, features: 0 };
        let places = &self.layout.places[..self.steps.len()];
        for (k, (step, place)) in self.steps.iter().zip(places).enumerate() {
            let Some(place) = place else { continue };
            let cell = self.trimmed(self.cells.get(*place as usize)?)?;
            match step {
                Step::Skip => {}
                Step::Category => self.category(k, cell, &mut row, &mut scratch)?,
                Step::Number => self.number(k, cell, &mut row, &mut scratch)?,
                Step::Label => row.label = self.label(cell)?,
                Step::Weight => {
                    row.importance = self.float(&cell).filter(|weight| *weight >= 0.0)?;
                }
                Step::Base => row.base = self.float(&cell)?,
                Step::Tag => row.tag = cell,
            }
        }
        scratch.hash_names(simd, row.features);
        Some(row)
    }

    /// The place of a cell without blanks at its ends; `None` if it ends with a control character, which hashes ignore.
    #[inline(always)]
    fn trimmed(&self, cell: &Range<u32>) -> Option<Range<usize>> {
        let mut cell = cell.start as usize..cell.end as usize;
        let is_blank = |byte: u8| byte <= b' ';
        if !cell.is_empty()
            && (is_blank(self.text[cell.start]) || is_blank(self.text[cell.end - 1]))
        {
            let text = self.text.get(cell.clone())?;
            let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
            let start = start.unwrap_or(text.len());
            let end = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
            let end = end.map_or(start, |last| last + 1);
            cell = cell.start + start..cell.start + end;
            if !cell.is_empty() && is_blank(self.text[cell.end - 1]) {
                return None;
            }
        }
        Some(cell)
    }

    #[inline(always)]
    fn is_missing(&self, cell: &Range<usize>) -> bool {
        self.encoder.missing.has(&self.text[cell.clone()])
    }

    #[inline(always)]
    fn category(
        &self,
        k: usize,
        cell: Range<usize>,
        row: &mut Row,
        scratch: &mut Scratch<'_>,
    ) -> Option<()> {
        let (feature, column) = (row.features, &self.encoder.columns[k]);
        row.features += 1;
        if self.is_missing(&cell) {
            scratch.names.pass(feature, 1)?;
            return scratch.set(feature, column.missing.hash, 1.0);
        }
        let prefix = &column.prefix.0;
        scratch.set_value(feature, 1.0)?;
        if cell.len() + prefix.tail_length < 16 {
            let bytes: &[u8; 16] = self.text.get(cell.start..)?.first_chunk()?;
            return scratch.names.set_after(feature, bytes, cell.len(), prefix);
        }
        scratch.names.pass(feature, 1)?;
        scratch.set_slot(feature, column.prefix.feature(&self.text[cell]))
    }

    #[inline(always)]
    fn number(
        &self,
        k: usize,
        cell: Range<usize>,
        row: &mut Row,
        scratch: &mut Scratch<'_>,
    ) -> Option<()> {
        let (feature, column) = (row.features, &self.encoder.columns[k]);
        row.features += 1;
        scratch.names.pass(feature, 1)?;
        if self.is_missing(&cell) {
            return scratch.set(feature, column.missing.hash, 1.0);
        }
        scratch.set(feature, column.number.hash, self.float(&cell)?)
    }

    #[inline(always)]
    fn label(&self, cell: Range<usize>) -> Option<f32> {
        if self.is_missing(&cell) {
            return None;
        }
        match &self.encoder.classes {
            Some(classes) => classes.label_of_text(&self.text[cell]),
            None => self.float(&cell).filter(|&number| self.encoder.labels.holds(number)),
        }
    }

    /// The finite number in a cell.
    #[inline(always)]
    fn float(&self, cell: &Range<usize>) -> Option<f32> {
        match numbers::decimal(self.text, cell.start, cell.end) {
            None => super::cursor::any_float(self.text.get(cell.clone())?),
            number => number,
        }
    }
}
