//! Reads a batch of an Arrow file into a chunk.
//!
//! First the structure of the batch is checked: the checksum, the positions and lengths of the buffers, the
//! offsets. If any of it is wrong, nothing of the batch is used. Then its rows are read like lines of text. A
//! label of the wrong kind, an importance below 0, a value that is not finite or a slot that is too large
//! makes a row bad; the other rows are not affected.
//!
//! Cost: slots and values are checked once, in vectorised loops, and copied.

use std::ops::Range;

use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus::ReadAsRoot;

use super::messages::Batch;
use super::schema::Contents;
use super::{CHECKSUM_KEY, checksum, fault, unsound, value_of};
use crate::example::Chunk;
use crate::read::fast::Report;
use crate::read::format::{Fault, LabelReader};
use crate::read::source::Block;

type Words<'a> = &'a [[u8; 4]];

/// Reads batches into chunks.
#[derive(Clone, Copy, Debug)]
pub struct BatchReader {
    /// There are 2^bits slots.
    pub bits: u32,
    /// The checksum of the namespaces that are read and crossed ([`super::schema::namespaces_checksum`]).
    pub namespaces: u32,
    /// Whether the first bad row ends the reading.
    pub stops: bool,
}

impl BatchReader {
    /// Add the rows of `batch`, which lies in `block`, to `chunk`. An error if nothing of the batch can be
    /// used.
    pub fn read(
        self,
        batch: Batch,
        block: &Block,
        chunk: &mut Chunk,
        labels: &mut LabelReader,
    ) -> Result<Report, Fault> {
        let Contents { bits, namespaces } = batch.contents;
        if bits < self.bits {
            let expected = format!("slots of at least {} bits, as asked for", self.bits);
            let cure = "convert the text again with more --bits, or use fewer here";
            return Err(fault(expected, format!("slots of {bits} bits; {cure}")));
        }
        if namespaces != self.namespaces {
            let expected = "examples that were converted with the crosses and namespaces asked for";
            let cure = "convert the text again with the same -q, --cross, --keep and --ignore";
            return Err(fault(expected, format!("others; {cure}")));
        }
        let (metadata, body) = block.text()[block.lines()].split_at(batch.metadata);
        let columns = Columns::of(metadata, body, bits).map_err(|wrong| Fault {
            expected: format!("{} in batch {}", wrong.expected, batch.number),
            ..wrong
        })?;
        Ok(self.read_rows(&columns, bits, chunk, labels))
    }

    fn read_rows(
        self,
        columns: &Columns<'_>,
        bits: u32,
        chunk: &mut Chunk,
        labels: &mut LabelReader,
    ) -> Report {
        let (slots, values) = (columns.slots.items, columns.values.items);
        let sound = largest(slots) >> bits == 0 && all_finite(values);
        let mask = (1 << self.bits) - 1;
        let mut report = Report::default();
        for row in 0..columns.rows {
            report.lines += 1;
            match columns.head(row, labels, (!sound).then_some(bits)) {
                Ok((label, importance)) => {
                    let slots = columns.slots.row(row).iter();
                    let values = columns.values.row(row).iter();
                    chunk.extend_with(
                        slots.map(|slot| u32::from_le_bytes(*slot) & mask),
                        values.map(|value| f32::from_le_bytes(*value)),
                    );
                    chunk.finish(label, importance, columns.tags.row(row));
                }
                Err(fault) => {
                    report.bad.push(chunk.len() as u32);
                    report.first_bad.get_or_insert((report.lines, fault));
                    if self.stops {
                        break;
                    }
                }
            }
        }
        report
    }
}

/// The columns of a batch, all of the same number of rows.
struct Columns<'a> {
    rows: usize,
    /// A bit for every label, set if it is not null. Empty if no label is null.
    has_label: &'a [u8],
    labels: Words<'a>,
    importances: Words<'a>,
    slots: Lists<'a, [u8; 4]>,
    values: Lists<'a, [u8; 4]>,
    tags: Lists<'a, u8>,
}

