//! Tables: the fast reader gives the examples and the errors of the strict one, with every instruction set, and the
//! stream gives them, too, however its bytes arrive.
//!
//! The first byte of the input chooses the settings; the rest is the text, without a header.

use lessregret_core::{BadLines, Dialect, InstructionSet, Labels, Requirements};

use super::table_differential::{Table, fast, streamed, strict};

/// Read a table by all readers.
pub fn run(bytes: &[u8]) -> bool {
    let Some((&settings, text)) = bytes.split_first() else { return false };
    let choice = |from: u8, among: u8| usize::from(settings / from % among);
    let table = Table {
        dialect: Dialect { delimiter: [b',', b'\t'][choice(1, 2)], header: false },
        labels: [Labels::Binary, Labels::Any][choice(2, 2)],
        bad_lines: [BadLines::Stop, BadLines::Skip][choice(4, 2)],
        easy: choice(8, 2) == 0,
        order: choice(16, 2) == 0,
    };
    let required = Requirements { zeros: choice(32, 2) == 1, ..Requirements::default() };
    let mut expected = strict(text, &table, &required);
    let count = expected.bad.len() as u64;
    expected.bad.truncate(1);
    for path in InstructionSet::available() {
        let found = fast(path, text, &table, &required);
        assert_eq!((&found.0, found.1), (&expected, count), "{path:?}");
    }
    // Other first bytes would be unpacked, or be Arrow's.
    if text.first().is_some_and(u8::is_ascii_lowercase) {
        let step = usize::from(settings) % 9 + 1;
        assert_eq!(streamed(text, &table, &required, [step, 3, 1]), (expected.clone(), count));
    }
    !expected.examples.is_empty()
}

/// Rows of all kinds, with both delimiters.
pub fn seeds() -> Vec<Vec<u8>> {
    let with = |settings: u8, text: &str| [&[settings], text.as_bytes()].concat();
    let tabs = |text: &str| text.replace(',', "\t");
    let both = |text: &&str| {
        [0, 5, 14, 20, 55]
            .map(|k| (k, k % 2 == 1))
            .map(|(k, is_tab)| with(k, &if is_tab { tabs(text) } else { (*text).to_owned() }))
    };
    TEXTS.iter().flat_map(both).collect()
}

const TEXTS: &[&str] = &[
    "a,1.5,7,yes,t1,2\nb,-3,x,no,,1\n\nanother long value of a category,1e-3,?,yes,t,0.5\r\n",
    "\"a,b\",\"2\",\"c\nd\",\"no\",\"tag\",1\n\"x\"\"y\",,\"\",yes,,1\n",
    "a\"b,1,c,yes,t,1\nc,1,d,no,t\nd,1,e,no,t,1,2\n\"e\" ,1,f,no,t,1\nf,1,g,no,t,1\n",
    "a,1,2026-11-17,1,t,1\n b ,\t2 ,x,0,t,1\nc,3,y,\"1.0\",t,1\nd,4,z,no,\"t\n",
];
