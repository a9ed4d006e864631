//! Does any input make the readers panic, lose a line or invent one?

mod copies;
mod trickle;

use std::io::{Cursor, Write};

use copies::{Copied, copied};
use flate2::Compression;
use flate2::write::GzEncoder;
use lessregret_core::{BadLines, FeatureSpace, Stream, StreamSpec};
use lessregret_core::{Chunk, Error};
use lessregret_core::{Format, Labels};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use trickle::Trickle;

/// The whole output of a stream.
#[derive(Debug, PartialEq)]
struct Outcome {
    examples: Vec<Copied>,
    skipped: u64,
    error: Option<Error>,
}

fn drain(mut stream: Stream, limit: usize) -> Outcome {
    let mut chunk = Chunk::new(None);
    let mut examples = Vec::new();
    loop {
        match stream.fill(&mut chunk, limit) {
            Ok(0) => break,
            Ok(count) => {
                assert!(count <= limit && count == chunk.len());
                examples.extend(copied(&chunk));
            }
            Err(error) => {
                assert_eq!(stream.fill(&mut chunk, limit), Err(error.clone()));
                return Outcome { examples, skipped: stream.skipped(), error: Some(error) };
            }
        }
    }
    assert_eq!(stream.first_skipped().is_some(), stream.skipped() > 0);
    Outcome { examples, skipped: stream.skipped(), error: None }
}

fn read(bytes: &[u8], step: usize, limit: usize, spec: &StreamSpec) -> Outcome {
    let source = Trickle(Cursor::new(bytes.to_vec()), step);
    drain(Stream::over("data", Box::new(source), spec.clone()), limit)
}

/// The number of lines that are neither blank nor, in svmlight, only a comment. The first of them decides the
/// format.
fn lines_with_content(bytes: &[u8], format: Format) -> u64 {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut format = format;
    let mut count = 0;
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first = line.iter().find(|byte| !b" \t".contains(byte));
        let nul = line.contains(&0);
        if format == Format::Auto && first.is_some() && !nul {
            format = Format::of(line);
        }
        let comment = format == Format::Svmlight && first == Some(&b'#') && !nul;
        count += u64::from(first.is_some() && !comment);
    }
    count
}

fn specs() -> impl Strategy<Value = StreamSpec> {
    let formats = prop_oneof![Just(Format::Auto), Just(Format::Svmlight), Just(Format::Vw)];
    let labels = prop_oneof![Just(Labels::Binary), Just(Labels::Real), Just(Labels::Any)];
    let bad_lines = prop_oneof![Just(BadLines::Stop), Just(BadLines::Skip)];
    (formats, labels, 1..=31u32, bad_lines, any::<bool>()).prop_map(
        |(format, labels, bits, bad_lines, names)| StreamSpec {
            format,
            space: FeatureSpace::text(bits, labels),
            bad_lines,
            names,
        },
    )
}

/// Bytes with a meaning in the grammars, and some unexpected ones.
fn peculiar_bytes() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::sample::select(b"  \t\r\n\n|||::'#019.-+eaq\x00\xef\xbb\xbf\xff".to_vec());
    prop::collection::vec(bytes, 0..200)
}

fn svmlight_lines() -> impl Strategy<Value = String> {
    let line =
        (prop::sample::select(vec!["1", "-1", "+1", "1.0"]), "( [0-9]{1,3}:[0-9.]{1,4}){0,6}");
    prop::collection::vec(line, 1..20).prop_map(|lines| join(&lines))
}

fn vw_lines() -> impl Strategy<Value = String> {
    let head = prop::sample::select(vec!["1", "-1 2", "1 0.5 'tag", "-1 'é", "1 tag"]);
    let line = (head, "( \\|[a-z]{0,2}(:2)?( [a-z0-9^]{1,3}(:[0-9]{1,2})?){0,4}){1,3}");
    prop::collection::vec(line, 1..20).prop_map(|lines| join(&lines))
}

fn join(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(head, rest)| format!("{head}{rest}\n")).collect()
}

/// Good files with a few bytes replaced.
fn mutated_files() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![svmlight_lines(), vw_lines()];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (text, changes).prop_map(|(text, changes)| {
        let mut bytes = text.into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes
    })
}

fn any_files() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![prop::collection::vec(any::<u8>(), 0..300), peculiar_bytes(), mutated_files(),]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

/// Compressed files are detected by their first bytes and have no lines to count.
fn is_text(bytes: &[u8]) -> bool {
    let packed: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zX", b"PK\x03\x04"];
    !packed.iter().any(|magic| bytes.starts_with(magic))
}

proptest! {
    // A fixed seed, so that failures are reproducible; the fuzz targets go farther.
    #![proptest_config(ProptestConfig {
        cases: 512,
        rng_seed: RngSeed::Fixed(2010),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn blocks_and_limits_change_nothing(bytes in any_files(), spec in specs(), step in 1..9usize) {
        let whole = read(&bytes, usize::MAX, usize::MAX, &spec);
        prop_assert_eq!(&read(&bytes, step, 3, &spec), &whole);
        prop_assert_eq!(&read(&bytes, 1, 1, &spec), &whole);
    }

    #[test]
    fn packing_changes_nothing(bytes in any_files(), spec in specs(), cut in 0..300usize) {
        prop_assume!(is_text(&bytes));
        let plain = read(&bytes, usize::MAX, 100, &spec);
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let packed = [gzip(first), gzip(second)].concat();
        prop_assert_eq!(read(&packed, 5, 100, &spec), plain);
    }

    #[test]
    fn skipping_accounts_for_every_line(bytes in any_files(), spec in specs()) {
        prop_assume!(is_text(&bytes));
        let spec = StreamSpec { bad_lines: BadLines::Skip, ..spec };
        let outcome = read(&bytes, usize::MAX, 100, &spec);
        let accounted = outcome.examples.len() as u64 + outcome.skipped;
        prop_assert_eq!(outcome.error, None);
        prop_assert_eq!(accounted, lines_with_content(&bytes, spec.format));
    }

    #[test]
    fn stopping_gives_the_examples_before_the_first_skipped(bytes in any_files(), spec in specs()) {
        let stop = read(&bytes, 7, 2, &StreamSpec { bad_lines: BadLines::Stop, ..spec.clone() });
        let skip = read(&bytes, 7, 2, &StreamSpec { bad_lines: BadLines::Skip, ..spec.clone() });
        prop_assert!(skip.examples.starts_with(&stop.examples));
        prop_assert_eq!(stop.error.is_some(), skip.skipped > 0 || skip.error.is_some());
    }

    #[test]
    fn damaged_gzip_never_panics(text in svmlight_lines(), place: prop::sample::Index, byte: u8) {
        let spec = StreamSpec {
            format: Format::Svmlight,
            space: FeatureSpace::text(18, Labels::Real),
            bad_lines: BadLines::Skip,
            names: false,
        };
        let mut packed = gzip(text.as_bytes());
        let place = place.index(packed.len());
        packed[place] ^= byte;
        read(&packed, 64, 10, &spec);
        let cut = read(&packed[..place], 64, 10, &spec);
        prop_assert_eq!(cut.error.is_some() || place < 2, true);
    }
}
