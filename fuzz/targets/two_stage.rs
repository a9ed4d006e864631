//! Text: the fast readers give the examples and the errors of the strict one, with every instruction set.
//!
//! The first byte of the input chooses the settings; the rest is the text.

use lessregret_core::{
    BadLines, FeatureSpace, Format, InstructionSet, Labels, Requirements, StreamSpec,
};

use super::differential::{Outcome, fast, strict};

/// Read a text by all readers.
pub fn run(bytes: &[u8]) -> bool {
    let Some((&settings, text)) = bytes.split_first() else { return false };
    let choice = |from: u8, among: u8| usize::from(settings / from % among);
    let labels = [Labels::Binary, Labels::Real, Labels::Any][choice(3, 3)];
    let spec = StreamSpec {
        format: [Format::Svmlight, Format::Vw, Format::Auto][choice(1, 3)],
        space: FeatureSpace::text([18, 31, 5][choice(36, 3)], labels),
        bad_lines: [BadLines::Stop, BadLines::Skip][choice(9, 2)],
        names: false,
    };
    let (intercept, zeros) = ([None, Some(1 << 31)][choice(18, 2)], choice(108, 2) == 1);
    let required = Requirements { intercept, zeros, index: None };
    let Outcome { examples, mut bad } = strict(text, &spec, &required);
    let count = bad.len();
    bad.truncate(1);
    let expected = (Outcome { examples, bad }, count);
    for path in InstructionSet::available() {
        assert_eq!(fast(path, text, &spec, &required), expected, "{path:?}");
    }
    !expected.0.examples.is_empty()
}

/// Plain lines, and lines with every turn of the grammars.
pub fn seeds() -> Vec<Vec<u8>> {
    let texts = SVMLIGHT.iter().map(|text| (0, text)).chain(VW.iter().map(|text| (1, text)));
    let seed =
        |(format, text): (u8, &&str), rest: u8| [&[format + 3 * rest], text.as_bytes()].concat();
    texts.flat_map(|text| [0, 1, 3, 7, 36].map(|rest| seed(text, rest))).collect()
}

const SVMLIGHT: &[&str] = &[
    "1 1:0.5 2:1 17:-0.25 3000:12 4:0.125 5:1e-3\n-1 2:0.0625 7:7\n1 1:1\n",
    "+1 qid:3 1:1 # note\n0 18446744073709551615:2\n\n# only a note\n1\t4:.5\r\n-1 5:5.\n",
    "1 1:0 2:0.0 3:1 2:0\n-1 4:-0 5:1 5:-1\n",
    "1 1:0.12345678 2:0.1 3:0.2 4:0.3 5:0.4 6:0.5 7:0.6 8:0.7 9:0.8 10:0.9\n1 1:16777217 2:1e38\n",
];
const VW: &[&str] = &[
    "1 |a b c:2 d:-0.5 |user age:3 new\n-1 2 'tag |x y\n0 0.5 tag| z\n",
    "1 |a b:0 c d:-0.0 |z:0 e f:0\n-1 | b:1 b:-1\n",
    "1 1.5 'id|ns:2.5 word:1 other:0.25 123:4 |empty\n-1 |a :3 :4 b\n",
    "1 |f longer_than_eight_bytes^x another:0.5 \u{e9}:1 12345678901:2 a=b=c\n1 | x x x:2\n",
];
