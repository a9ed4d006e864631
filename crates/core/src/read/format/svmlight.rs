//! svmlight, also called libsvm: a label and numbered features.
//!
//! ```text
//! line    = [label [qid] {feature}] ["#" comment]
//! qid     = "qid:" index
//! feature = index ":" float
//! ```
//!
//! Words are separated by blanks and tabs. Indices count from 0 and come in any order, but each only once:
//! two values for one coordinate are ambiguous. The slot is the index modulo 2^bits. The query is parsed and
//! not used.
//!
//! Cost: two passes over a line, one for `#` and one for the words. Ascending indices are known to be
//! distinct; others are sorted, in memory that is reused from line to line.

use memchr::memchr;

use super::fault::Fault;
use super::{ReadState, numbers, skip_blanks, word_end};
use crate::example::Chunk;
use crate::example::Name;

/// Reads svmlight lines.
#[derive(Debug, Default)]
pub struct Svmlight {
    /// The indices of the line and their positions.
    indices: Vec<(u64, usize)>,
}

impl Svmlight {
    /// Write the example of `line` to `chunk`; false if the line has none.
    pub fn read(
        &mut self,
        line: &[u8],
        state: &mut ReadState,
        chunk: &mut Chunk,
    ) -> Result<bool, Fault> {
        let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let start = skip_blanks(line, 0);
        if start == line.len() {
            return Ok(false);
        }
        let end = word_end(line, start);
        let label = state.labels.read(line, start..end)?;
        self.indices.clear();
        let mut at = skip_query(line, skip_blanks(line, end))?;
        while at < line.len() {
            at = skip_blanks(line, self.feature(line, at, state, chunk)?);
        }
        self.check_distinct(line)?;
        chunk.finish(label, 1.0, b"");
        Ok(true)
    }

    /// Read the feature at byte `start`; returns its end.
    fn feature(
        &mut self,
        line: &[u8],
        start: usize,
        state: &mut ReadState,
        chunk: &mut Chunk,
    ) -> Result<usize, Fault> {
        let end = word_end(line, start);
        let (index, colon) = numbers::index(line, start, end)?;
        if line.get(colon) != Some(&b':') {
            return Err(Fault::at(line, colon..end, "':' after the index"));
        }
        let value = numbers::float(line, colon + 1..end, "a number after ':'")?;
        self.indices.push((index, start));
        state.feature(chunk, index, value, Name::Index(index));
        Ok(end)
    }

    /// Return an error if an index occurs twice, at its second position.
    fn check_distinct(&mut self, line: &[u8]) -> Result<(), Fault> {
        if self.indices.is_sorted_by(|a, b| a.0 < b.0) {
            return Ok(());
        }
        self.indices.sort_unstable();
        let pairs = self.indices.windows(2);
        let repeats = pairs.filter(|pair| pair[0].0 == pair[1].0);
        match repeats.map(|pair| pair[1].1).min() {
            Some(start) => {
                let place = start..word_end(line, start);
                Err(Fault::at(line, place, "each index only once in a line"))
            }
            None => Ok(()),
        }
    }
}

