//! Examples in JSON, as the service gets them: plain bodies only.
//!
//! ```text
//! body     = array | example | { example "\n" }      lines, if it is said
//! example  = { "features": { name: number | word | true | false, … }, "label": …, "importance": number }
//! ```
//!
//! A body is plain if it is UTF-8, no string has an escape, no key is there twice, no two features of an example share a slot
//! or the hash of their keys, and there is no id. Any other body, good or bad, gives `None` and goes to the strict reader,
//! `python/lessregret/service/json_examples.py`, which also says what is wrong with it. What both read is the same.
//!
//! Cost: one pass over the bytes; nothing is allocated for an example.

mod cursor;

use cursor::Cursor;

use crate::example::{Chunk, Requirements, hash};
use crate::loss::Labels;
use crate::read::rows::Targets;
use crate::spec::FeatureSpace;

/// Features up to this number are compared each with each; more are sorted.
const FEW: usize = 32;

/// The examples of a body.
#[derive(Debug)]
pub struct Plain {
    /// The examples, with their zeros.
    pub chunk: Chunk,
    /// Whether there may be many: the body is an array or lines.
    pub is_many: bool,
}

/// Reads bodies for one feature space of hashed names.
#[derive(Clone, Debug)]
pub struct JsonReader {
    labels: Labels,
    bits: u32,
    intercept: Option<u32>,
}

impl JsonReader {
    /// A reader for a feature space; `None` if it has columns or namespaces, which these bodies do not give. Labels of kind
    /// `Any` are passed over.
    pub fn new(space: &FeatureSpace) -> Option<Self> {
        let has_columns = space.schema.as_ref().is_some_and(|schema| !schema.columns.is_empty());
        let is_plain = !has_columns && space.namespaces.is_none();
        let bits = space.bits().ok().filter(|_| is_plain)?;
        Some(JsonReader { labels: space.labels, bits, intercept: space.intercept_slot() })
    }

    /// The examples of a body of at most `most`; `None` if it is not plain, has none, or has more.
    pub fn read(&self, body: &[u8], is_lines: bool, most: usize) -> Option<Plain> {
        let text = std::str::from_utf8(body).ok()?;
        let mut reading = Reading::new(self, text, is_lines);
        let is_many = reading.body(most)?;
        let Reading { chunk, labels, importances, .. } = reading;
        let is_labelled = self.labels != Labels::Any;
        let labels = is_labelled.then_some(&labels[..]);
        Targets::new(self.labels, chunk.len(), labels, Some(&importances), None).ok()?;
        (!chunk.is_empty()).then_some(Plain { chunk, is_many })
    }
}

/// A body that is being read.
struct Reading<'a> {
    reader: &'a JsonReader,
    cursor: Cursor<'a>,
    is_lines: bool,
    chunk: Chunk,
    labels: Vec<f64>,
    importances: Vec<f64>,
    name: Vec<u8>,
    /// The hash of each key of the example's features, whatever its value is: `"a": 1` and `"a": "x"` have different
    /// slots and the same key.
    keys: Vec<u32>,
    sorted: Vec<u32>,
}

