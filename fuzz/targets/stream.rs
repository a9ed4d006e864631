//! Streams: any bytes, packed or not, give examples or an error; threads and small reads change nothing.

use std::io::{Cursor, Read};

use lessregret_core::{BadLines, Chunk, Error, FeatureSpace, Format, Labels, Stream, StreamSpec};

use super::copies::{Copied, copied};

const SPEC: StreamSpec = StreamSpec {
    format: Format::Auto,
    space: FeatureSpace::text(18, Labels::Any),
    bad_lines: BadLines::Skip,
    names: false,
};

/// Returns a few bytes at a time.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, scratch: &mut [u8]) -> std::io::Result<usize> {
        let count = scratch.len().min(7);
        self.0.read(&mut scratch[..count])
    }
}

fn drain(mut stream: Stream) -> (Vec<Copied>, u64, Option<Error>) {
    let (mut chunk, mut all) = (Chunk::new(None), Vec::new());
    loop {
        match stream.fill(&mut chunk, 100) {
            Ok(0) => return (all, stream.skipped(), None),
            Ok(_) => all.extend(copied(&chunk)),
            Err(error) => return (all, stream.skipped(), Some(error)),
        }
    }
}

/// Read a file.
pub fn run(bytes: &[u8]) -> bool {
    let source = || Cursor::new(bytes.to_vec());
    let whole = drain(Stream::over("data", Box::new(source()), SPEC));
    let slowly = drain(Stream::over("data", Box::new(Trickle(source())), SPEC));
    assert_eq!(whole.2.is_some(), slowly.2.is_some());
    let common = whole.0.len().min(slowly.0.len());
    assert_eq!(whole.0[..common], slowly.0[..common]);
    // How many examples of a damaged packed file come before the error depends on the reads.
    assert!(whole.2.is_some() || (whole.0.len(), whole.1) == (slowly.0.len(), slowly.1));
    whole.2.is_none() && !whole.0.is_empty()
}

/// Text, and the same packed by zstd.
pub fn seeds() -> Vec<Vec<u8>> {
    let texts = super::two_stage::seeds().into_iter().map(|seed| seed[1..].to_vec());
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    texts
        .flat_map(|text| [ruzstd::encoding::compress_to_vec(&text[..], level), text])
        .chain([b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x33T0\xb42\xe0\x02\0\xc9'M\x9b\x06\0\0\0".to_vec()])
        .collect()
}
