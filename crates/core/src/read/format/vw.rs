//! Vowpal Wabbit's text: a label, an importance, a tag, and named features in namespaces.
//!
//! ```text
//! line    = [label [importance [base]]] [tag] block {block}
//! tag     = "'" word blank | word        the second form touches the first "|"
//! block   = "|" [name [":" weight]] {blank feature}
//! feature = name [":" value] | ":" value
//! ```
//!
//! A name is any bytes but blank, tab, `:`, `|` and `\r`. An absent value is 1, the weight of a
//! namespace multiplies its values, and a feature that comes twice counts twice. The base is what Vowpal Wabbit calls
//! the initial prediction: it is added to the margin. Slots are those of
//! Vowpal Wabbit, see [`crate::example::hash`].
//!
//! Stricter than Vowpal Wabbit, which would silently read something other than what was meant:
//! - a value that is no number (it would become part of the name);
//! - a tab between the label and the first `|` (everything before the tab would be dropped);
//! - a `\r` inside a line.
//!
//! Cost: one pass over a line and one over each name; nothing is allocated.

use std::ops::Range;

use memchr::memchr;

use super::fault::Fault;
use super::labels::LabelReader;
use super::namespaces::Uncrossable;
use super::{ReadState, is_blank, numbers, skip_blanks, word_end};
use crate::example::hash;
use crate::example::{Chunk, MOST_CROSSED, Name};
use crate::loss::Labels;

const NUMBER: &str = "a number after ':'";
const NUMBER_NOT_WORD: &str = "a number after ':' ('=' joins a word to its name)";

/// Write the example of `line` to `chunk`.
pub fn read(line: &[u8], state: &mut ReadState, chunk: &mut Chunk) -> Result<(), Fault> {
    let bar = memchr(b'|', line)
        .ok_or_else(|| Fault::at(line, line.len()..line.len(), "'|' before the features"))?;
    let head = Head::read(line, bar, &mut state.labels)?;
    state.begin_line();
    let mut at = bar;
    while at < line.len() {
        at = block(line, at + 1, state, chunk)?;
    }
    state.append_crosses(chunk).map_err(|reason| uncrossable(line, bar, reason))?;
    chunk.set_base(head.base);
    let tag = &line[head.tag];
    let tag = state.by.as_mut().map_or(tag, |by| by.behind(tag));
    chunk.finish(head.label, head.importance, tag);
    Ok(())
}

/// The fault of a line whose crosses cannot be features.
fn uncrossable(line: &[u8], bar: usize, reason: Uncrossable) -> Fault {
    match reason {
        Uncrossable::TooLarge => {
            Fault::at(line, bar..line.len(), "values whose products are within ±3.4e38")
        }
        Uncrossable::TooMany(count) => Fault {
            column: 0,
            expected: format!("at most {MOST_CROSSED} crossed features in a line"),
            found: count.to_string(),
        },
    }
}

/// Everything before the first bar: label, importance, base margin and tag.
pub struct Head {
    /// The label, or NaN if there is none.
    pub label: f32,
    /// The importance; 1 if there is none.
    pub importance: f32,
    /// The base margin; 0 if there is none.
    pub base: f32,
    /// The byte range of the tag.
    pub tag: Range<usize>,
}

impl Head {
    /// Parse everything before byte `bar` of `line`.
    pub fn read(line: &[u8], bar: usize, labels: &mut LabelReader) -> Result<Head, Fault> {
        let start = skip_blanks(&line[..bar], 0);
        refuse_tab(line, start..bar)?;
        let (end, tag) = split_tag(line, start..bar);
        let word = next_word(line, start..end);
        let label = read_label(line, word.clone(), end..bar, labels)?;
        let word = next_word(line, word.end..end);
        let importance = read_importance(line, word.clone())?;
        let word = next_word(line, word.end..end);
        let base = read_base(line, word.clone(), labels.kind())?;
        let word = next_word(line, word.end..end);
        if !word.is_empty() {
            return Err(Fault::at(line, word, "a tag or '|'"));
        }
        Ok(Head { label, importance, base, tag })
    }
}

fn refuse_tab(line: &[u8], place: Range<usize>) -> Result<(), Fault> {
    match memchr(b'\t', &line[place.clone()]) {
        Some(distance) => {
            let tab = place.start + distance;
            let expected = "a space (Vowpal Wabbit drops what stands before a tab)";
            Err(Fault::at(line, tab..tab, expected))
        }
        None => Ok(()),
    }
}

