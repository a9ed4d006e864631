//! The spellings of a missing cell.
//!
//! Cost: two bit tests a cell, for its length and its first byte. Only cells that have both from a spelling are compared:
//! a comparison is a call of the C library, 7 % of the time of a table of short categories.

/// The spellings of a missing cell, to be compared with many cells.
#[derive(Clone, Debug)]
pub struct Spellings {
    /// Bit n is set if a spelling has n bytes; bit 63 if one has more.
    lengths: u64,
    /// Bit n is set if a spelling begins with byte n.
    first_bytes: [u64; 4],
    spellings: Vec<Vec<u8>>,
}

impl Spellings {
    /// These spellings.
    pub fn new(spellings: &[String]) -> Self {
        let lengths = spellings.iter().fold(0, |bits, spelling| bits | bit(spelling.len()));
        let mut first_bytes = [0; 4];
        for &first in spellings.iter().filter_map(|spelling| spelling.as_bytes().first()) {
            first_bytes[usize::from(first >> 6)] |= 1 << (first & 63);
        }
        let spellings = spellings.iter().map(|text| text.clone().into()).collect();
        Spellings { lengths, first_bytes, spellings }
    }

    /// Whether a cell without blanks at its ends is spelled like this.
    #[inline]
    pub fn has(&self, text: &[u8]) -> bool {
        let begins_so =
            |&first: &u8| self.first_bytes[usize::from(first >> 6)] >> (first & 63) & 1 != 0;
        self.lengths & bit(text.len()) != 0
            && text.first().is_none_or(begins_so)
            && self.spellings.iter().any(|spelling| spelling.as_slice() == text)
    }
}

#[inline]
fn bit(length: usize) -> u64 {
    1 << length.min(63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_missing_if_it_is_spelled_so() {
        let long = "x".repeat(100);
        let spellings = Spellings::new(&["".into(), "NA".into(), long.clone()]);
        for text in ["", "NA", &long] {
            assert!(spellings.has(text.as_bytes()));
        }
        for text in ["?", "na", "NAN", &"x".repeat(99)] {
            assert!(!spellings.has(text.as_bytes()));
        }
        assert!(!Spellings::new(&[]).has(b""));
    }
}
