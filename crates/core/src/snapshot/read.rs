//! Reads a model file. Nothing in it is trusted.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata};

use super::{BLOCK, FORMAT, Header, METADATA_KEY, NO_CHECKSUM, checksum_offset};
use crate::error::{Error, Result};
use crate::example::Names;
use crate::example::Scales;
use crate::learn::model::{AnyModel, Model};
use crate::learn::slim::SlimModel;
use crate::rule::Interval;
use crate::spec::Scale;

/// The largest header. Headers of this program are far smaller; a larger length means another kind of file.
const MAX_HEADER: u64 = 1 << 20;

/// A model that was read from a file.
pub struct Loaded {
    /// The metadata.
    pub header: Header,
    /// The learner, or the weights of a slim file.
    pub model: AnyModel,
    /// The names, if they were kept.
    pub names: Option<Names>,
}

/// Read the metadata of a model file and not its slots. The checksum is not verified.
pub fn read_header(path: &Path) -> Result<Header> {
    open(path, |file| Ok(Layout::read(file)?.header))
}

/// Read a model file.
pub fn load(path: &Path) -> Result<Loaded> {
    open(path, read)
}

/// Read a model from the bytes of a model file; `name` is used in errors.
pub fn load_bytes(bytes: &[u8], name: &str) -> Result<Loaded> {
    read(&mut Cursor::new(bytes)).map_err(|reason| model_file(name, reason))
}

fn open<T>(path: &Path, read: impl Fn(&mut BufReader<File>) -> Reading<T>) -> Result<T> {
    let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    let file = file.map_err(|error| format!("cannot be opened: {error}"));
    file.and_then(|file| read(&mut BufReader::with_capacity(1 << 20, file)))
        .map_err(|reason| model_file(&path.display().to_string(), reason))
}

fn model_file(file: &str, reason: String) -> Error {
    Error::ModelFile { file: file.to_string(), reason }
}

/// Inside this module an error is its reason; the public functions add the file's name.
type Reading<T> = std::result::Result<T, String>;

fn foreign(what: &str) -> String {
    format!("is not a model of lessregret: {what}")
}

fn damaged(what: &str) -> String {
    format!("is damaged: {what}. Use a backup, or train again")
}

/// The layout of the file.
struct Layout {
    head: Vec<u8>,
    metadata: Metadata,
    header: Header,
}

impl Layout {
    fn read<F: Read + Seek>(file: &mut F) -> Reading<Layout> {
        let size = file.seek(SeekFrom::End(0));
        let size = size.map_err(|error| format!("cannot be read, as a pipe cannot: {error}"))?;
        file.rewind().map_err(|error| damaged(&error.to_string()))?;
        let mut head = vec![0; 8];
        file.read_exact(&mut head).map_err(|_| foreign("it has fewer than 8 bytes"))?;
        let length = u64::from_le_bytes(head[..8].try_into().unwrap_or_default());
        if length > MAX_HEADER || length + 8 > size {
            return Err(foreign("it does not begin like a safetensors file"));
        }
        head.resize(8 + length as usize, 0);
        file.read_exact(&mut head[8..]).map_err(|_| damaged("the header cannot be read"))?;
        let metadata: Metadata = serde_json::from_slice(&head[8..])
            .map_err(|_| foreign("its safetensors header cannot be understood"))?;
        let header = parse_header(&metadata)?;
        let (found, expected) = (size - head.len() as u64, metadata.data_len() as u64);
        if found != expected {
            return Err(damaged(&format!(
                "it holds {found} bytes of data where its header says {expected}"
            )));
        }
        Ok(Layout { head, metadata, header })
    }

    /// Whether the tensor `name` exists.
    fn has(&self, name: &str) -> bool {
        self.metadata.info(name).is_some()
    }

    /// The offset and length of a tensor, after checking its type and length.
    fn place(&self, name: &str, dtype: Dtype, length: Option<usize>) -> Reading<(u64, usize)> {
        let info = self.metadata.info(name);
        let info = info.ok_or_else(|| damaged(&format!("the tensor '{name}' is missing")))?;
        let [found] = info.shape[..] else {
            return Err(damaged(&format!("the tensor '{name}' is not a list")));
        };
        if info.dtype != dtype || length.is_some_and(|length| length != found) {
            return Err(damaged(&format!("the tensor '{name}' has the wrong type or length")));
        }
        Ok(((self.head.len() + info.data_offsets.0) as u64, found))
    }