/// The end of the words before the tag, and the tag without its quote.
fn split_tag(line: &[u8], head: Range<usize>) -> (usize, Range<usize>) {
    let bytes = &line[head.clone()];
    let Some(last) = bytes.iter().rposition(|&byte| !is_blank(byte)) else {
        return (head.end, head.end..head.end);
    };
    let before = bytes[..last].iter().rposition(|&byte| is_blank(byte));
    let start = head.start + before.map_or(0, |blank| blank + 1);
    let end = head.start + last + 1;
    let quoted = line[start] == b'\'';
    if quoted || end == head.end {
        return (start, start + usize::from(quoted)..end);
    }
    (head.end, head.end..head.end)
}

/// The first word in `place`; if there is none, an empty range at its end.
fn next_word(line: &[u8], place: Range<usize>) -> Range<usize> {
    let start = skip_blanks(&line[..place.end], place.start);
    start..word_end(&line[..place.end], start)
}

/// Parse the label. `rest` is the tag and the blanks up to the bar.
fn read_label(
    line: &[u8],
    word: Range<usize>,
    rest: Range<usize>,
    labels: &mut LabelReader,
) -> Result<f32, Fault> {
    if !word.is_empty() {
        return labels.read(line, word);
    }
    let end = word_end(&line[..rest.end], rest.start);
    let touches = !rest.is_empty() && end == rest.end;
    let expected = match touches {
        true => "a label (a word that touches '|' is a tag)",
        false => "a label",
    };
    let place = rest.start..end + usize::from(touches);
    labels.absent().ok_or_else(|| Fault::at(line, place, expected))
}

fn read_importance(line: &[u8], word: Range<usize>) -> Result<f32, Fault> {
    if word.is_empty() {
        return Ok(1.0);
    }
    let expected = "an importance, 0 or more";
    let importance = numbers::float(line, word.clone(), expected)?;
    if importance < 0.0 {
        return Err(Fault::at(line, word, expected));
    }
    Ok(importance)
}

fn read_base(line: &[u8], word: Range<usize>, labels: Labels) -> Result<f32, Fault> {
    if word.is_empty() {
        return Ok(0.0);
    }
    if !labels.takes_base() {
        let expected = format!("a tag or '|' ({} have no initial prediction)", labels.plural());
        return Err(Fault::at(line, word, expected));
    }
    numbers::float(line, word, "a number as initial prediction")
}

/// The namespace whose features are being read.
struct Namespace<'a> {
    name: &'a [u8],
    hash: u64,
    weight: f32,
    nameless: u64,
    is_read: bool,
}

/// Read the block after the bar before byte `start`; returns the next bar or the end.
fn block(
    line: &[u8],
    start: usize,
    state: &mut ReadState,
    chunk: &mut Chunk,
) -> Result<usize, Fault> {
    let (mut namespace, mut at) = open_namespace(line, start)?;
    namespace.is_read = state.selects(namespace.name);
    let first = chunk.unfinished().0.len();
    loop {
        at = skip_blanks(line, at);
        if matches!(line.get(at), None | Some(b'|')) {
            state.end_block(namespace.name, first, chunk);
            return Ok(at);
        }
        at = feature(line, at, &mut namespace, state, chunk)?;
    }
}

/// The namespace at byte `start`, and its end.
fn open_namespace(line: &[u8], start: usize) -> Result<(Namespace<'_>, usize), Fault> {
    let end = name_end(line, start);
    if end == start && line.get(start) == Some(&b':') {
        return Err(Fault::at(line, start..start, "a namespace or a blank after '|'"));
    }
    let name = &line[start..end];
    let (weight, at) = number_after(line, end, NUMBER)?;
    let (hash, weight) = (hash::namespace(name), weight.unwrap_or(1.0));
    Ok((Namespace { name, hash, weight, nameless: 0, is_read: true }, at))
}

/// Read the feature at byte `start`; returns its end.
fn feature<'a>(
    line: &'a [u8],
    start: usize,
    namespace: &mut Namespace<'a>,
    state: &mut ReadState,
    chunk: &mut Chunk,
) -> Result<usize, Fault> {
    let colon = name_end(line, start);
    let (number, end) = number_after(line, colon, NUMBER_NOT_WORD)?;
    let value = namespace.weight * number.unwrap_or(1.0);
    if !value.is_finite() {
        let expected = "a value within ±3.4e38 after the namespace's weight";
        return Err(Fault::at(line, colon + 1..end, expected));
    }
    if let Some(by) = &mut state.by {
        by.note(namespace.name, &line[start..end]);
    }
    let (hash, name) = namespace.place(&line[start..colon]);
    if namespace.is_read {
        state.feature(chunk, hash, value, name);
    }
    Ok(end)
}

