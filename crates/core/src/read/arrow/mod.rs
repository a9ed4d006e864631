//! Examples as an Arrow file: text is converted once, so that later passes need not parse it again.
//!
//! ```text
//! file    = "ARROW1" padding schema {batch} end footer length "ARROW1"      Arrow's IPC file format
//! message = 0xFFFFFFFF length metadata body                                 a schema or a batch
//! ```
//!
//! There are five columns: `label` (float32, null if the example has none), `importance` (float32), `slots`
//! (list of uint32), `values` (list of float32) and `tag` (binary). A row is a finished example without the
//! intercept. The number of bits of a slot is in the schema's metadata.
//!
//! The file is read sequentially, so that it can come from a pipe. The footer, which exists for random
//! access, is only used to check that no batch is missing. A batch has a CRC-32 in the metadata of its
//! message. A file written by another program has no such metadata and is read without this check.
//!
//! - [`messages`]: cuts a file into batches;
//! - [`schema`]: the columns, and the check that a file has them;
//! - [`batch`]: reads a batch into a chunk;
//! - [`mod@write`]: writes chunks as batches.
//!
//! The metadata are flatbuffers. Every access to them is checked, and so is every offset that they contain:
//! invalid bytes cause an error, never undefined behaviour.

pub mod batch;
pub mod messages;
pub mod schema;
pub mod write;

use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus;

use crate::read::format::Fault;

/// The magic bytes at the start of a file. Without the padding they also end it.
pub const MAGIC: &[u8; 8] = b"ARROW1\0\0";
const MAGIC_AT_END: &[u8] = b"ARROW1";
/// The first bytes of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Messages and buffers begin at multiples of this many bytes.
const ALIGNMENT: usize = 8;
/// The key of a batch's CRC-32 in the metadata of its message.
const CHECKSUM_KEY: &str = "lessregret.crc32";

/// A fault of bytes that are not one line, so that there is no column to name.
fn fault(expected: impl Into<String>, found: impl Into<String>) -> Fault {
    Fault { column: 0, expected: expected.into(), found: found.into() }
}

fn unsound(error: planus::Error) -> Fault {
    fault("sound metadata of an Arrow file", format!("damage ({})", error.error_kind))
}

/// The CRC-32 of a batch: of its bits, its layout and its body.
fn checksum(bits: u32, batch: &ipc::RecordBatch, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    let mut add = |number: i64| hasher.update(&number.to_le_bytes());
    add(bits.into());
    add(batch.length);
    for node in batch.nodes.iter().flatten() {
        add(node.length);
        add(node.null_count);
    }
    for buffer in batch.buffers.iter().flatten() {
        add(buffer.offset);
        add(buffer.length);
    }
    hasher.update(body);
    hasher.finalize()
}

/// The value of `key`, if it is there.
fn value_of<'a>(
    pairs: Option<planus::Vector<'a, planus::Result<ipc::KeyValueRef<'a>>>>,
    key: &str,
) -> planus::Result<Option<&'a str>> {
    for pair in pairs.into_iter().flatten() {
        let pair = pair?;
        if pair.key()? == Some(key) {
            return pair.value();
        }
    }
    Ok(None)
}

fn pair(key: &str, value: impl Into<String>) -> ipc::KeyValue {
    ipc::KeyValue { key: Some(key.to_owned()), value: Some(value.into()) }
}
