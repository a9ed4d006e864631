//! The spellings of a missing cell.
//!
//! Cost: one bit test a cell, for its length. Only cells as long as a spelling are compared.

/// The spellings of a missing cell, to be compared with many cells.
#[derive(Clone, Debug)]
pub struct Spellings {
    /// Bit n is set if a spelling has n bytes; bit 63 if one has more.
    lengths: u64,
    spellings: Vec<Vec<u8>>,
}

impl Spellings {
    /// These spellings.
    pub fn new(spellings: &[String]) -> Self {
        let lengths = spellings.iter().fold(0, |bits, spelling| bits | bit(spelling.len()));
        Spellings { lengths, spellings: spellings.iter().map(|text| text.clone().into()).collect() }
    }

    /// Whether a cell without blanks at its ends is spelled like this.
    #[inline]
    pub fn has(&self, text: &[u8]) -> bool {
        self.lengths & bit(text.len()) != 0
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
