//! Arrow files without the checksums of their batches, as other programs write them.

use polars_arrow_format::ipc::planus::{self, ReadAsRoot};
use polars_arrow_format::ipc::{Message, MessageRef};

/// The file `bytes` without the metadata of its messages.
pub fn without_checksums(bytes: &[u8]) -> Vec<u8> {
    let (start, mut rest) = bytes.split_at(8);
    let mut all = start.to_vec();
    while let Some(length) = rest[4..].first_chunk().map(|word| u32::from_le_bytes(*word) as usize)
        && length > 0
    {
        let message = MessageRef::read_as_root(&rest[8..8 + length]).expect("a message of ours");
        let mut message = Message::try_from(message).expect("a message of ours");
        message.custom_metadata = None;
        let mut metadata = planus::Builder::new().finish(&message, None).to_vec();
        metadata.resize(metadata.len().next_multiple_of(8), 0);
        let body_end = 8 + length + message.body_length as usize;
        all.extend_from_slice(&[0xff; 4]);
        all.extend_from_slice(&(metadata.len() as u32).to_le_bytes());
        all.extend_from_slice(&metadata);
        all.extend_from_slice(&rest[8 + length..body_end]);
        rest = &rest[body_end..];
    }
    all.extend_from_slice(rest);
    all
}
