//! Writes a model file.

use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::checks::check_header;
use super::{BLOCK, FORMAT, Header, METADATA_KEY, NO_CHECKSUM, checksum_offset};
use crate::atomic_file::AtomicFile;
use crate::error::{Error, Result};
use crate::example::{Moments, Names};
use crate::learn::model::Inspect;
use crate::learn::slim::SlimModel;
use crate::rule::Interval;
use crate::spec::{Scale, Spec};

type IoResult<T> = std::io::Result<T>;
type WriteTensor<'a> = Box<dyn Fn(&mut dyn Write) -> IoResult<()> + 'a>;

/// One tensor: its name, type and length, and the function that writes it.
struct Column<'a> {
    name: &'a str,
    dtype: Dtype,
    length: usize,
    /// The number of entries of each row: one, or one for each lane.
    width: usize,
    write: WriteTensor<'a>,
}

/// The content of a model file to be written.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    /// The spec of the learner.
    pub spec: &'a Spec,
    /// The learner, or the weights of a slim model.
    pub model: &'a dyn Inspect,
    /// The number of bad lines skipped so far.
    pub skipped: u64,
    /// The names of the features, if they were kept.
    pub names: Option<&'a Names>,
    /// Whether to store only the weights.
    pub slim: bool,
}

/// Write the model to `path`. Afterwards the file is complete, or unchanged if there was an error.
pub fn save(path: &Path, snapshot: Snapshot<'_>) -> Result<()> {
    let written = AtomicFile::create(path).and_then(|mut file| {
        write(&mut file.bytes, snapshot)?;
        file.finish()
    });
    written.map_err(|error| Error::ModelFile {
        file: path.display().to_string(),
        reason: format!("cannot be written: {error}"),
    })
}

/// The model as bytes, identical to the content of a file.
pub fn to_bytes(snapshot: Snapshot<'_>) -> IoResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    write(&mut bytes, snapshot)?;
    Ok(bytes.into_inner())
}

fn write<W: Write + Seek>(out: &mut W, snapshot: Snapshot<'_>) -> IoResult<()> {
    let model = snapshot.model;
    let stored = if snapshot.slim { model.needed() } else { model.touched() };
    let weighted = if derives_weights(&snapshot) { model.weighted() } else { Vec::new() };
    let columns = columns(&snapshot, &stored, &weighted);
    let head = header_bytes(&header(&snapshot, &stored), &columns)?;
    let mut counted = Checksummed::new(&mut *out);
    counted.write_all(&head)?;
    for column in &columns {
        (column.write)(&mut counted)?;
    }
    let checksum = counted.hasher.finalize();
    let offset = checksum_offset(&head).ok_or_else(|| invalid("no place for the checksum"))?;
    out.seek(SeekFrom::Start(offset as u64))?;
    write!(out, "{checksum:08x}")?;
    out.flush()
}

/// Whether the weights, which are not a field of the slot, are written in addition to the slots.
fn derives_weights(snapshot: &Snapshot<'_>) -> bool {
    !snapshot.slim && !snapshot.model.fields().contains(&"weight")
}

fn header(snapshot: &Snapshot<'_>, stored: &[u32]) -> Header {
    let Snapshot { spec, model, skipped, names, slim } = *snapshot;
    Header {
        checksum: NO_CHECKSUM.into(),
        format: FORMAT,
        writer: env!("CARGO_PKG_VERSION").into(),
        spec: spec.clone(),
        tally: *model.tally(),
        skipped,
        touched: stored.len() as u64,
        names: names.is_some(),
        collisions: names.map_or(0, |names| collisions(names, stored)),
        slim,
        boxes: !slim && model.intervals().is_some(),
        shared: if slim { SlimModel::no_shared() } else { model.shared() },
        labels: model.scales().labels().map(|labels| labels.statistics()),
    }
}