impl<'a> Namespace<'a> {
    /// The hash and the full name of a feature. Its own name may be empty.
    fn place(&mut self, feature: &'a [u8]) -> (u64, Name<'a>) {
        let namespace = self.name;
        if !feature.is_empty() {
            let hash = hash::feature(feature, self.hash);
            return (hash, Name::Word { namespace, feature });
        }
        let position = self.nameless;
        self.nameless += 1;
        let hash = hash::nameless(position, self.hash);
        (hash, Name::Position { namespace, position })
    }
}

fn name_end(line: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b':' | b'|' | b'\r');
    line[start..].iter().position(ends).map_or(line.len(), |length| start + length)
}

/// The number after the colon at byte `at`, if there is one, and the end of the word.
///
/// `expected` describes it in the error message if something else is there.
fn number_after(line: &[u8], at: usize, expected: &str) -> Result<(Option<f32>, usize), Fault> {
    match line.get(at) {
        Some(b':') => {
            let end = value_end(line, at + 1);
            let expected = if end == at + 1 { NUMBER } else { expected };
            Ok((Some(numbers::float(line, at + 1..end, expected)?), end))
        }
        Some(b'\r') => Err(Fault::at(line, at..at, "a blank, ':' or '|'")),
        _ => Ok((None, at)),
    }
}