impl<'a> Reading<'a> {
    fn new(reader: &'a JsonReader, text: &'a str, is_lines: bool) -> Self {
        let intercept = reader.intercept;
        let requirements = Requirements { intercept, zeros: true, index: None };
        Reading {
            reader,
            // Between the parts of an example of a line there is no newline.
            cursor: Cursor::new(text, !is_lines),
            is_lines,
            chunk: Chunk::for_requirements(requirements),
            labels: Vec::new(),
            importances: Vec::new(),
            name: Vec::new(),
            keys: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// All examples; whether there may be many.
    fn body(&mut self, most: usize) -> Option<bool> {
        if self.is_lines {
            while self.cursor.pass_blank_lines() {
                self.example(most)?;
                self.cursor.end_line()?;
            }
            return Some(true);
        }
        self.cursor.blanks();
        let is_array = self.cursor.take(b'[');
        if is_array {
            loop {
                self.cursor.blanks();
                self.example(most)?;
                if !self.cursor.more(b']')? {
                    break;
                }
            }
        } else {
            self.example(most)?;
        }
        self.cursor.blanks();
        self.cursor.is_at_end().then_some(is_array)
    }

    fn example(&mut self, most: usize) -> Option<()> {
        if self.chunk.len() == most {
            return None;
        }
        let (mut label, mut importance, mut has_features) = (None, None, false);
        self.cursor.expect(b'{')?;
        loop {
            match self.cursor.key()? {
                "features" if !has_features => {
                    has_features = true;
                    self.features()?;
                }
                "label" if label.is_none() => label = Some(self.label()?),
                "importance" if importance.is_none() => importance = Some(self.cursor.number()?),
                _ => return None,
            }
            if !self.cursor.more(b'}')? {
                break;
            }
        }
        if !has_features || self.has_repeats() {
            return None;
        }
        let is_labelled = self.reader.labels != Labels::Any;
        let label = if is_labelled { label? } else { f64::NAN };
        let importance = if is_labelled { importance.unwrap_or(1.0) } else { 1.0 };
        self.chunk.finish(label as f32, importance as f32, b"");
        self.labels.push(label);
        self.importances.push(importance);
        Some(())
    }

    fn features(&mut self) -> Option<()> {
        self.keys.clear();
        self.cursor.expect(b'{')?;
        self.cursor.blanks();
        if self.cursor.take(b'}') {
            return Some(());
        }
        loop {
            let key = self.cursor.key()?.as_bytes();
            let (whole, bits) = (hash::feature(key, 0), self.reader.bits);
            self.keys.push(whole as u32);
            match self.cursor.peek()? {
                b'"' => {
                    let word = self.cursor.string()?.as_bytes();
                    self.name.clear();
                    self.name.extend_from_slice(key);
                    self.name.push(b'=');
                    self.name.extend_from_slice(word);
                    self.chunk.push(hash::slot(&self.name, bits), 1.0);
                }
                _ => {
                    let value = self.cursor.number_or_truth()? as f32;
                    value.is_finite().then_some(())?;
                    self.chunk.push(hash::masked(whole, bits), value);
                }
            }
            if !self.cursor.more(b'}')? {
                return Some(());
            }
        }
    }

    /// The label as the core takes it. Words, which may be names of classes, are not plain; where labels do not matter they
    /// are passed over.
    fn label(&mut self) -> Option<f64> {
        let matters = self.reader.labels != Labels::Any;
        if !matters && self.cursor.peek()? == b'"' {
            return self.cursor.string().map(|_| f64::NAN);
        }
        if !matters && self.cursor.word("null") {
            return Some(f64::NAN);
        }
        let number = self.cursor.number_or_truth()?;
        match self.reader.labels {
            Labels::Binary if number == 0.0 => Some(-1.0),
            _ => Some(number),
        }
    }

    /// Whether two features of the example share a slot, or the hash of their keys: the names may be the same.
    fn has_repeats(&mut self) -> bool {
        let Reading { chunk, keys, sorted, .. } = self;
        has_repeats(chunk.unfinished().0, sorted) || has_repeats(keys, sorted)
    }
}

/// Whether a number is there twice.
fn has_repeats(numbers: &[u32], sorted: &mut Vec<u32>) -> bool {
    if numbers.len() <= FEW {
        return numbers.iter().enumerate().any(|(k, number)| numbers[..k].contains(number));
    }
    sorted.clear();
    sorted.extend_from_slice(numbers);
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, labels: Labels, is_lines: bool) -> Option<Plain> {
        let space = FeatureSpace::text(10, labels);
        JsonReader::new(&space).unwrap().read(body.as_bytes(), is_lines, 3)
    }

    fn shown(body: &str, labels: Labels, is_lines: bool) -> Option<Vec<(f32, f32, Vec<f32>)>> {
        let chunk = read(body, labels, is_lines)?.chunk;
        let of = |k| (chunk.labels()[k], chunk.importances()[k], chunk.example(k).values.to_vec());
        Some((0..chunk.len()).map(of).collect())
    }

    #[test]
    fn a_number_beyond_float64_is_left_to_the_other_reader_even_where_it_does_not_matter() {
        for label in ["11e308", "-11e308"] {
            let body = format!(r#"{{"features":{{"a":1}},"label":{label}}}"#);
            assert!(read(&body, Labels::Any, false).is_none(), "{label}");
        }
        assert!(read(r#"{"features":{"a":1},"label":1e308}"#, Labels::Any, false).is_some());
    }

    #[test]
    fn plain_bodies_are_read() {
        let one = r#" {"label": false, "features": {"a": 2, "b": "x", "c": true, "d": -1.5e1}, "importance": 3 } "#;
        let expected = vec![(-1.0, 3.0, vec![2.0, 1.0, 1.0, -15.0])];
        assert_eq!(shown(one, Labels::Binary, false), Some(expected));
        let many = "[{\"features\":{},\"label\":7.5},\n{\"features\":{\"a\":1},\"label\":0}]";
        let expected = vec![(7.5, 1.0, vec![]), (0.0, 1.0, vec![1.0])];
        assert_eq!(shown(many, Labels::Real, false), Some(expected));
        let lines = "\n{\"features\":{\"a\":1},\"label\":1} \r\n \n{\"features\":{},\"label\":-1}";
        let expected = vec![(1.0, 1.0, vec![1.0]), (-1.0, 1.0, vec![])];
        assert_eq!(shown(lines, Labels::Binary, true), Some(expected));
        assert!(read(r#"[{"features":{"a":0}}]"#, Labels::Any, false).is_some_and(|it| it.is_many));
        let alone = read(r#"{"features":{"é":"ü"},"label":"yes"}"#, Labels::Any, false);
        assert!(alone.is_some_and(|it| !it.is_many && it.chunk.labels()[0].is_nan()));
    }

    #[test]
    fn the_slots_are_those_of_the_names() {
        let chunk = read(r#"{"features":{"a":"b","c":2}}"#, Labels::Any, false).unwrap().chunk;
        assert_eq!(chunk.example(0).slots, [hash::slot(b"a=b", 10), hash::slot(b"c", 10)]);
    }

    #[test]
    fn all_else_is_left_to_the_strict_reader() {
        for body in [
            "",
            "[]",
            "{}",
            "null",
            "[",
            "[{}]",
            r#"{"label":1}"#,
            r#"{"features":{"a":1}}"#,
            r#"{"features":{"a":1},"label":null}"#,
            r#"{"features":{"a":1},"label":2}"#,
            r#"{"features":{"a":1},"label":"1"}"#,
            r#"{"features":{"a":1,"a":2},"label":1}"#,
            r#"{"features":{"a":1,"a":"x"},"label":1}"#,
            r#"{"features":{"a":"x","b":1,"a":"y"},"label":1}"#,
            r#"{"features":{"a":1,"b":1},"features":{"a":1},"label":1}"#,
            r#"{"features":{"a":null},"label":1}"#,
            r#"{"features":{"a":[1]},"label":1}"#,
            r#"{"features":{"a":1e99},"label":1}"#,
            r#"{"features":{"a":01},"label":1}"#,
            r#"{"features":{"a":.5},"label":1}"#,
            r#"{"features":{"a":1.},"label":1}"#,
            r#"{"features":{"a":+1},"label":1}"#,
            r#"{"features":{"a":1e},"label":1}"#,
            r#"{"features":{"a":-},"label":1}"#,
            r#"{"features":{"a":inf},"label":1}"#,
            r#"{"features":{"\u0061":1},"label":1}"#,
            r#"{"features":{"a":1},"label":1,"label":1}"#,
            r#"{"features":{"a":1},"label":1,}"#,
            r#"{"features":{"a":1},"label":1,"id":"x"}"#,
            r#"{"features":{"a":1},"label":1}x"#,
            r#"{"features":{"a":1},"label":1,"importance":-1}"#,
            r#"{"features":{"a":1,},"label":1}"#,
            r#"{"features":{"a" 1},"label":1}"#,
            r#"{"features":{a:1},"label":1}"#,
            r#"[{"features":{},"label":1},]"#,
            "{\"features\":{\"a\tb\":1},\"label\":1}",
        ] {
            assert!(read(body, Labels::Binary, false).is_none(), "{body}");
        }
        let four = r#"{"features":{}}"#.to_owned() + "\n";
        assert!(read(&four.repeat(4), Labels::Any, true).is_none());
        for lines in ["{\"features\":\n{}}", "{\"features\":{}} {\"features\":{}}", "\n \n"] {
            assert!(read(lines, Labels::Any, true).is_none(), "{lines}");
        }
        assert!(
            JsonReader::new(&FeatureSpace::text(10, Labels::Any))
                .unwrap()
                .read(b"\xff", false, 3)
                .is_none()
        );
    }

    #[test]
    fn many_features_are_searched_for_repeats_too() {
        let features: Vec<String> = (0..100).map(|k| format!("\"f{k}\":1")).collect();
        let space = FeatureSpace::text(30, Labels::Any);
        let reader = JsonReader::new(&space).unwrap();
        let body = |more: &str| format!("{{\"features\":{{{}{more}}}}}", features.join(","));
        assert!(reader.read(body("").as_bytes(), false, 3).is_some());
        assert!(reader.read(body(",\"f7\":2").as_bytes(), false, 3).is_none());
        assert!(reader.read(body(",\"f7\":\"x\"").as_bytes(), false, 3).is_none());
    }
}