    /// The offset of a tensor with an entry for each touched slot and lane, after checking its type and
    /// shape.
    fn place_lanes(
        &self,
        name: &str,
        dtype: Dtype,
        touched: usize,
        lanes: usize,
    ) -> Reading<(u64, usize)> {
        if lanes == 1 {
            return self.place(name, dtype, Some(touched));
        }
        let info = self.metadata.info(name);
        let info = info.ok_or_else(|| damaged(&format!("the tensor '{name}' is missing")))?;
        if info.dtype != dtype || info.shape != [touched, lanes] {
            return Err(damaged(&format!("the tensor '{name}' has the wrong type or shape")));
        }
        Ok(((self.head.len() + info.data_offsets.0) as u64, touched * lanes))
    }

    /// Check that the checksum of the whole file is the one in the header.
    fn verify<F: Read + Seek>(&self, file: &mut F) -> Reading<()> {
        let offset = checksum_offset(&self.head).ok_or_else(|| foreign("it has no checksum"))?;
        let mut head = self.head.clone();
        head[offset..offset + NO_CHECKSUM.len()].copy_from_slice(NO_CHECKSUM.as_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head);
        seek(file, self.head.len() as u64)?;
        let mut block = vec![0; 1 << 16];
        loop {
            match file.read(&mut block) {
                Ok(0) => break,
                Ok(read) => hasher.update(&block[..read]),
                Err(error) => return Err(damaged(&error.to_string())),
            }
        }
        let found = format!("{:08x}", hasher.finalize());
        if found == self.header.checksum {
            return Ok(());
        }
        Err(damaged(&format!(
            "its checksum is {found} where its header says {}",
            self.header.checksum
        )))
    }
}

fn parse_header(metadata: &Metadata) -> Reading<Header> {
    let text = metadata
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(METADATA_KEY))
        .ok_or_else(|| foreign("its safetensors header says nothing of lessregret"))?;
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|_| damaged("its metadata cannot be understood"))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(FORMAT) => {}
        Some(version) => {
            return Err(format!(
                "has format version {version}; this lessregret reads version {FORMAT}. \
                 Use the lessregret that wrote it"
            ));
        }
        None => return Err(damaged("its metadata have no format version")),
    }
    let header: Header = serde_json::from_value(value)
        .map_err(|error| damaged(&format!("its metadata cannot be understood ({error})")))?;
    header.spec.check().map_err(|error| damaged(&error.to_string()))?;
    Ok(header)
}

fn seek<F: Seek>(file: &mut F, offset: u64) -> Reading<()> {
    let sought = file.seek(SeekFrom::Start(offset));
    sought.map(|_| ()).map_err(|error| damaged(&error.to_string()))
}

fn read<F: Read + Seek>(file: &mut F) -> Reading<Loaded> {
    let layout = Layout::read(file)?;
    layout.verify(file)?;
    let slots = read_slots(file, &layout)?;
    let model = match layout.header.slim {
        true => AnyModel::Slim(read_slim(file, &layout, &slots)?),
        false => AnyModel::Learner(read_learner(file, &layout, &slots)?),
    };
    let names = read_names(file, &layout, &slots)?;
    Ok(Loaded { header: layout.header, model, names })
}

fn read_learner<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
) -> Reading<Box<dyn Model>> {
    let intervals = read_boxes(file, layout)?;
    let Header { spec, shared, tally, .. } = &layout.header;
    let mut model = spec.build(intervals).map_err(|error| damaged(&error.to_string()))?;
    model.restore(shared.clone(), *tally).map_err(|error| damaged(&error))?;
    let lanes = model.lanes();
    for (field, name) in model.fields().iter().enumerate() {
        let place = layout.place_lanes(name, Dtype::F32, slots.len(), lanes)?;
        read_blocks(file, place, lanes, f32::from_le_bytes, |rows, floats| {
            check_finite(name, floats)?;
            model.restore_field(field, &slots[rows], floats);
            Ok(())
        })?;
    }
    if spec.certify {
        let place = layout.place_lanes("gradient_sum", Dtype::F64, slots.len(), lanes)?;
        read_blocks(file, place, lanes, f64::from_le_bytes, |rows, sums| {
            check_finite("gradient_sum", sums)?;
            model.restore_gradient_sums(&slots[rows], sums);
            Ok(())
        })?;
    }
    read_scales(file, layout, slots, model.scales_mut())?;
    Ok(model)
}

fn read_slim<F: Read + Seek>(file: &mut F, layout: &Layout, slots: &[u32]) -> Reading<SlimModel> {
    let Header { spec, tally, .. } = &layout.header;
    let mut model = spec.build_slim(*tally).map_err(|error| damaged(&error.to_string()))?;
    let place = layout.place("weight", Dtype::F32, Some(slots.len()))?;
    read_blocks(file, place, 1, f32::from_le_bytes, |rows, weights| {
        check_finite("weight", weights)?;
        model.restore_weights(&slots[rows], weights);
        Ok(())
    })?;
    read_scales(file, layout, slots, model.scales_mut())?;
    Ok(model)
}