/// Skip the query at byte `start`, if there is one.
fn skip_query(line: &[u8], start: usize) -> Result<usize, Fault> {
    if !line[start..].starts_with(b"qid:") {
        return Ok(start);
    }
    let end = word_end(line, start);
    let number = start + b"qid:".len();
    match numbers::index(line, number, end) {
        Ok((_, stop)) if stop == end => Ok(skip_blanks(line, end)),
        _ => Err(Fault::at(line, number..end, "a whole number after 'qid:'")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Labels, Reader};
    use super::*;

    type Features = Vec<(u32, f32)>;

    fn read(labels: Labels, line: &[u8]) -> Result<Option<(f32, Features)>, Fault> {
        let mut chunk = Chunk::new(None);
        let mut reader = Reader::new(Format::Svmlight, labels, 8, false);
        if !reader.read(line, &mut chunk)? {
            assert!(chunk.is_empty());
            return Ok(None);
        }
        let example = chunk.example(0);
        assert_eq!((example.importance, chunk.tag(0)), (1.0, &b""[..]));
        let features = example.slots.iter().copied().zip(example.values.iter().copied());
        Ok(Some((example.label, features.collect())))
    }

    fn good(line: &str) -> (f32, Features) {
        read(Labels::Binary, line.as_bytes()).unwrap().unwrap()
    }

    fn message(line: &str) -> String {
        let fault = read(Labels::Binary, line.as_bytes()).unwrap_err();
        format!("{}: expected {}, found {}", fault.column, fault.expected, fault.found)
    }

    #[test]
    fn good_lines() {
        assert_eq!(good("1 1:2 3:0.5"), (1.0, vec![(1, 2.0), (3, 0.5)]));
        assert_eq!(good("-1"), (-1.0, vec![]));
        assert_eq!(good("\t+1\t 7:1\t\t0:-1e-2 "), (1.0, vec![(7, 1.0), (0, -0.01)]));
        assert_eq!(good("0 qid:3 5:1"), (-1.0, vec![(5, 1.0)]));
        assert_eq!(good("0 qid:3"), (-1.0, vec![]));
        assert_eq!(good("1 5:1#note 6:1"), (1.0, vec![(5, 1.0)]));
        assert_eq!(good("1 5:0 6:1"), (1.0, vec![(6, 1.0)]));
    }

    #[test]
    fn slots_are_indices_modulo_the_size() {
        assert_eq!(good("1 256:1 18446744073709551615:2"), (1.0, vec![(0, 1.0), (255, 2.0)]));
        // Different indices that share a slot add up.
        assert_eq!(good("1 1:1 257:2"), (1.0, vec![(1, 3.0)]));
    }

    #[test]
    fn lines_without_an_example() {
        for line in ["", " \t", "# only a comment | 1:1", "  #"] {
            assert_eq!(read(Labels::Binary, line.as_bytes()), Ok(None), "{line}");
        }
    }

    #[test]
    fn labels_as_asked() {
        assert_eq!(read(Labels::Real, b"2.5 1:1"), Ok(Some((2.5, vec![(1, 1.0)]))));
        assert_eq!(read(Labels::Any, b"7 1:1"), Ok(Some((7.0, vec![(1, 1.0)]))));
        assert!(read(Labels::Any, b"1:1").is_err());
        assert_eq!(message("2 1:1"), "1: expected a label 1, 0 or -1, found '2'");
        assert_eq!(message("  1:1 2:1"), "3: expected a label 1, 0 or -1, found '1:1'");
    }

    #[test]
    fn bad_features() {
        for (line, told) in [
            ("1 1:1 abc:2", "7: expected an index, 0 or more, found 'abc:2'"),
            ("1 :2", "3: expected an index, 0 or more, found ':2'"),
            ("1 -3:2", "3: expected an index, 0 or more, found '-3:2'"),
            ("1 1:1 5", "8: expected ':' after the index, found end of line"),
            ("1 5 6:1", "4: expected ':' after the index, found ' '"),
            ("1 5x:1 6:1", "4: expected ':' after the index, found 'x:1'"),
            ("1 5:", "5: expected a number after ':', found end of line"),
            ("1 5: 6:1", "5: expected a number after ':', found ' '"),
            ("1 5:#6", "5: expected a number after ':', found end of line"),
            ("1 5:abc", "5: expected a number after ':', found 'abc'"),
            ("1 5:1:2", "5: expected a number after ':', found '1:2'"),
            ("1 5:1\r 6:1", r"5: expected a number after ':', found '1\x0d'"),
            ("1 5:nan", "5: expected a finite number, found 'nan'"),
            ("1 12:1e39", "6: expected a number within ±3.4e38, found '1e39'"),
            (
                "1 99999999999999999999:1",
                "3: expected an index below 2^64, found '99999999999999999999...'",
            ),
            ("1 qid:x 1:1", "7: expected a whole number after 'qid:', found 'x'"),
            ("1 qid:", "7: expected a whole number after 'qid:', found end of line"),
            ("1 qid:1.5", "7: expected a whole number after 'qid:', found '1.5'"),
            ("1 1:1 qid:3", "7: expected an index, 0 or more, found 'qid:3'"),
        ] {
            assert_eq!(message(line), told, "{line}");
        }
    }

    #[test]
    fn an_index_twice_is_named_at_its_second_place() {
        let told = "11: expected each index only once in a line, found '3:5'";
        assert_eq!(message("1 3:1 4:1 3:5"), told);
        assert_eq!(
            message("1 9:1 9:2 3:5 3:6"),
            "7: expected each index only once in a line, found '9:2'"
        );
        assert_eq!(
            message("1 3:1 9:1 3:2 9:3"),
            "11: expected each index only once in a line, found '3:2'"
        );
        // Values of zero count too, and leading zeros do not make another index.
        assert_eq!(
            message("1 3:0 003:0"),
            "7: expected each index only once in a line, found '003:0'"
        );
    }
}