/// The number of stored slots with two names: those of other slots are not in the file.
fn collisions(names: &Names, stored: &[u32]) -> u64 {
    stored.iter().filter(|&&slot| names.collided(slot)).count() as u64
}

/// The tensors in the order of their alignment, as safetensors requires.
fn columns<'a>(snapshot: &Snapshot<'a>, stored: &'a [u32], weighted: &'a [u32]) -> Vec<Column<'a>> {
    let model = snapshot.model;
    let mut columns = Vec::new();
    if snapshot.spec.certify && !snapshot.slim {
        let copy = |block: &[u32], sums: &mut Vec<f64>| model.copy_gradient_sums(block, sums);
        let sums = column(stored, "gradient_sum", Dtype::F64, f64::to_le_bytes, copy);
        columns.push(Column { width: model.width(), ..sums });
    }
    columns.extend(moment_columns(snapshot, stored));
    columns.push(slot_column(stored, "slot"));
    if snapshot.slim {
        columns.push(weight_column(stored, model));
    } else {
        columns.extend(field_columns(stored, model));
        columns.extend(box_columns(model));
    }
    if has_scales(snapshot, stored) {
        columns.push(column(stored, "scale", Dtype::F32, f32::to_le_bytes, |block, scales| {
            scales.extend(block.iter().map(|&slot| model.scales().of(slot as usize)));
        }));
    }
    if derives_weights(snapshot) {
        columns.push(slot_column(weighted, "weight_slot"));
        columns.push(weight_column(weighted, model));
    }
    columns.extend(snapshot.names.into_iter().flat_map(|names| name_columns(stored, names)));
    columns
}

/// Whether the scales are written. Those of a cap are left out if all are 1, as they are at the start.
fn has_scales(snapshot: &Snapshot<'_>, stored: &[u32]) -> bool {
    let scales = snapshot.model.scales();
    match snapshot.spec.space.scale {
        Scale::None | Scale::Standard => false,
        Scale::Cap => stored.iter().any(|&slot| scales.of(slot as usize) != 1.0),
        Scale::Full => true,
    }
}

/// The statistics of the values of each slot, if there are any.
fn moment_columns<'a>(snapshot: &Snapshot<'a>, stored: &'a [u32]) -> Vec<Column<'a>> {
    let (model, rounds) = (snapshot.model, snapshot.model.tally().rounds);
    let moments = move |slot: u32| model.scales().moments(slot, rounds);
    if stored.iter().all(|&slot| moments(slot).count == 0.0) {
        return Vec::new();
    }
    let field = |name, field: fn(Moments) -> f64| {
        column(stored, name, Dtype::F64, f64::to_le_bytes, move |block, numbers| {
            numbers.extend(block.iter().map(|&slot| field(moments(slot))));
        })
    };
    vec![
        field("count", |moments| moments.count),
        field("mean", |moments| moments.mean),
        field("squares", |moments| moments.squares),
    ]
}

fn slot_column<'a>(slots: &'a [u32], name: &'a str) -> Column<'a> {
    column(slots, name, Dtype::U32, u32::to_le_bytes, |block, numbers| {
        numbers.extend_from_slice(block);
    })
}

fn weight_column<'a>(slots: &'a [u32], model: &'a dyn Inspect) -> Column<'a> {
    let weights = column(slots, "weight", Dtype::F32, f32::to_le_bytes, |block, weights| {
        model.copy_weights(block, weights);
    });
    Column { width: model.width(), ..weights }
}

fn field_columns<'a>(
    slots: &'a [u32],
    model: &'a dyn Inspect,
) -> impl Iterator<Item = Column<'a>> + 'a {
    model.fields().iter().enumerate().map(move |(field, name)| {
        let copy = move |block: &[u32], floats: &mut Vec<f32>| {
            model.copy_field(field, block, floats);
        };
        Column { width: model.lanes(), ..column(slots, name, Dtype::F32, f32::to_le_bytes, copy) }
    })
}

