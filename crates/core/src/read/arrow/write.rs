//! Writes chunks as the batches of an Arrow file.
//!
//! Cost: a chunk is copied once, into the body of its batch. Memory is that of one batch, plus 24 bytes for
//! every batch before it, because the footer lists the position of each.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus::{Builder, WriteAsOffset};

use super::schema::schema;
use super::{ALIGNMENT, CHECKSUM_KEY, CONTINUATION, MAGIC, MAGIC_AT_END, checksum, pair};
use crate::atomic_file::AtomicFile;
use crate::error::{Error, Result};
use crate::example::{Chunk, Requirements};
use crate::read::stream::{FULL, Stream};
use crate::spec::Namespaces;

/// The most features in a batch. A stream can hand over such a batch without copying, even with an intercept.
const LARGEST: usize = FULL / 8 * 7;

/// An Arrow file that is being written. It appears under its name when it is finished.
pub struct Writer {
    file: AtomicFile,
    bits: u32,
    namespaces: Option<Arc<Namespaces>>,
    position: u64,
    batches: Vec<ipc::Block>,
    examples: u64,
    features: u64,
}

impl Writer {
    /// Begin the file that will have the name `path`, for chunks with 2^bits slots, no intercept, and all namespaces.
    pub fn create(path: &Path, bits: u32) -> io::Result<Writer> {
        Writer::create_for(path, bits, None)
    }

    /// Begin the file that will have the name `path`, for chunks with 2^bits slots, no intercept, and these namespaces.
    pub fn create_for(
        path: &Path,
        bits: u32,
        namespaces: Option<Arc<Namespaces>>,
    ) -> io::Result<Writer> {
        let file = AtomicFile::create(path)?;
        let (batches, position) = (Vec::new(), 0);
        let header = schema(bits, namespaces.as_deref());
        let (examples, features) = (0, 0);
        let mut writer = Writer { file, bits, namespaces, position, batches, examples, features };
        writer.put(MAGIC)?;
        let header = ipc::MessageHeader::Schema(Box::new(header));
        writer.put_message(message(header, 0, None), &[])?;
        Ok(writer)
    }

    /// The number of examples written.
    pub fn examples(&self) -> u64 {
        self.examples
    }

    /// The number of features written.
    pub fn features(&self) -> u64 {
        self.features
    }

    /// Write the next examples of a stream, at most `limit`. Returns their number, or the error of writing.
    pub fn take(&mut self, stream: &mut Stream, limit: usize) -> Result<io::Result<usize>> {
        if stream.space().bits()? != self.bits {
            let (own, other) = (self.bits, stream.space().bits()?);
            return Err(Error::Spec(format!(
                "the Arrow file has bits={own} and the stream bits={other}; open the stream with \
                 bits={own}"
            )));
        }
        if stream.space().namespaces != self.namespaces {
            return Err(Error::Spec(
                "the Arrow file was begun for a stream with other namespaces or crosses; give that \
                 stream, or begin another file"
                    .to_owned(),
            ));
        }
        // A file holds what the text says: whether zeros are values is for its reader to decide.
        let mut chunk =
            Chunk::for_requirements(Requirements { zeros: true, ..Requirements::default() });
        let count = stream.fill(&mut chunk, limit)?;
        if !chunk.bases().is_empty() {
            return Err(Error::Spec(
                "an Arrow file of examples has no place for base margins (the third number of a line of Vowpal \
                 Wabbit's text); learn from the text itself"
                    .to_owned(),
            ));
        }
        Ok(self.write(&chunk).map(|()| count))
    }

    /// Write the examples of a chunk.
    pub fn write(&mut self, chunk: &Chunk) -> io::Result<()> {
        let size = |row: usize| chunk.features_before(row) + row;
        let whole = size(chunk.len());
        // Parts of about equal size: a small last part would have to be copied when it is read.
        let part = whole.div_ceil(whole.div_ceil(LARGEST).max(1));
        let mut start = 0;
        for end in 1..=chunk.len() {
            if size(end) - size(start) >= part || end == chunk.len() {
                self.write_batch(chunk, start..end)?;
                start = end;
            }
        }
        Ok(())
    }

    /// Finish the file and give it its name; returns its length in bytes.
    pub fn finish(mut self) -> io::Result<u64> {
        self.put(&CONTINUATION)?;
        self.put(&[0; 4])?;
        let footer = ipc::Footer {
            version: ipc::MetadataVersion::V5,
            schema: Some(Box::new(schema(self.bits, self.namespaces.as_deref()))),
            dictionaries: None,
            record_batches: Some(std::mem::take(&mut self.batches)),
            custom_metadata: None,
        };
        let footer = flatbuffer(&footer);
        self.put(&footer)?;
        self.put(&(footer.len() as u32).to_le_bytes())?;
        self.put(MAGIC_AT_END)?;
        self.file.finish()?;
        Ok(self.position)
    }

