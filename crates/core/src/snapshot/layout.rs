//! Where everything lies in a model file, and its checksum.

use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::checks::check_header;
use super::json::check_keys;
use super::refusal::{Reading, Refusal, damaged, foreign};
use super::{BLOCK, FORMAT, Header, METADATA_KEY, NO_CHECKSUM, checksum_offset};

/// The largest header. Headers of this program are far smaller; a larger length means another kind of file.
const MAX_HEADER: u64 = 1 << 20;

/// The layout of the file.
pub(super) struct Layout {
    head: Vec<u8>,
    metadata: Metadata,
    /// The metadata.
    pub header: Header,
}

impl Layout {
    /// Read the header and check it against the length of the file.
    pub fn read<F: Read + Seek>(file: &mut F) -> Reading<Layout> {
        let size = file
            .seek(SeekFrom::End(0))
            .map_err(|error| Refusal::File(format!("cannot be read, as a pipe cannot: {error}")))?;
        seek(file, 0)?;
        if size < 8 {
            return Err(foreign("it has fewer than 8 bytes"));
        }
        let mut head = vec![0; 8];
        fill(file, 0, &mut head)?;
        let length = u64::from_le_bytes(head[..8].try_into().unwrap_or_default());
        if length > MAX_HEADER || length + 8 > size {
            return Err(foreign("it does not begin like a safetensors file"));
        }
        head.resize(8 + length as usize, 0);
        fill(file, 8, &mut head[8..])?;
        let metadata: Metadata = serde_json::from_slice(&head[8..])
            .map_err(|_| foreign("its safetensors header cannot be understood"))?;
        let header = parse_header(&metadata)?;
        check_keys(&head[8..])
            .map_err(|error| damaged(&format!("its safetensors header is wrong ({error})")))?;
        let (found, expected) = (size - head.len() as u64, metadata.data_len() as u64);
        if found != expected {
            return Err(damaged(&format!(
                "it holds {found} bytes of data where its header says {expected}"
            )));
        }
        check_header(&header)?;
        Ok(Layout { head, metadata, header })
    }

    /// Whether the tensor `name` exists.
    pub fn has(&self, name: &str) -> bool {
        self.metadata.info(name).is_some()
    }

    /// Check that there is no other tensor than these.
    pub fn has_only(&self, known: &[&str]) -> Reading<()> {
        match self.metadata.offset_keys().iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(damaged(&format!("the tensor '{name}' is no part of this model"))),
        }
    }

    /// The offset and length of a list, after checking its type and length.
    pub fn place(&self, name: &str, dtype: Dtype, length: Option<usize>) -> Reading<(u64, usize)> {
        let info = self.info(name)?;
        let [found] = info.shape[..] else {
            return Err(damaged(&format!("the tensor '{name}' is not a list")));
        };
        self.placed(name, dtype, &[length.unwrap_or(found)])
    }

    /// The offset and length of a tensor with an entry for each touched slot and lane, after checking its
    /// type and shape.
    pub fn place_lanes(
        &self,
        name: &str,
        dtype: Dtype,
        touched: usize,
        lanes: usize,
    ) -> Reading<(u64, usize)> {
        match lanes {
            1 => self.place(name, dtype, Some(touched)),
            _ => self.placed(name, dtype, &[touched, lanes]),
        }
    }

    fn placed(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Reading<(u64, usize)> {
        let info = self.info(name)?;
        if info.dtype != dtype || info.shape != shape {
            let (kind, found) = (info.dtype, &info.shape);
            return Err(damaged(&format!(
                "the tensor '{name}' is {kind:?} {found:?}, expected {dtype:?} {shape:?}"
            )));
        }
        Ok(((self.head.len() + info.data_offsets.0) as u64, shape.iter().product()))
    }

    fn info(&self, name: &str) -> Reading<&TensorInfo> {
        let info = self.metadata.info(name);
        info.ok_or_else(|| damaged(&format!("the tensor '{name}' is missing")))
    }

    /// Check that the checksum of the whole file is the one in the header.
    pub fn verify<F: Read + Seek>(&self, file: &mut F) -> Reading<()> {
        let offset = checksum_offset(&self.head).ok_or_else(|| foreign("it has no checksum"))?;
        let mut head = self.head.clone();
        head[offset..offset + NO_CHECKSUM.len()].copy_from_slice(NO_CHECKSUM.as_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head);
        let (mut at, end) = (self.head.len(), self.head.len() + self.metadata.data_len());
        seek(file, at as u64)?;
        let mut block = vec![0; 1 << 16];
        while at < end {
            let piece = &mut block[..(end - at).min(1 << 16)];
            fill(file, at as u64, piece)?;
            hasher.update(piece);
            at += piece.len();
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
    let entries = metadata.metadata().as_ref();
    let text = entries
        .and_then(|entries| entries.get(METADATA_KEY))
        .ok_or_else(|| foreign("its safetensors header says nothing of lessregret"))?;
    if entries.is_some_and(|entries| entries.len() > 1) {
        return Err(damaged("its '__metadata__' has more entries than 'lessregret'"));
    }
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|_| damaged("its metadata cannot be understood"))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(FORMAT) => {}
        Some(version) => {
            return Err(Refusal::File(format!(
                "has format version {version}; this lessregret reads version {FORMAT}. \
                 Use the lessregret that wrote it"
            )));
        }
        None => return Err(damaged("its metadata have no format version")),
    }
    let unclear = |error| damaged(&format!("its metadata cannot be understood ({error})"));
    check_keys(text.as_bytes()).map_err(unclear)?;
    let header: Header = serde_json::from_value(value).map_err(unclear)?;
    header.spec.check()?;
    Ok(header)
}

fn seek<F: Seek>(file: &mut F, offset: u64) -> Reading<()> {
    file.seek(SeekFrom::Start(offset)).map(|_| ()).map_err(|error| unreadable(offset, &error))
}

/// Read exactly these bytes from `offset` on, which is the position of the file.
fn fill<F: Read>(file: &mut F, offset: u64, bytes: &mut [u8]) -> Reading<()> {
    file.read_exact(bytes).map_err(|error| unreadable(offset, &error))
}

fn unreadable(offset: u64, error: &std::io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::UnexpectedEof => {
            damaged(&format!("it was cut while it was read, after byte {offset}"))
        }
        _ => Refusal::File(format!("cannot be read after byte {offset}: {error}")),
    }
}

/// Read a tensor block by block and pass on its entries one by one.
pub(super) fn read_list<F: Read + Seek, T: Copy, const SIZE: usize>(
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
pub(super) fn read_blocks<F: Read + Seek, T, const SIZE: usize>(
    file: &mut F,
    (offset, length): (u64, usize),
    width: usize,
    convert: impl Fn([u8; SIZE]) -> T,
    mut take: impl FnMut(Range<usize>, &[T]) -> Reading<()>,
) -> Reading<()> {
    seek(file, offset)?;
    let (mut bytes, mut entries) = (Vec::new(), Vec::new());
    // A learner that has met no class yet has rows without entries.
    let rows = length.checked_div(width).unwrap_or(0);
    for start in (0..rows).step_by(BLOCK) {
        let end = rows.min(start + BLOCK);
        bytes.resize((end - start) * width * SIZE, 0);
        fill(file, offset + (start * width * SIZE) as u64, &mut bytes)?;
        entries.clear();
        entries.extend(bytes.as_chunks().0.iter().map(|&entry| convert(entry)));
        take(start..end, &entries)?;
    }
    Ok(())
}
