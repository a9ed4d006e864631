//! Parses labels: the number before the features.
//!
//! ```text
//! binary  = "1" | "0" | "-1"          in any spelling of these numbers
//! classes = a whole number
//! real    = float
//! count   = float                     from 0 to 2^24
//! any     = [float]
//! ```
//!
//! Two classes are written 1 and 0 or 1 and -1. The first negative label of a file decides which. A file with
//! both has three classes, which is ambiguous and an error.
//!
//! Cost: one number is parsed.

use std::ops::Range;

use super::fault::Fault;
use super::numbers;
use crate::loss::Labels;

/// Reads the labels of one file.
#[derive(Clone, Copy, Debug)]
pub struct LabelReader {
    labels: Labels,
    /// Whether an example may have no label.
    may_be_absent: bool,
    negative: Option<i8>,
    /// The negative labels met while the spelling was undecided, in good lines and in bad ones.
    met_0: bool,
    met_minus_1: bool,
}

impl LabelReader {
    /// A reader at the start of a file.
    pub fn new(labels: Labels) -> Self {
        let may_be_absent = labels == Labels::Any;
        LabelReader { labels, may_be_absent, negative: None, met_0: false, met_minus_1: false }
    }

    /// Let examples have no label, whatever kind the labels are.
    pub fn or_none(self) -> Self {
        LabelReader { may_be_absent: true, ..self }
    }

    /// Reset the spelling of negative labels for the next file.
    pub fn next_file(&mut self) {
        *self = LabelReader { may_be_absent: self.may_be_absent, ..LabelReader::new(self.labels) };
    }

    /// Undo what a bad line decided.
    pub fn take_back(&mut self, before: &LabelReader) {
        self.negative = before.negative;
    }

    /// Whether `later`, which began in the middle of the file with the spelling undecided, would have read
    /// the same labels if it had known what is known here.
    pub fn agrees(&self, later: &LabelReader) -> bool {
        match self.negative {
            None => true,
            Some(0) => !later.met_minus_1,
            Some(_) => !later.met_0,
        }
    }

    /// Continue from the state of `later`, which must agree.
    pub fn go_on(&mut self, later: &LabelReader) {
        self.negative = self.negative.or(later.negative);
    }

    /// What kind the labels are.
    pub fn kind(&self) -> Labels {
        self.labels
    }

    /// The label in the bytes `place` of `line`.
    pub fn read(&mut self, line: &[u8], place: Range<usize>) -> Result<f32, Fault> {
        match self.labels {
            Labels::Binary => self.read_binary(line, place),
            _ => self.read_number(line, place),
        }
    }

    /// The label for a number.
    pub fn number(&mut self, number: f32) -> Result<f32, Fault> {
        let outcome = match self.labels {
            Labels::Binary => self.class(number.into()),
            kind if number.is_finite() && kind.holds(number) => Ok(number),
            Labels::Classes | Labels::Count => Err(self.labels.expected().to_owned()),
            Labels::Real | Labels::Any => Err("a finite number as label".to_owned()),
        };
        outcome.map_err(|expected| Fault { column: 0, expected, found: format!("'{number}'") })
    }

    /// The label of an example without one, if that is allowed.
    pub fn absent(&self) -> Option<f32> {
        self.may_be_absent.then_some(f32::NAN)
    }

    fn read_number(&self, line: &[u8], place: Range<usize>) -> Result<f32, Fault> {
        let expected = self.labels.expected();
        let number = numbers::float(line, place.clone(), expected)?;
        match self.labels.holds(number) {
            true => Ok(number),
            false => Err(Fault::at(line, place, expected.to_owned())),
        }
    }

    fn read_binary(&mut self, line: &[u8], place: Range<usize>) -> Result<f32, Fault> {
        let number = match &line[place.clone()] {
            // Nearly all labels are written like this.
            b"1" => 1.0,
            b"0" => 0.0,
            b"-1" => -1.0,
            word => fast_float2::parse::<f64, _>(word).unwrap_or(f64::NAN),
        };
        self.class(number).map_err(|expected| Fault::at(line, place, expected))
    }