fn box_columns(model: &dyn Inspect) -> Vec<Column<'_>> {
    let Some(intervals) = model.intervals() else {
        return Vec::new();
    };
    let ends = |name, end: fn(&Interval) -> f32| {
        column(intervals, name, Dtype::F32, f32::to_le_bytes, move |block, ends| {
            ends.extend(block.iter().map(end));
        })
    };
    vec![ends("low", |interval| interval.low), ends("high", |interval| interval.high)]
}

/// A column with a number for each row, such as a slot; `copy` appends the numbers of some rows.
fn column<'a, R, T: Copy + 'a, const SIZE: usize>(
    rows: &'a [R],
    name: &'a str,
    dtype: Dtype,
    convert: fn(T) -> [u8; SIZE],
    copy: impl Fn(&[R], &mut Vec<T>) + 'a,
) -> Column<'a> {
    let write = move |out: &mut dyn Write| {
        let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
        rows.chunks(BLOCK).try_for_each(|block| {
            numbers.clear();
            copy(block, &mut numbers);
            bytes.clear();
            bytes.extend(numbers.iter().map(|&number| convert(number)));
            out.write_all(bytes.as_flattened())
        })
    };
    Column { name, dtype, length: rows.len(), width: 1, write: Box::new(write) }
}

fn name_columns<'a>(touched: &'a [u32], names: &'a Names) -> Vec<Column<'a>> {
    let name = move |slot: u32| names.get(slot).unwrap_or(b"");
    let length = touched.iter().map(|&slot| name(slot).len() + 1).sum();
    vec![
        Column {
            name: "names",
            dtype: Dtype::U8,
            length,
            width: 1,
            write: Box::new(move |out| {
                let mut lines = touched.iter().flat_map(|&slot| [name(slot), b"\n"]);
                lines.try_for_each(|line| out.write_all(line))
            }),
        },
        column(touched, "collided", Dtype::U8, u8::to_le_bytes, |block, collided| {
            collided.extend(block.iter().map(|&slot| u8::from(names.collided(slot))));
        }),
    ]
}

fn header_bytes(header: &Header, columns: &[Column<'_>]) -> IoResult<Vec<u8>> {
    let text = serde_json::to_string(header)?;
    // JSON has no infinity: such a sum would be written as null and the file could not be read.
    let read = serde_json::from_str::<Header>(&text);
    let read = read.map_err(|_| invalid("a sum is not a finite number"))?;
    check_header(&read).map_err(|refusal| invalid(&refusal.of_file("the model").to_string()))?;
    let metadata = [(METADATA_KEY.to_string(), text)];
    let mut end = 0;
    let tensors = columns.iter().map(|column| {
        let start = end;
        end += column.length * column.width * column.dtype.bitsize() / 8;
        let shape = match column.width {
            1 => vec![column.length],
            width => vec![column.length, width],
        };
        let info = TensorInfo { dtype: column.dtype, shape, data_offsets: (start, end) };
        (column.name.to_string(), info)
    });
    let metadata = Metadata::new(Some(metadata.into()), tensors.collect())
        .map_err(|error| invalid(&error.to_string()))?;
    let mut json = serde_json::to_vec(&metadata)?;
    // The body must start at a multiple of eight; spaces after the JSON are part of the format.
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut json);
    Ok(bytes)
}

fn invalid(reason: &str) -> std::io::Error {
    std::io::Error::other(reason.to_string())
}

/// A writer that computes the checksum of the bytes written.
struct Checksummed<'a, W: Write> {
    out: &'a mut W,
    hasher: crc32fast::Hasher,
}

impl<'a, W: Write> Checksummed<'a, W> {
    fn new(out: &'a mut W) -> Self {
        let hasher = crc32fast::Hasher::new();
        Checksummed { out, hasher }
    }
}

impl<W: Write> Write for Checksummed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> IoResult<()> {
        self.out.flush()
    }
}