impl<'a> Columns<'a> {
    fn of(metadata: &'a [u8], body: &'a [u8], bits: u32) -> Result<Columns<'a>, Fault> {
        let message = ipc::MessageRef::read_as_root(metadata).map_err(unsound)?;
        let pairs = message.custom_metadata().map_err(unsound)?;
        let written = value_of(pairs, CHECKSUM_KEY).map_err(unsound)?;
        if written.is_none() && pairs.is_some_and(|pairs| !pairs.is_empty()) {
            // Without this check a damaged key of the checksum would hide other damage.
            return Err(fault(format!("a checksum as '{CHECKSUM_KEY}'"), "other metadata"));
        }
        let layout = match message.header().map_err(unsound)? {
            Some(ipc::MessageHeaderRef::RecordBatch(batch)) => {
                ipc::RecordBatch::try_from(batch).map_err(unsound)?
            }
            _ => return Err(fault("a record batch", "another message")),
        };
        if let Some(written) = written {
            let found = format!("{:08x}", checksum(bits, &layout, body));
            if written != found {
                let found = format!("{found}: the file is damaged; convert the text again");
                return Err(fault(format!("bytes with the checksum {written}"), found));
            }
        }
        if layout.compression.is_some() {
            return Err(fault("buffers that are not packed", "packed ones"));
        }
        let mut buffers = Buffers::new(&layout, body)?;
        let (has_label, labels) = buffers.label()?;
        Columns {
            rows: buffers.rows,
            has_label,
            labels,
            importances: buffers.numbers("importance")?,
            slots: buffers.lists("slots")?,
            values: buffers.lists("values")?,
            tags: buffers.tags()?,
        }
        .with_as_many_slots_as_values()
    }

    fn with_as_many_slots_as_values(self) -> Result<Self, Fault> {
        let differs = |&row: &usize| self.slots.place(row).len() != self.values.place(row).len();
        match (0..self.rows).find(differs) {
            None => Ok(self),
            Some(row) => {
                let (slots, values) = (self.slots.place(row).len(), self.values.place(row).len());
                let expected = format!("as many values as slots in row {}", row + 1);
                Err(fault(expected, format!("{values} values for {slots} slots")))
            }
        }
    }

    /// The label and the importance of a row. With `bits`, the features of the row are checked too.
    fn head(
        &self,
        row: usize,
        labels: &mut LabelReader,
        bits: Option<u32>,
    ) -> Result<(f32, f32), Fault> {
        let before = *labels;
        let label = match self.has_label.is_empty() || self.has_label[row / 8] >> (row % 8) & 1 == 1
        {
            true => labels.number(f32::from_le_bytes(self.labels[row])),
            false => labels.absent().ok_or_else(|| fault("a label", "none")),
        }?;
        let importance = f32::from_le_bytes(self.importances[row]);
        let checked = match importance >= 0.0 && importance.is_finite() {
            true => bits.map_or(Ok(()), |bits| self.check_features(row, bits)),
            false => Err(fault("an importance, 0 or more", format!("'{importance}'"))),
        };
        match checked {
            Ok(()) => Ok((label, importance)),
            Err(fault) => {
                labels.take_back(&before);
                Err(fault)
            }
        }
    }

    fn check_features(&self, row: usize, bits: u32) -> Result<(), Fault> {
        let slots = self.slots.row(row).iter().map(|slot| u32::from_le_bytes(*slot));
        if let Some(slot) = slots.into_iter().find(|slot| slot >> bits != 0) {
            return Err(fault(format!("slots below 2^{bits}"), slot.to_string()));
        }
        let mut values = self.values.row(row).iter().map(|value| f32::from_le_bytes(*value));
        match values.find(|value| !value.is_finite()) {
            Some(value) => Err(fault("values that are finite", format!("'{value}'"))),
            None => Ok(()),
        }
    }
}

/// A column of lists: the offsets of each list among the items.
struct Lists<'a, T> {
    offsets: Words<'a>,
    items: &'a [T],
}

impl<'a, T> Lists<'a, T> {
    fn place(&self, row: usize) -> Range<usize> {
        let [start, end] = [row, row + 1].map(|k| u32::from_le_bytes(self.offsets[k]) as usize);
        start..end
    }

    fn row(&self, row: usize) -> &'a [T] {
        &self.items[self.place(row)]
    }

    /// Check that no list ends before it begins or after the items.
    fn check(self, rows: usize, column: &str) -> Result<Self, Fault> {
        let limit = self.items.len();
        let wrong = (0..rows).find(|&row| {
            let place = self.place(row);
            place.start > place.end || place.end > limit
        });
        match wrong {
            None => Ok(self),
            Some(row) => {
                let Range { start, end } = self.place(row);
                let expected = format!("offsets that rise to at most {limit} in column '{column}'");
                Err(fault(expected, format!("{start} and {end} in row {}", row + 1)))
            }
        }
    }
}

/// The buffers of a batch, read one column after another.
struct Buffers<'a> {
    rows: usize,
    nodes: std::vec::IntoIter<ipc::FieldNode>,
    buffers: std::vec::IntoIter<ipc::Buffer>,
    body: &'a [u8],
}