fn check_finite<T: Copy + Into<f64>>(name: &str, numbers: &[T]) -> Reading<()> {
    match numbers.iter().all(|&number| number.into().is_finite()) {
        true => Ok(()),
        false => Err(damaged(&format!("'{name}' holds a number that is not finite"))),
    }
}

fn read_scales<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
    scales: &mut Scales,
) -> Reading<()> {
    let kind = layout.header.spec.space.scale;
    if kind == Scale::None || (kind == Scale::Cap && !layout.has("scale")) {
        return Ok(());
    }
    let place = layout.place("scale", Dtype::F32, Some(slots.len()))?;
    read_list(file, place, f32::from_le_bytes, |k, largest| {
        scales.set(slots[k] as usize, largest).map_err(|error| damaged(&error))
    })
}

fn read_slots<F: Read + Seek>(file: &mut F, layout: &Layout) -> Reading<Vec<u32>> {
    let touched = layout.header.touched as usize;
    let total = layout.header.spec.space.slots();
    let place = layout.place("slot", Dtype::U32, Some(touched))?;
    let mut slots: Vec<u32> = Vec::with_capacity(place.1);
    read_list(file, place, u32::from_le_bytes, |_, slot| {
        if slot as usize >= total || slots.last().is_some_and(|&last| last >= slot) {
            return Err(damaged("its slots are not in order"));
        }
        slots.push(slot);
        Ok(())
    })?;
    Ok(slots)
}

fn read_boxes<F: Read + Seek>(file: &mut F, layout: &Layout) -> Reading<Option<Vec<Interval>>> {
    if !layout.header.boxes {
        return Ok(None);
    }
    let total = layout.header.spec.space.slots();
    let mut intervals = Vec::with_capacity(total.min(1 << 20));
    let low = layout.place("low", Dtype::F32, Some(total))?;
    read_list(file, low, f32::from_le_bytes, |_, low| {
        intervals.push(Interval { low, high: low });
        Ok(())
    })?;
    let high = layout.place("high", Dtype::F32, Some(total))?;
    read_list(file, high, f32::from_le_bytes, |k, high| {
        intervals[k].high = high;
        Ok(())
    })?;
    Ok(Some(intervals))
}

fn read_names<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
) -> Reading<Option<Names>> {
    if !layout.header.names {
        return Ok(None);
    }
    let mut text = Vec::new();
    let place = layout.place("names", Dtype::U8, None)?;
    read_list(
        file,
        place,
        |[byte]: [u8; 1]| byte,
        |_, byte| {
            text.push(byte);
            Ok(())
        },
    )?;
    let mut names = Names::default();
    let mut lines = text.split(|&byte| byte == b'\n');
    let place = layout.place("collided", Dtype::U8, Some(slots.len()))?;
    read_list(
        file,
        place,
        |[byte]: [u8; 1]| byte,
        |k, collided| {
            let name = lines.next().ok_or_else(|| damaged("names are missing"))?;
            if !name.is_empty() {
                names.insert(slots[k], name, collided != 0);
            }
            Ok(())
        },
    )?;
    Ok(Some(names))
}

/// Read a tensor block by block and pass on its entries one by one.
fn read_list<F: Read + Seek, T: Copy, const SIZE: usize>(
    file: &mut F,
    place: (u64, usize),
    convert: impl Fn([u8; SIZE]) -> T,
    mut take: impl FnMut(usize, T) -> Reading<()>,
) -> Reading<()> {
    read_blocks(file, place, 1, convert, |mut rows, entries| {
        entries.iter().try_for_each(|&entry| rows.next().map_or(Ok(()), |k| take(k, entry)))
    })
}

/// Read a tensor whose rows have `width` entries, and pass on the entries of [`BLOCK`] rows at a time.
fn read_blocks<F: Read + Seek, T, const SIZE: usize>(
    file: &mut F,
    (offset, length): (u64, usize),
    width: usize,
    convert: impl Fn([u8; SIZE]) -> T,
    mut take: impl FnMut(Range<usize>, &[T]) -> Reading<()>,
) -> Reading<()> {
    seek(file, offset)?;
    let (mut bytes, mut entries) = (Vec::new(), Vec::new());
    let rows = length / width;
    for start in (0..rows).step_by(BLOCK) {
        let end = rows.min(start + BLOCK);
        bytes.resize((end - start) * width * SIZE, 0);
        file.read_exact(&mut bytes).map_err(|error| damaged(&error.to_string()))?;
        entries.clear();
        entries.extend(bytes.as_chunks().0.iter().map(|&entry| convert(entry)));
        take(start..end, &entries)?;
    }
    Ok(())
}