    /// The class for a number; the error names the valid classes.
    fn class(&mut self, number: f64) -> Result<f32, String> {
        if number == 1.0 {
            return Ok(1.0);
        }
        if number != 0.0 && number != -1.0 {
            return Err("a label 1, 0 or -1".to_owned());
        }
        if self.negative.is_none() {
            self.met_0 |= number == 0.0;
            self.met_minus_1 |= number == -1.0;
        }
        let negative = *self.negative.get_or_insert(number as i8);
        if negative != number as i8 {
            return Err(format!("a label 1 or {negative}, as in the lines before"));
        }
        Ok(-1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reader: &mut LabelReader, text: &str) -> Result<f32, String> {
        let place = 0..text.len();
        reader.read(text.as_bytes(), place).map_err(|fault| {
            assert_eq!(fault.column, 1);
            format!("expected {}, found {}", fault.expected, fault.found)
        })
    }

    #[test]
    fn two_classes_in_any_spelling() {
        for (text, label) in
            [("1", 1.0), ("+1", 1.0), ("1.0", 1.0), ("1e0", 1.0), ("0", -1.0), ("-0.0", -1.0)]
        {
            assert_eq!(read(&mut LabelReader::new(Labels::Binary), text), Ok(label), "{text}");
        }
        for text in ["-1", "-1.00"] {
            assert_eq!(read(&mut LabelReader::new(Labels::Binary), text), Ok(-1.0), "{text}");
        }
    }

    #[test]
    fn other_labels_are_not_binary() {
        for text in ["2", "0.5", "1.0000000001", "nan", "inf", "yes", "1,2", ""] {
            let found = if text.is_empty() { "end of line".into() } else { format!("'{text}'") };
            assert_eq!(
                read(&mut LabelReader::new(Labels::Binary), text),
                Err(format!("expected a label 1, 0 or -1, found {found}"))
            );
        }
    }

    #[test]
    fn a_file_has_one_negative() {
        let mut reader = LabelReader::new(Labels::Binary);
        assert_eq!(read(&mut reader, "1"), Ok(1.0));
        assert_eq!(read(&mut reader, "0"), Ok(-1.0));
        assert_eq!(
            read(&mut reader, "-1"),
            Err("expected a label 1 or 0, as in the lines before, found '-1'".into())
        );
        assert_eq!(read(&mut reader, "0"), Ok(-1.0));
        reader.next_file();
        assert_eq!(read(&mut reader, "-1"), Ok(-1.0));
    }

    #[test]
    fn real_labels_are_finite() {
        for labels in [Labels::Real, Labels::Any] {
            let mut reader = LabelReader::new(labels);
            assert_eq!(read(&mut reader, "-2.5"), Ok(-2.5));
            let message = "expected a number as label, found 'x'";
            assert_eq!(read(&mut reader, "x"), Err(message.into()));
            assert!(read(&mut reader, "nan").is_err());
        }
    }

    #[test]
    fn counts_are_not_negative() {
        let mut reader = LabelReader::new(Labels::Count);
        assert_eq!(read(&mut reader, "3"), Ok(3.0));
        let expected = "expected a count as label, a number from 0 to 16777216, found";
        for text in ["-3", "1e8", "x"] {
            assert_eq!(read(&mut reader, text), Err(format!("{expected} '{text}'")));
        }
        assert!(reader.number(-1.0).is_err() && reader.number(f32::NAN).is_err());
        assert_eq!(reader.absent(), None);
    }

    #[test]
    fn labels_may_be_absent_if_they_are_of_any_kind_or_if_it_is_said() {
        assert!(LabelReader::new(Labels::Any).absent().is_some_and(f32::is_nan));
        assert_eq!(LabelReader::new(Labels::Real).absent(), None);
        let mut reader = LabelReader::new(Labels::Binary).or_none();
        reader.next_file();
        assert!(reader.absent().is_some_and(f32::is_nan));
        assert!(read(&mut reader, "2").is_err());
    }
}