fn value_end(line: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'|');
    line[start..].iter().position(ends).map_or(line.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Format, Labels, Namespaces, Reader};
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Read {
        label: f32,
        importance: f32,
        base: f32,
        tag: String,
        features: Vec<(u32, f32)>,
    }

    fn read(labels: Labels, line: &str) -> Result<Read, String> {
        let mut chunk = Chunk::new(None);
        let mut reader = Reader::new(Format::Vw, labels, 18, false);
        match reader.read(line.as_bytes(), &mut chunk) {
            Ok(some) => assert!(some),
            Err(Fault { column, expected, found }) => {
                return Err(format!("{column}: expected {expected}, found {found}"));
            }
        }
        let example = chunk.example(0);
        let features = example.slots.iter().copied().zip(example.values.iter().copied());
        Ok(Read {
            label: example.label,
            importance: example.importance,
            base: example.base,
            tag: String::from_utf8_lossy(chunk.tag(0)).into_owned(),
            features: features.collect(),
        })
    }

    fn features(line: &str) -> Vec<(u32, f32)> {
        read(Labels::Binary, line).unwrap().features
    }

    fn head(labels: Labels, line: &str) -> (f32, f32, String) {
        let read = read(labels, line).unwrap();
        (read.label, read.importance, read.tag)
    }

    fn message(line: &str) -> String {
        read(Labels::Binary, line).unwrap_err()
    }

    /// The indices below are what Vowpal Wabbit 9.11.9 gives with `-b 18`.
    const B: u32 = 144_016;
    const C: u32 = 120_964;
    const A: u32 = 92_594;

    #[test]
    fn features_of_a_namespace_are_written_behind_the_tag() {
        let by = ["user", "hour"].map(str::to_owned);
        let mut reader = Reader::new(Format::Vw, Labels::Binary, 18, false).by(&by);
        let mut chunk = Chunk::new(None);
        for line in ["1 'a |user anna:2 b |hour 23", "-1 |hour x:zero |user c", "-1 |ad x |user d"]
        {
            let _ = reader.read(line.as_bytes(), &mut chunk);
        }
        assert_eq!((chunk.tag(0), chunk.tag(1)), (&b"a\x1eanna:2 b\x1f23"[..], &b"\x1ed\x1f"[..]));
    }

    #[test]
    fn features_and_values_are_vowpal_wabbits() {
        assert_eq!(features("1 |a b:2 c"), [(B, 2.0), (C, 1.0)]);
        assert_eq!(features("1 |a:2 b:3 c |c d"), [(B, 6.0), (C, 2.0), (68_370, 1.0)]);
        assert_eq!(features("1 |a b b:2"), [(B, 3.0)]);
        assert_eq!(features("1 |a\tb\t c:-1e-1|a"), [(B, 1.0), (C, -0.1)]);
        assert_eq!(features("1 || a |"), [(A, 1.0)]);
        assert_eq!(features("1 |é a"), [(19_779, 1.0)]);
        assert_eq!(features("1 |a"), []);
        assert_eq!(features("1 |a b:0 c"), [(C, 1.0)]);
        assert_eq!(features("1 |a:0 b c"), []);
    }

    fn crossed(crosses: &[&str], keep: &[&str], line: &str) -> Result<Vec<(u32, f32)>, String> {
        let letters = |word: &&str| word.chars().map(String::from).collect();
        let namespaces = Namespaces {
            crosses: crosses.iter().map(letters).collect(),
            keep: keep.iter().map(|&name| name.to_owned()).collect(),
            ..Namespaces::default()
        };
        let mut chunk = Chunk::new(None);
        let mut reader = Reader::new(Format::Vw, Labels::Binary, 18, true)
            .namespaces(Some(Arc::new(namespaces)));
        match reader.read(line.as_bytes(), &mut chunk) {
            Ok(_) => {
                let example = chunk.example(0);
                Ok(example.slots.iter().copied().zip(example.values.iter().copied()).collect())
            }
            Err(Fault { column, expected, found }) => {
                Err(format!("{column}: expected {expected}, found {found}"))
            }
        }
    }

    /// The numbers are those of `vw -b 18 --audit`, version 9.11.9.
    #[test]
    fn crossed_namespaces_follow_the_others() {
        let plain = [(72_861, 2.0), (124_687, 1.0), (113_568, 1.0), (114_093, 1.0)];
        let line = "1 |apple x:2 |b z |ant y |b w";
        let ab = [(125_992, 2.0), (112_266, 2.0), (244_719, 1.0), (254_285, 1.0)];
        assert_eq!(crossed(&["ab"], &[], line), Ok([plain, ab].concat()));
        assert_eq!(crossed(&["ab"], &["a"], line), Ok(vec![plain[0], plain[2]]));
        assert_eq!(crossed(&["ab"], &["apple", "b"], line).map(|found| found.len()), Ok(5));
        let zero = crossed(&["ab"], &[], "1 |a x:0 y |b z");
        assert_eq!(zero, Ok(vec![(42_847, 1.0), (124_687, 1.0), (171_394, 1.0)]));
    }

    #[test]
    fn crosses_that_cannot_be_features_are_faults() {
        let large = crossed(&["ab"], &[], "1 |a x:1e30 |b y:1e30");
        assert_eq!(
            large,
            Err(
                "3: expected values whose products are within ±3.4e38, found '|a x:1e30 |b y:1e30'"
                    .into()
            )
        );
        let many = format!("1 |a{}", " x".repeat(300));
        let told = "0: expected at most 4194304 crossed features in a line, found 4545100";
        assert_eq!(crossed(&["aaa"], &[], &many), Err(told.into()));
    }

    #[test]
    fn crossed_features_have_the_names_of_their_parts() {
        let namespaces = Namespaces {
            crosses: vec![vec!["user".to_owned(), "hour".to_owned()]],
            ..Namespaces::default()
        };
        let mut reader = Reader::new(Format::Vw, Labels::Binary, 18, true)
            .namespaces(Some(Arc::new(namespaces)));
        let line = b"1 |user u7 u8:0 | x |hour 23 :2";
        assert_eq!(reader.read(line, &mut Chunk::new(None)), Ok(true));
        let names = reader.names().unwrap();
        let mut found: Vec<_> = names.slots().into_iter().filter_map(|s| names.get(s)).collect();
        found.sort_unstable();
        let expected: [&[u8]; 6] =
            [b"hour^23", b"hour^:0", b"user^u7", b"user^u7*hour^23", b"user^u7*hour^:0", b"x"];
        assert_eq!(found, expected);
    }

    #[test]
    fn nameless_features_are_counted_per_block() {
        assert_eq!(
            features("1 |a b:2 |a :3 :4 c |a :5"),
            [(B, 2.0), (A, 8.0), (A + 1, 4.0), (C, 1.0)]
        );
        // A feature of value zero counts when nameless features are numbered.
        assert_eq!(features("1 | :0 :1"), [(1, 1.0)]);
    }

    #[test]
    fn heads() {
        let binary = |line| head(Labels::Binary, line);
        assert_eq!(binary("1 |a b"), (1.0, 1.0, "".into()));
        assert_eq!(binary("0 2.5 |a b"), (-1.0, 2.5, "".into()));
        assert_eq!(binary(" \t -1  0   |a b"), (-1.0, 0.0, "".into()));
        assert_eq!(binary("1 2 'tag |a b"), (1.0, 2.0, "tag".into()));
        assert_eq!(binary("1 'tag|a b"), (1.0, 1.0, "tag".into()));
        assert_eq!(binary("1 2 tag|a b"), (1.0, 2.0, "tag".into()));
        assert_eq!(binary("1 ''t' |a b"), (1.0, 1.0, "'t'".into()));
        assert_eq!(binary("1 ' |a b"), (1.0, 1.0, "".into()));
        assert_eq!(binary("1 1|a b"), (1.0, 1.0, "1".into()));
        assert_eq!(head(Labels::Real, "2.5 |a b"), (2.5, 1.0, "".into()));
    }

    #[test]
    fn absent_labels() {
        for (line, tag) in [("|a b", ""), ("  |a b", ""), ("t|a b", "t"), ("'t |a b", "t")] {
            let (label, importance, found) = head(Labels::Any, line);
            assert!(label.is_nan(), "{line}");
            assert_eq!((importance, found.as_str()), (1.0, tag));
        }
        assert_eq!(message("|a b"), "1: expected a label, found '|'");
        assert_eq!(message("  |a b"), "3: expected a label, found '|'");
        assert_eq!(message("'t |a b"), "1: expected a label, found ''t'");
        assert_eq!(
            message("1|a b"),
            "1: expected a label (a word that touches '|' is a tag), found '1|'"
        );
    }

    #[test]
    fn the_third_number_is_the_base() {
        for (line, base, tag) in [
            ("1 2 0.5 |a b", 0.5, ""),
            ("1 2 -1e-3 'x |a b", -1e-3, "x"),
            ("1 2 0.5|a b", 0.0, "0.5"),
            ("1 2 |a b", 0.0, ""),
        ] {
            let read = read(Labels::Binary, line).unwrap();
            assert_eq!((read.importance, read.base, read.tag.as_str()), (2.0, base, tag), "{line}");
        }
    }

    #[test]
    fn bad_heads() {
        for (line, told) in [
            ("1 2 3", "6: expected '|' before the features, found end of line"),
            ("2 |a", "1: expected a label 1, 0 or -1, found '2'"),
            ("x 'y z |a", "1: expected a label 1, 0 or -1, found 'x'"),
            ("1 -2 |a", "3: expected an importance, 0 or more, found '-2'"),
            ("1 x |a", "3: expected an importance, 0 or more, found 'x'"),
            ("1 nan |a", "3: expected a finite number, found 'nan'"),
            ("1 'x 3 |a", "3: expected an importance, 0 or more, found ''x'"),
            ("1 2 x |a", "5: expected a number as initial prediction, found 'x'"),
            ("1 2 inf 'tag |a", "5: expected a finite number, found 'inf'"),
            ("1 2 0.5 3 'tag |a", "9: expected a tag or '|', found '3'"),
            (
                "1\t|a b",
                r"2: expected a space (Vowpal Wabbit drops what stands before a tab), found '\x09'",
            ),
        ] {
            assert_eq!(message(line), told, "{line}");
        }
    }

    #[test]
    fn bad_features() {
        for (line, told) in [
            (
                "1 |a b:abc c",
                "8: expected a number after ':' ('=' joins a word to its name), found 'abc'",
            ),
            ("1 |a b:", "8: expected a number after ':', found end of line"),
            ("1 |a b: c", "8: expected a number after ':', found ' '"),
            ("1 |a b:|c", "8: expected a number after ':', found '|'"),
            (
                "1 |a b:1:2",
                "8: expected a number after ':' ('=' joins a word to its name), found '1:2'",
            ),
            (
                "1 |a b |c :x",
                "12: expected a number after ':' ('=' joins a word to its name), found 'x'",
            ),
            ("1 |a b:inf", "8: expected a finite number, found 'inf'"),
            ("1 |a b:1e39", "8: expected a number within ±3.4e38, found '1e39'"),
            ("1 |a:x b", "6: expected a number after ':', found 'x'"),
            ("1 |a: b", "6: expected a number after ':', found ' '"),
            ("1 |:2 b", "4: expected a namespace or a blank after '|', found ':'"),
            (
                "1 |a:1e30 c b:1e30|d",
                "15: expected a value within ±3.4e38 after the namespace's weight, found '1e30'",
            ),
            ("1 |a b\rc", r"7: expected a blank, ':' or '|', found '\x0d'"),
            ("1 |a\rc", r"5: expected a blank, ':' or '|', found '\x0d'"),
            ("1 |a b \r", r"8: expected a blank, ':' or '|', found '\x0d'"),
            (
                "1 |a b:1\r c",
                r"8: expected a number after ':' ('=' joins a word to its name), found '1\x0d'",
            ),
        ] {
            assert_eq!(message(line), told, "{line}");
        }
    }
}
