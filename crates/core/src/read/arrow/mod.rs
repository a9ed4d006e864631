//! Examples as an Arrow file: what text becomes once, so that later passes need not read it again.
//!
//! ```text
//! file    = "ARROW1" padding schema {batch} end footer length "ARROW1"      Arrow's IPC file format
//! message = 0xFFFFFFFF length metadata body                                 a schema or a batch
//! ```
//!
//! One column each for `label` (float32, null where there is none), `importance` (float32), `slots`
//! (list of uint32), `values` (list of float32) and `tag` (binary); a row is a finished example without the
//! intercept. The slots are those of the number of bits in the schema's metadata.
//!
//! The file is read from front to back, as a pipe gives it. What stands in the footer for readers that jump
//! is only used to see that no batch is missing. A batch carries a CRC-32 in the metadata of its message; a
//! file that another program wrote has no such metadata, and is read without.
//!
//! - [`messages`]: a file cut into batches;
//! - [`schema`]: the columns, and whether a file has them;
//! - [`batch`]: a batch read into a chunk;
//! - [`write`]: chunks written as batches.
//!
//! The metadata are flatbuffers. Every access to them is checked, and so is every place that they name: bytes
//! can be wrong, they cannot hurt.

pub mod batch;
pub mod messages;
pub mod schema;
pub mod write;

use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus;

use crate::read::format::Fault;

/// How a file begins and, without the padding, ends.
pub const MAGIC: &[u8; 8] = b"ARROW1\0\0";
const MAGIC_AT_END: &[u8] = b"ARROW1";
/// How a message begins.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Messages and buffers begin at multiples of this.
const ALIGNMENT: usize = 8;
/// Under this name the CRC-32 of a batch stands in the metadata of its message.
const CHECKSUM_KEY: &str = "lessregret.crc32";

/// What is wrong with bytes that are not one line: there is no column to name.
fn fault(expected: impl Into<String>, found: impl Into<String>) -> Fault {
    Fault { column: 0, expected: expected.into(), found: found.into() }
}

fn unsound(error: planus::Error) -> Fault {
    fault("sound metadata of an Arrow file", format!("damage ({})", error.error_kind))
}

/// The CRC-32 of a batch: of its bits, its layout and its bytes.
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

/// The value that stands beside `key`, if there is one.
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