    fn write_batch(&mut self, chunk: &Chunk, rows: Range<usize>) -> io::Result<()> {
        let mut body = Body::default();
        body.add_all(chunk, rows.clone());
        let Body { bytes, nodes, buffers } = body;
        let batch = ipc::RecordBatch {
            length: rows.len() as i64,
            nodes: Some(nodes),
            buffers: Some(buffers),
            compression: None,
            variadic_buffer_counts: None,
        };
        let checksum = format!("{:08x}", checksum(self.bits, &batch, &bytes));
        let header = ipc::MessageHeader::RecordBatch(Box::new(batch));
        let offset = self.position as i64;
        let message = message(header, bytes.len(), Some(checksum));
        let meta_data_length = self.put_message(message, &bytes)? as i32;
        self.batches.push(ipc::Block { offset, meta_data_length, body_length: bytes.len() as i64 });
        self.examples += rows.len() as u64;
        self.features +=
            (chunk.features_before(rows.end) - chunk.features_before(rows.start)) as u64;
        Ok(())
    }

    /// Write a message and its body; returns the length of everything before the body.
    fn put_message(&mut self, message: ipc::Message, body: &[u8]) -> io::Result<usize> {
        let mut metadata = flatbuffer(&message);
        metadata.resize(metadata.len().next_multiple_of(ALIGNMENT), 0);
        self.put(&CONTINUATION)?;
        self.put(&(metadata.len() as u32).to_le_bytes())?;
        self.put(&metadata)?;
        self.put(body)?;
        Ok(CONTINUATION.len() + 4 + metadata.len())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.file.bytes.write_all(bytes)
    }
}

fn message(header: ipc::MessageHeader, body: usize, checksum: Option<String>) -> ipc::Message {
    ipc::Message {
        version: ipc::MetadataVersion::V5,
        header: Some(header),
        body_length: body as i64,
        custom_metadata: checksum.map(|checksum| vec![pair(CHECKSUM_KEY, checksum)]),
    }
}

fn flatbuffer<T>(table: impl WriteAsOffset<T>) -> Vec<u8> {
    Builder::new().finish(table, None).to_vec()
}

/// The body of a batch, one column after another.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    nodes: Vec<ipc::FieldNode>,
    buffers: Vec<ipc::Buffer>,
}

impl Body {
    fn add_all(&mut self, chunk: &Chunk, rows: Range<usize>) {
        let features = chunk.features_before(rows.start)..chunk.features_before(rows.end);
        let ends = || rows.clone().map(|row| chunk.features_before(row + 1) - features.start);
        let (slots, values) = chunk.features_of(rows.clone());
        self.add_labels(rows.clone().map(|row| chunk.example(row).label));
        self.begin(rows.len());
        self.add_words(rows.clone().map(|row| chunk.example(row).importance.to_le_bytes()));
        self.begin(rows.len());
        self.add_offsets(ends());
        self.begin(features.len());
        self.add_words(slots.iter().map(|slot| slot.to_le_bytes()));
        self.begin(rows.len());
        self.add_offsets(ends());
        self.begin(features.len());
        self.add_words(values.iter().map(|value| value.to_le_bytes()));
        self.begin(rows.len());
        let tags_before = chunk.tags_before(rows.start);
        self.add_offsets(rows.clone().map(|row| chunk.tags_before(row + 1) - tags_before));
        self.add(chunk.tags_of(rows));
    }

    /// A missing label is NaN in a chunk and null in a file.
    fn add_labels(&mut self, labels: impl ExactSizeIterator<Item = f32> + Clone) {
        let length = labels.len() as i64;
        let null_count = labels.clone().filter(|label| label.is_nan()).count() as i64;
        self.nodes.push(ipc::FieldNode { length, null_count });
        let mut present = vec![0u8; if null_count == 0 { 0 } else { labels.len().div_ceil(8) }];
        if null_count > 0 {
            for (row, label) in labels.clone().enumerate() {
                present[row / 8] |= u8::from(!label.is_nan()) << (row % 8);
            }
        }
        self.add(&present);
        let or_zero = |label: f32| if label.is_nan() { 0.0 } else { label };
        self.add_words(labels.map(|label| or_zero(label).to_le_bytes()));
    }

    /// Begin a column without nulls: its validity bitmap is omitted.
    fn begin(&mut self, rows: usize) {
        self.nodes.push(ipc::FieldNode { length: rows as i64, null_count: 0 });
        self.add(&[]);
    }

    fn add_offsets(&mut self, ends: impl ExactSizeIterator<Item = usize>) {
        let mut offsets = Vec::with_capacity(ends.len() + 1);
        offsets.push([0; 4]);
        offsets.extend(ends.map(|end| (end as u32).to_le_bytes()));
        self.add(offsets.as_flattened());
    }

    fn add_words(&mut self, words: impl ExactSizeIterator<Item = [u8; 4]>) {
        let words: Vec<[u8; 4]> = words.collect();
        self.add(words.as_flattened());
    }

    fn add(&mut self, bytes: &[u8]) {
        let (offset, length) = (self.bytes.len() as i64, bytes.len() as i64);
        self.buffers.push(ipc::Buffer { offset, length });
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}
