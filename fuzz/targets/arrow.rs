//! Arrow files: any bytes give examples that are sound, or an error.

use std::io::Cursor;

use lessregret_core::{
    ArrowWriter, BadLines, Chunk, FeatureSpace, Format, Labels, Stream, StreamSpec,
};

use super::copies::copied;
use super::unchecked_arrow::without_checksums;

const BITS: u32 = 8;

/// Read a file.
pub fn run(bytes: &[u8]) -> bool {
    let spec = StreamSpec {
        format: Format::Auto,
        space: FeatureSpace::text(BITS, Labels::Any),
        bad_lines: BadLines::Stop,
        names: false,
    };
    let mut stream = Stream::over("data", Box::new(Cursor::new(bytes.to_vec())), spec);
    let mut chunk = Chunk::new(None);
    loop {
        match stream.fill(&mut chunk, 100) {
            Ok(0) => return bytes.starts_with(b"ARROW1"),
            Ok(_) => check(&chunk),
            Err(_) => return false,
        }
    }
}

fn check(chunk: &Chunk) {
    for (_, _, _, features) in copied(chunk) {
        let mut slots: Vec<u32> = features.iter().map(|&(slot, _)| slot).collect();
        slots.sort_unstable();
        assert!(slots.windows(2).all(|two| two[0] < two[1]), "a slot stands twice");
        assert!(slots.last().is_none_or(|&last| last < 1 << BITS), "a slot is beyond the table");
    }
}

/// Small files, with and without the checksums of their batches.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for examples in [0, 1, 9] {
        let mut chunk = Chunk::new(None);
        for k in 0..examples {
            chunk.extend(&[k % 5, 100 + k], &[0.5, -2.0]);
            let label = if k % 3 == 0 { f32::NAN } else { k as f32 };
            chunk.finish(label, 1.0 + k as f32, &b"tag"[..k as usize % 4]);
        }
        let file = written(&chunk);
        seeds.push(without_checksums(&file));
        seeds.push(file);
    }
    seeds
}

fn written(chunk: &Chunk) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("lessregret-seed-{}.arrow", std::process::id()));
    let mut writer = ArrowWriter::create(&path, BITS).expect("a file of the seeds");
    writer.write(chunk).expect("a file of the seeds");
    writer.finish().expect("a file of the seeds");
    let bytes = std::fs::read(&path).expect("a file of the seeds");
    std::fs::remove_file(&path).expect("a file of the seeds");
    bytes
}
