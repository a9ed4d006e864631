//! Is the fast reader of tables, on any number of threads, bit-identical to the strict one?

mod copies;
#[path = "../../../fuzz/targets/table_differential.rs"]
mod table_differential;

use lessregret_core::{BadLines, Dialect, InstructionSet, Labels, Requirements};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use table_differential::{Table, fast, streamed, strict};

fn tables() -> impl Strategy<Value = Table> {
    let delimiters = prop_oneof![3 => Just(b','), 1 => Just(b'\t'), 1 => Just(b' ')];
    let labels = prop_oneof![Just(Labels::Binary), Just(Labels::Any)];
    let bad_lines = prop_oneof![1 => Just(BadLines::Stop), 3 => Just(BadLines::Skip)];
    (delimiters, labels, bad_lines, any::<bool>(), any::<bool>()).prop_map(
        |(delimiter, labels, bad_lines, easy, order)| {
            let dialect = Dialect { delimiter, header: false };
            Table { dialect, labels, bad_lines, easy, order }
        },
    )
}

fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "-?[0-9]{1,5}(\\.[0-9]{1,6})?",
        1 => "(NA|\\?|-9|true|FALSE| 1|2 |nan|inf|x|1e39|1e-3|0|-0|)",
        1 => "[0-9]{10,20}(\\.[0-9]{1,5})?",
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{1,6}",
        2 => "[a-z ]{8,24}",
        1 => "(é|日本| a|a |\u{1}|a\u{1}|a\tb| \u{1} |NA||a'b|a=b)",
    ]
}

fn quoted(text: String, quotes: u8, newline: bool) -> String {
    let text = if newline { format!("{text}\n\"x\r\n,") } else { text };
    match quotes {
        0..=1 => format!("\"{}\"", text.replace('"', "\"\"")),
        _ if newline => format!("\"{}\"", text.replace('"', "\"\"")),
        2 => format!("\"{text}"),
        3 => format!("{text}\"x"),
        4 => format!("\"{text}\" "),
        _ => text,
    }
}

fn cell(words: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (words, 0..60u8, 0..40u8).prop_map(|(text, quotes, newline)| quoted(text, quotes, newline == 0))
}

fn row() -> impl Strategy<Value = Vec<String>> {
    let label = prop_oneof![5 => Just("yes".to_owned()), 5 => Just("no".to_owned()), 1 => words()];
    let weight = prop_oneof![8 => Just("1".to_owned()), 1 => numbers()];
    let cells = (cell(words()), cell(numbers()), cell(words()), cell(label), cell(words()), weight);
    let width = prop_oneof![30 => Just(6usize), 1 => 0..9usize];
    (cells, width).prop_map(|((a, b, c, d, e, f), width)| {
        let mut row = vec![a, b, c, d, e, f];
        row.resize(width, "x".to_owned());
        row
    })
}

fn files() -> impl Strategy<Value = (Table, Vec<u8>)> {
    let end =
        prop_oneof![8 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\n\n"), 1 => Just("\r\r\n")];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let rows = prop::collection::vec((row(), end), 0..30);
    (tables(), rows, changes, any::<bool>()).prop_map(|(table, rows, changes, cut)| {
        let delimiter = (table.dialect.delimiter as char).to_string();
        let text: String = rows.iter().map(|(row, end)| row.join(&delimiter) + end).collect();
        let mut bytes = text.into_bytes();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        if cut && bytes.ends_with(b"\n") {
            bytes.pop();
        }
        (table, bytes)
    })
}

fn is_text(bytes: &[u8]) -> bool {
    let packed: [&[u8]; 5] =
        [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zX", b"PK\x03\x04", b"ARROW1"];
    !packed.iter().any(|magic| bytes.starts_with(magic))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        rng_seed: RngSeed::Fixed(2010),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_path_reads_as_the_strict_reader((table, bytes) in files(), zeros in any::<bool>()) {
        let required = Requirements { zeros, ..Requirements::default() };
        let mut expected = strict(&bytes, &table, &required);
        let count = expected.bad.len() as u64;
        expected.bad.truncate(1);
        for path in InstructionSet::available() {
            let found = fast(path, &bytes, &table, &required);
            prop_assert_eq!(&found.0, &expected);
            prop_assert_eq!(found.1, count);
        }
    }

    #[test]
    fn blocks_limits_and_threads_change_nothing(
        (table, bytes) in files(), step in 1..200usize, limit in 1..9usize,
    ) {
        prop_assume!(is_text(&bytes));
        let required = Requirements::default();
        let mut expected = strict(&bytes, &table, &required);
        let count = expected.bad.len() as u64;
        expected.bad.truncate(1);
        for threads in [1, 3] {
            for (step, limit) in [(step, limit), (usize::MAX, usize::MAX)] {
                let found = streamed(&bytes, &table, &required, [step, limit, threads]);
                prop_assert_eq!(&found.0, &expected);
                prop_assert_eq!(found.1, count);
            }
        }
    }
}

#[test]
fn many_rows_are_read_by_helpers_as_by_one_reader() {
    let dialect = Dialect { delimiter: b',', header: false };
    let (labels, bad_lines) = (Labels::Binary, BadLines::Skip);
    let table = Table { dialect, labels, bad_lines, easy: true, order: true };
    let row = |k: u32| {
        let word = k.wrapping_mul(2_654_435_761) >> 8;
        match k % 97 {
            0 => format!("\"a\nb {word}\",1,\"x\"\"y\",yes,,1\n"),
            1 => format!("{word},bad,x,no,,1\n"),
            2 => format!("\"{word}, stray\" ,1,x,no,,1\n"),
            _ => format!(
                "{word:x},{}.5,category {},{},t{k},1\n",
                word % 77,
                word % 9,
                ["no", "yes"][k as usize % 2]
            ),
        }
    };
    let text: String = (0..60_000).map(row).collect();
    let mut expected = strict(text.as_bytes(), &table, &Requirements::default());
    let count = expected.bad.len() as u64;
    expected.bad.truncate(1);
    for threads in [1, 2, 4] {
        let found = streamed(
            text.as_bytes(),
            &table,
            &Requirements::default(),
            [usize::MAX, 5000, threads],
        );
        assert!(found.0 == expected, "{threads} threads");
        assert_eq!(found.1, count);
    }
}
