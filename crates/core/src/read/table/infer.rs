//! What the columns of a table seem to be, from its first rows.
//!
//! ```text
//! ignore     no cell, or at least 100 cells that are all different words
//! number     all cells are numbers, none with a leading zero as codes have
//! time       all cells are dates
//! text       at least three words a cell, and more than half of the cells different
//! category   all others
//! ```
//!
//! Missing cells do not count. Only the label is not inferred: the user names its column.

use std::collections::HashMap;

use super::cell::Cell;
use super::missing::Spellings;
use super::words::each_word;
use crate::spec::Kind;

/// A column whose words are all different needs at least this many cells to be ignored.
const MANY: u64 = 100;
/// Text has at least this many words a cell.
const WORDS_OF_TEXT: u64 = 3;
/// The number of values whose cells are counted.
pub const MOST_VALUES: usize = 10_000;

/// What was seen of a column.
#[derive(Clone, Debug, Default)]
pub struct ColumnSample {
    /// The number of cells, with missing ones.
    pub cells: u64,
    /// The number of missing cells.
    pub missing: u64,
    /// The cells that were met and how often, at most `MOST_VALUES` of them.
    pub values: HashMap<Vec<u8>, u64>,
    /// The smallest and the largest number, if all cells are numbers.
    pub range: Option<(f64, f64)>,
    numbers: u64,
    codes: u64,
    times: u64,
    words: u64,
}

impl ColumnSample {
    /// Add a cell.
    pub fn add(&mut self, cell: Cell<'_>, missing: &Spellings) {
        self.cells += 1;
        if cell.is_missing(missing) {
            self.missing += 1;
            return;
        }
        let text = cell.text();
        self.add_number(cell, &text);
        self.times += u64::from(cell.moment().is_some());
        each_word(&text, |_| self.words += 1);
        if self.values.len() < MOST_VALUES || self.values.contains_key(&*text) {
            *self.values.entry(text.into_owned()).or_default() += 1;
        }
    }

    /// What the column seems to be.
    pub fn kind(&self) -> Kind {
        let present = self.cells - self.missing;
        let different = self.values.len() as u64;
        if present == 0 {
            return Kind::Ignore;
        }
        if self.is_number() {
            return Kind::Number;
        }
        if self.times == present {
            return Kind::Time;
        }
        if self.words >= WORDS_OF_TEXT * present && 2 * different > present {
            return Kind::Text;
        }
        if present >= MANY && different == present { Kind::Ignore } else { Kind::Category }
    }

    /// Whether there may be more different values than were counted.
    pub fn is_cut(&self) -> bool {
        self.values.len() >= MOST_VALUES
    }

    /// Whether all cells are numbers, and none is a code.
    pub fn is_number(&self) -> bool {
        let present = self.cells - self.missing;
        present > 0 && self.numbers == present && self.codes == 0
    }

    /// The values from the most frequent on; equally frequent ones in the order of their bytes.
    pub fn most_frequent(&self) -> Vec<(&[u8], u64)> {
        let mut values: Vec<(&[u8], u64)> =
            self.values.iter().map(|(value, &count)| (value.as_slice(), count)).collect();
        values.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
        values
    }

    fn add_number(&mut self, cell: Cell<'_>, text: &[u8]) {
        let Some(number) = cell.number().filter(|number| number.is_finite()) else { return };
        self.numbers += 1;
        self.codes += u64::from(is_code(text));
        let (low, high) = self.range.unwrap_or((number, number));
        self.range = Some((low.min(number), high.max(number)));
    }
}

/// Whether digits begin with a zero that a number would not have, such as 02139.
fn is_code(text: &[u8]) -> bool {
    matches!(text, [b'0', b'0'..=b'9', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(cells: &[&str]) -> Kind {
        let mut sample = ColumnSample::default();
        for cell in cells {
            sample.add(Cell::Text(cell.as_bytes()), &Spellings::new(&["".into(), "?".into()]));
        }
        sample.kind()
    }

    #[test]
    fn columns_are_what_all_their_cells_are() {
        assert_eq!(kind(&["1", "", "-2.5e3", "?"]), Kind::Number);
        assert_eq!(kind(&["true", "False"]), Kind::Number);
        assert_eq!(kind(&["1", "x"]), Kind::Category);
        assert_eq!(kind(&["02139", "10001"]), Kind::Category);
        assert_eq!(kind(&["2026-11-17", "2026-11-17 10:00"]), Kind::Time);
        assert_eq!(kind(&["the quick fox", "a lazy old dog"]), Kind::Text);
        assert_eq!(kind(&["", "?"]), Kind::Ignore);
        let ids: Vec<String> = (0..100).map(|k| format!("id{k}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(kind(&ids), Kind::Ignore);
        assert_eq!(kind(&ids[..99]), Kind::Category);
    }

    #[test]
    fn values_are_counted() {
        let mut sample = ColumnSample::default();
        for cell in [&b"b"[..], b"a", b"b", b"c", b"a", b"b"] {
            sample.add(Cell::Text(cell), &Spellings::new(&[]));
        }
        let expected: [(&[u8], u64); 3] = [(b"b", 3), (b"a", 2), (b"c", 1)];
        assert_eq!(sample.most_frequent(), expected);
        assert_eq!((sample.cells, sample.missing, sample.range), (6, 0, None));
    }
}
