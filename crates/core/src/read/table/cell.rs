//! One cell of a table.

use std::borrow::Cow;

use super::missing::Spellings;
use super::time::Moment;

/// The content of a cell, as text or typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No content: null, or a cell that is not there.
    Missing,
    /// Text, as it is written.
    Text(&'a [u8]),
    /// A float.
    Number(f64),
    /// An integer.
    Whole(i64),
    /// True or false.
    Flag(bool),
    /// A date, or a date and a time of day.
    Time(Moment),
}

impl<'a> Cell<'a> {
    /// The number in the cell, if it is one. True is 1 and false is 0.
    pub fn number(self) -> Option<f64> {
        match self {
            Cell::Number(number) => Some(number),
            Cell::Whole(number) => Some(number as f64),
            Cell::Flag(flag) => Some(f64::from(flag)),
            Cell::Text(text) => number_in(trimmed(text)),
            Cell::Missing | Cell::Time(_) => None,
        }
    }

    /// The date or time in the cell, if it is one.
    pub fn moment(self) -> Option<Moment> {
        match self {
            Cell::Time(moment) => Some(moment),
            Cell::Text(text) => Moment::parse(trimmed(text)),
            _ => None,
        }
    }

    /// The cell as text without blanks at its ends, as a CSV file would have it.
    pub fn text(self) -> Cow<'a, [u8]> {
        match self {
            Cell::Missing => Cow::Borrowed(b""),
            Cell::Text(text) => Cow::Borrowed(trimmed(text)),
            // The shortest text that gives the same float, with ".0" for a whole number.
            Cell::Number(number) => Cow::Owned(format!("{number:?}").into_bytes()),
            Cell::Whole(number) => Cow::Owned(number.to_string().into_bytes()),
            Cell::Flag(flag) => Cow::Owned(flag.to_string().into_bytes()),
            Cell::Time(moment) => Cow::Owned(moment.to_string().into_bytes()),
        }
    }

    /// Whether the cell is missing: null, not a number, or spelled in one of these ways.
    pub fn is_missing(self, spellings: &Spellings) -> bool {
        match self {
            Cell::Missing => true,
            Cell::Text(text) => spellings.has(trimmed(text)),
            Cell::Number(number) => number.is_nan(),
            Cell::Whole(_) | Cell::Flag(_) | Cell::Time(_) => false,
        }
    }
}

/// Text without spaces and tabs at its ends.
#[inline]
pub fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

fn number_in(text: &[u8]) -> Option<f64> {
    match fast_float2::parse::<f64, _>(text) {
        Ok(number) => Some(number),
        Err(_) if text.eq_ignore_ascii_case(b"true") => Some(1.0),
        Err(_) if text.eq_ignore_ascii_case(b"false") => Some(0.0),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_number_however_it_is_held() {
        for cell in [Cell::Text(b" 1\t"), Cell::Number(1.0), Cell::Whole(1), Cell::Flag(true)] {
            assert_eq!(cell.number(), Some(1.0));
        }
        assert_eq!(Cell::Text(b"FALSE").number(), Some(0.0));
        assert_eq!((Cell::Text(b"1x").number(), Cell::Text(b"").number()), (None, None));
    }

    #[test]
    fn a_typed_cell_has_the_text_of_a_csv_file() {
        assert_eq!(&*Cell::Number(0.1).text(), b"0.1");
        assert_eq!(&*Cell::Number(3.0).text(), b"3.0");
        assert_eq!(&*Cell::Whole(-7).text(), b"-7");
        assert_eq!(&*Cell::Text(b" a b ").text(), b"a b");
    }

    #[test]
    fn missing_is_null_or_nan_or_a_spelling() {
        let spellings = Spellings::new(&["".to_owned(), "?".to_owned()]);
        for cell in [Cell::Missing, Cell::Number(f64::NAN), Cell::Text(b" ? "), Cell::Text(b" ")] {
            assert!(cell.is_missing(&spellings), "{cell:?}");
        }
        for cell in [Cell::Text(b"0"), Cell::Whole(0), Cell::Text(b"??")] {
            assert!(!cell.is_missing(&spellings), "{cell:?}");
        }
    }
}
