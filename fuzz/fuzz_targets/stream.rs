#![no_main]

use std::io::Cursor;

use lessregret_core::Chunk;
use lessregret_core::{BadLines, FeatureSpace, Stream, StreamSpec};
use lessregret_core::{Format, Labels};
use libfuzzer_sys::fuzz_target;

const SPEC: StreamSpec = StreamSpec {
    format: Format::Auto,
    space: FeatureSpace::text(18, Labels::Ignored),
    bad_lines: BadLines::Skip,
    names: false,
};

fuzz_target!(|bytes: &[u8]| {
    let mut stream = Stream::over("data", Box::new(Cursor::new(bytes.to_vec())), SPEC);
    let mut chunk = Chunk::new(None);
    while stream.fill(&mut chunk, 100).is_ok_and(|count| count > 0) {}
});
