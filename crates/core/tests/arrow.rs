//! Round trips through Arrow files, and damaged files: does any input cause a panic or a wrong example?
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod copies;
#[path = "../../../fuzz/targets/unchecked_arrow.rs"]
mod unchecked_arrow;

use std::io::Cursor;
use std::sync::LazyLock;

use copies::{Copied, copied};
use lessregret_core::ArrowWriter as Writer;
use lessregret_core::{BadLines, FeatureSpace, Stream, StreamSpec};
use lessregret_core::{Chunk, Requirements, Result};
use lessregret_core::{Format, Labels};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use unchecked_arrow::without_checksums;

const BITS: u32 = 20;

const SPEC: StreamSpec = StreamSpec {
    format: Format::Auto,
    space: FeatureSpace::text(BITS, Labels::Any),
    bad_lines: BadLines::Stop,
    names: false,
};

fn read(bytes: &[u8], limit: usize, threads: usize) -> Result<Vec<Copied>> {
    let source = Box::new(Cursor::new(bytes.to_vec()));
    let mut stream = Stream::over("data", source, SPEC).threads(threads);
    let mut chunk = Chunk::new(None);
    let mut all = Vec::new();
    while stream.fill(&mut chunk, limit)? > 0 {
        all.extend(copied(&chunk));
    }
    Ok(all)
}

fn written(chunks: &[Chunk]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("examples.arrow");
    let mut writer = Writer::create(&path, BITS).unwrap();
    for chunk in chunks {
        writer.write(chunk).unwrap();
    }
    let length = writer.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, length);
    bytes
}

/// Examples of `features` features each, some without label, tag or features.
fn chunk(examples: u32, features: u32) -> Chunk {
    let mut chunk = Chunk::new(None);
    for i in 0..examples {
        for k in 0..if i % 7 == 3 { 0 } else { features } {
            chunk.push((i * 31 + k * 977) % (1 << BITS), 0.5 + k as f32);
        }
        let label = if i % 5 == 0 { f32::NAN } else { i as f32 };
        let tag = vec![b'x'; (i % 3) as usize];
        chunk.finish(label, (i % 4) as f32, &tag);
    }
    chunk
}

#[test]
fn zeros_are_kept_for_those_who_require_them() {
    let requirements = Requirements { zeros: true, ..Requirements::default() };
    let mut chunk = Chunk::for_requirements(requirements.clone());
    chunk.extend(&[3, 5, 8], &[0.0, 2.0, -0.0]);
    chunk.finish(1.0, 1.0, b"");
    let bytes = written(&[chunk]);
    for (zeros, slots) in [(true, &[3, 5, 8][..]), (false, &[5])] {
        let mut stream = Stream::over("data", Box::new(Cursor::new(bytes.clone())), SPEC);
        let mut found = Chunk::for_requirements(Requirements { zeros, ..requirements.clone() });
        assert_eq!(stream.fill(&mut found, 9), Ok(1));
        assert_eq!(found.example(0).slots, slots);
    }
}

#[test]
fn files_without_checksums_are_read() {
    let bytes = written(&[chunk(500, 10)]);
    let without = without_checksums(&bytes);
    assert!(without.len() < bytes.len());
    assert_eq!(read(&without, 100, 1), read(&bytes, 100, 1));
}

#[test]
fn what_goes_in_comes_out() {
    let chunks = [chunk(1, 0), chunk(9, 3), chunk(2000, 40), Chunk::new(None), chunk(3, 50_000)];
    let bytes = written(&chunks);
    let expected: Vec<Copied> = chunks.iter().flat_map(copied).collect();
    for (limit, threads) in [(1, 1), (100, 3), (usize::MAX, 2)] {
        assert!(read(&bytes, limit, threads) == Ok(expected.clone()), "{limit} {threads}");
    }
}

#[test]
fn no_examples_are_a_file_too() {
    assert_eq!(read(&written(&[]), 10, 1), Ok(vec![]));
}

#[test]
fn packed_by_zstd_it_is_the_same() {
    let bytes = written(&[chunk(500, 10)]);
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(&bytes[..], level);
    assert_eq!(read(&packed, 100, 2), read(&bytes, 100, 1));
}

#[test]
fn a_file_that_is_not_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(&folder.path().join("examples.arrow"), 20).unwrap();
    writer.write(&chunk(5, 5)).unwrap();
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The checksum is removed first, so that the checks after it are tested.
    #[test]
    fn damage_behind_the_checksum_is_told_too(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        static WHOLE: LazyLock<Vec<u8>> =
            LazyLock::new(|| without_checksums(&written(&[chunk(20, 3)])));
        let mut bytes = WHOLE.clone();
        for (place, byte) in places {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(examples) = read(&bytes, 100, 1) {
            for (_, importance, _, features) in examples {
                prop_assert!(f32::from_bits(importance) >= 0.0);
                for (k, &(slot, value)) in features.iter().enumerate() {
                    prop_assert!(slot < 1 << BITS);
                    prop_assert!(f32::from_bits(value).is_finite() && f32::from_bits(value) != 0.0);
                    prop_assert!(features[..k].iter().all(|&(other, _)| other != slot));
                }
            }
        }
    }
}
