//! What a stream hands out, and when it stops.

use std::io::Cursor;

use super::*;
use crate::loss::Labels;
use crate::read::source::LONGEST_LINE;

const SPEC: StreamSpec = spec(BadLines::Stop);
const SKIP: StreamSpec = spec(BadLines::Skip);

const fn spec(bad_lines: BadLines) -> StreamSpec {
    let space = FeatureSpace::text(18, Labels::Binary);
    StreamSpec { format: Format::Auto, space, bad_lines, names: false }
}

fn over(text: &[u8], spec: StreamSpec) -> Stream {
    Stream::over("data", Box::new(Cursor::new(text.to_vec())), spec)
}

fn files(texts: &[&[u8]]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(i, text): (usize, &&[u8])| {
        let path = folder.path().join(format!("{i}.txt"));
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let names = texts.iter().enumerate().map(write).collect();
    (folder, names)
}

fn message(outcome: Result<usize>) -> String {
    outcome.unwrap_err().to_string()
}

#[test]
fn chunks_hold_at_most_the_limit() {
    let mut stream = over(b"1 1:1\n\n0 2:1\n# note\n1 3:1\n", SPEC);
    let mut chunk = Chunk::new(Some(9));
    assert_eq!(stream.fill(&mut chunk, 2), Ok(2));
    assert_eq!(chunk.example(1).slots, [2, 9]);
    assert_eq!(stream.fill(&mut chunk, 2), Ok(1));
    assert_eq!(stream.fill(&mut chunk, 2), Ok(0));
    assert_eq!(stream.fill(&mut chunk, 2), Ok(0));
    assert!(chunk.is_empty());
}

#[test]
fn zeros_may_be_required_in_the_middle_of_a_block() {
    let mut stream = over(b"1 1:0 2:1\n0 1:0\n1 1:0\n", SPEC);
    for (zeros, slots) in [(true, &[1, 2][..]), (false, &[]), (true, &[1])] {
        let requirements = Requirements { zeros, ..Requirements::default() };
        let mut chunk = Chunk::for_requirements(requirements);
        assert_eq!(stream.fill(&mut chunk, 1), Ok(1));
        assert_eq!(chunk.example(0).slots, slots);
    }
}

#[test]
fn chunks_hold_about_the_full_number_of_features() {
    let line = "1 |a b c d e f g h i j k l m n o p q\n";
    let mut stream = over(line.repeat(10_000).as_bytes(), SPEC);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, usize::MAX), Ok(FULL / 16));
    assert_eq!(stream.fill(&mut chunk, 0), Ok(1));
}

#[test]
fn the_rest_of_a_block_has_no_limit() {
    let mut stream = over("1 |a b c d\n".repeat(100).as_bytes(), SPEC);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 1), Ok(1));
    assert_eq!(stream.fill(&mut chunk, usize::MAX), Ok(99));
}

#[test]
fn chunks_hold_about_a_megabyte_of_tags() {
    let line = format!("1 '{} |a b\n", "x".repeat(FULL_OF_TAGS / 4));
    let mut stream = over(line.repeat(10).as_bytes(), SPEC);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 100), Ok(4));
}

#[test]
fn examples_before_a_bad_line_come_first_and_the_error_stays() {
    let mut stream = over(b"1 1:1\n0 2:1\n1 x\n1 3:1\n", SPEC);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 10), Ok(2));
    for _ in 0..2 {
        let told = "data:3:3: expected an index, 0 or more, found 'x'";
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
        assert!(chunk.is_empty());
    }
}

#[test]
fn bad_lines_are_skipped_and_counted() {
    let text = b"1 1:1\n2 2:1\n1 x\n1 3:1\n\xff\xfe\n";
    let mut stream = over(text, SKIP);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 10), Ok(2));
    assert_eq!(stream.skipped(), 3);
    let first = stream.first_skipped().unwrap().to_string();
    assert_eq!(first, "data:2:1: expected a label 1, 0 or -1, found '2'");
    assert_eq!(stream.fill(&mut chunk, 10), Ok(0));
    assert_eq!(stream.bytes_read(), text.len() as u64);
}

#[test]
fn a_line_too_long_is_one_bad_line() {
    let long = [b"1 ".repeat(LONGEST_LINE), b"\n1 2:1\n".to_vec()].concat();
    let mut chunk = Chunk::new(None);
    let told = "data:1: expected a line of at most 16 MiB, found a longer one";
    assert_eq!(message(over(&long, SPEC).fill(&mut chunk, 9)), told);
    let mut stream = over(&long, SKIP);
    assert_eq!(stream.fill(&mut chunk, 9), Ok(1));
    assert_eq!(stream.skipped(), 1);
}

#[test]
fn files_follow_each_other_each_with_its_own_lines_and_negatives() {
    let (_folder, names) = files(&[b"0 1:1", b"", b"\xef\xbb\xbf-1 2:1\r\n", b"\n1 3:1\n2 1:1"]);
    let mut stream = Stream::open(names.clone(), SPEC);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 10), Ok(3));
    let told = format!("{}:3:1: expected a label 1, 0 or -1, found '2'", names[3]);
    assert_eq!(message(stream.fill(&mut chunk, 10)), told);
    assert_eq!(stream.bytes_read(), 5 + 11 + 12);
}

#[test]
fn a_format_found_holds_for_all_files() {
    let (_folder, names) = files(&[b"1 |a b\n", b"1 1:1\n"]);
    let mut stream = Stream::open(names.clone(), SPEC);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 10), Ok(1));
    let told = format!("{}:1:6: expected '|' before the features, found end of line", names[1]);
    assert_eq!(message(stream.fill(&mut chunk, 10)), told);
}

#[test]
fn a_missing_file_is_met_when_its_turn_comes() {
    let (_folder, mut names) = files(&[b"1 1:1\n"]);
    names.push("no/such.txt".to_owned());
    // Skipping applies to lines, not to files.
    let mut stream = Stream::open(names, SKIP);
    let mut chunk = Chunk::new(None);
    assert_eq!(stream.fill(&mut chunk, 10), Ok(1));
    let told = "no/such.txt: expected a file that can be read, found no such file";
    assert_eq!(message(stream.fill(&mut chunk, 10)), told);
    assert_eq!(stream.skipped(), 0);
}

#[test]
fn nothing_is_not_an_error() {
    let mut chunk = Chunk::new(None);
    for text in ["", "\n\n", "# note\n", "\u{feff}"] {
        assert_eq!(over(text.as_bytes(), SPEC).fill(&mut chunk, 1), Ok(0));
    }
    assert_eq!(Stream::open(Vec::<String>::new(), SPEC).fill(&mut chunk, 1), Ok(0));
}

#[test]
fn impossible_bits_are_refused() {
    for bits in [0, 32, 64, u32::MAX] {
        let outcome =
            over(b"", StreamSpec { space: FeatureSpace::text(bits, Labels::Binary), ..SPEC })
                .fill(&mut Chunk::new(None), 1);
        assert_eq!(message(outcome), format!("bits must be from 1 to 31, found {bits}"));
    }
}
