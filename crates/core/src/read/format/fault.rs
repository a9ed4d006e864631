//! The fault of a line that a grammar cannot read. The stream adds the file and the line number.
//!
//! Cost: two strings, allocated only for bad lines.

use std::ops::Range;

use crate::error::InputError;

const LONGEST_QUOTE: usize = 20;

/// The position in a line, what was expected there and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The column in bytes, from 1; 0 for the whole line.
    pub column: u64,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Fault {
    /// A fault at the word in the bytes `place` of `line`, or, if the word is missing, at the byte there.
    pub fn at(line: &[u8], place: Range<usize>, expected: impl Into<String>) -> Fault {
        Fault {
            column: place.start as u64 + 1,
            expected: expected.into(),
            found: found(line, place),
        }
    }

    /// The error for a fault of a whole file.
    pub fn of_file(self, file: &str) -> InputError {
        let Fault { expected, found, .. } = self;
        InputError { file: file.to_owned(), line: 0, column: 0, found, expected }
    }
}

fn found(line: &[u8], place: Range<usize>) -> String {
    let end = place.end.max(place.start + 1);
    match line.get(place.start..end) {
        Some(word) => quote(word),
        None => "end of line".to_owned(),
    }
}

/// The first characters of `bytes` in quotes. Unprintable bytes are written as `\xNN`.
pub fn quote(bytes: &[u8]) -> String {
    let mut pieces = bytes.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().chars().map(printable);
        valid.chain(chunk.invalid().iter().map(|byte| escape(&[*byte])))
    });
    let shown: String = pieces.by_ref().take(LONGEST_QUOTE).collect();
    let more = if pieces.next().is_some() { "..." } else { "" };
    format!("'{shown}{more}'")
}

fn printable(character: char) -> String {
    // `escape_debug` decides which characters are printable. It also escapes quotes, which are ASCII.
    let prints = if character.is_ascii() {
        !character.is_ascii_control()
    } else {
        character.escape_debug().len() == 1
    };
    if prints {
        return character.to_string();
    }
    escape(character.encode_utf8(&mut [0; 4]).as_bytes())
}

fn escape(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_show_text_and_escape_the_rest() {
        assert_eq!(quote(b"abc"), "'abc'");
        assert_eq!(quote("日本 \"'".as_bytes()), "'日本 \"''");
        assert_eq!(quote(b"a\tb\x00\x7f\xff\r"), r"'a\x09b\x00\x7f\xff\x0d'");
        assert_eq!(quote("\u{202e}\u{85}".as_bytes()), r"'\xe2\x80\xae\xc2\x85'");
        assert_eq!(quote(b"12345678901234567890"), "'12345678901234567890'");
        assert_eq!(quote(b"123456789012345678901"), "'12345678901234567890...'");
    }

    #[test]
    fn faults_name_the_word_or_the_byte_or_the_end() {
        let fault = |place| Fault::at(b"ab cd", place, "x");
        assert_eq!((fault(3..5).column, fault(3..5).found), (4, "'cd'".into()));
        assert_eq!((fault(2..2).column, fault(2..2).found), (3, "' '".into()));
        assert_eq!((fault(5..5).column, fault(5..5).found), (6, "end of line".into()));
    }
}