impl<'a> Buffers<'a> {
    fn new(layout: &ipc::RecordBatch, body: &'a [u8]) -> Result<Self, Fault> {
        let buffers = layout.buffers.clone().unwrap_or_default().into_iter();
        let nodes = layout.nodes.clone().unwrap_or_default().into_iter();
        match u32::try_from(layout.length) {
            Ok(rows) => Ok(Buffers { rows: rows as usize, nodes, buffers, body }),
            Err(_) => Err(fault("fewer than 2^32 rows", layout.length.to_string())),
        }
    }

    fn label(&mut self) -> Result<(&'a [u8], Words<'a>), Fault> {
        let nulls = self.node("label", self.rows)?.null_count;
        let present = self.bytes("label")?;
        if nulls != 0 && present.len() < self.rows.div_ceil(8) {
            return Err(fault("a bit for every row of column 'label'", "fewer"));
        }
        Ok((if nulls == 0 { &[] } else { present }, self.words("label", self.rows)?))
    }

    fn numbers(&mut self, column: &str) -> Result<Words<'a>, Fault> {
        self.begin(column, self.rows)?;
        self.words(column, self.rows)
    }

    fn lists(&mut self, column: &str) -> Result<Lists<'a, [u8; 4]>, Fault> {
        self.begin(column, self.rows)?;
        let offsets = self.offsets(column)?;
        let count = self.nodes.as_slice().first().map_or(0, |node| node.length);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.begin(column, count)?;
        let items = self.words(column, count)?;
        Lists { offsets, items }.check(self.rows, column)
    }

    fn tags(&mut self) -> Result<Lists<'a, u8>, Fault> {
        self.begin("tag", self.rows)?;
        let offsets = self.offsets("tag")?;
        Lists { offsets, items: self.bytes("tag")? }.check(self.rows, "tag")
    }

    /// Begin a column without nulls.
    fn begin(&mut self, column: &str, rows: usize) -> Result<(), Fault> {
        let nulls = self.node(column, rows)?.null_count;
        self.bytes(column)?;
        match nulls {
            0 => Ok(()),
            _ => Err(fault(format!("a column '{column}' without nulls"), format!("{nulls} nulls"))),
        }
    }

    fn node(&mut self, column: &str, rows: usize) -> Result<ipc::FieldNode, Fault> {
        match self.nodes.next() {
            Some(node) if node.length == rows as i64 => Ok(node),
            Some(node) => {
                let expected = format!("{rows} rows in column '{column}'");
                Err(fault(expected, node.length.to_string()))
            }
            None => Err(fault(format!("a column '{column}'"), "no more columns")),
        }
    }

    fn offsets(&mut self, column: &str) -> Result<Words<'a>, Fault> {
        // A column without rows may omit even the first offset.
        self.words(column, if self.rows == 0 { 0 } else { self.rows + 1 })
    }

    /// The next buffer as this many words of four bytes. What follows them is padding.
    fn words(&mut self, column: &str, count: usize) -> Result<Words<'a>, Fault> {
        let (words, _) = self.bytes(column)?.as_chunks::<4>();
        words.get(..count).ok_or_else(|| {
            let expected = format!("a buffer of {count} numbers for column '{column}'");
            fault(expected, format!("one of {}", words.len()))
        })
    }

    fn bytes(&mut self, column: &str) -> Result<&'a [u8], Fault> {
        let Some(buffer) = self.buffers.next() else {
            return Err(fault(format!("a buffer for column '{column}'"), "no more buffers"));
        };
        let start = usize::try_from(buffer.offset).ok();
        let end = usize::try_from(buffer.length).ok().and_then(|length| start?.checked_add(length));
        start.zip(end).and_then(|(start, end)| self.body.get(start..end)).ok_or_else(|| {
            let expected = format!("buffers within the {} bytes of the batch", self.body.len());
            let ipc::Buffer { offset, length } = buffer;
            fault(expected, format!("{length} bytes at {offset} for column '{column}'"))
        })
    }
}

/// A number that is below 2^bits if and only if all slots are: their bitwise OR.
fn largest(slots: Words<'_>) -> u32 {
    slots.iter().fold(0, |all, slot| all | u32::from_le_bytes(*slot))
}

fn all_finite(values: Words<'_>) -> bool {
    // Without an early exit the loop vectorises.
    values.iter().fold(true, |finite, value| finite & f32::from_le_bytes(*value).is_finite())
}
