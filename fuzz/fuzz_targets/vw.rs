#![no_main]

use lessregret_core::Chunk;
use lessregret_core::{Format, Labels, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let mut reader = Reader::new(Format::Vw, Labels::Real, 18, true);
    let _ = reader.read(line, &mut Chunk::new(None));
});
