//! What a grammar says of a line that it cannot read; the stream adds the file and the line.
//!
//! Cost: two strings, made only where a line is bad.

use std::ops::Range;

use crate::error::InputError;

const LONGEST_QUOTE: usize = 20;

/// The place in a line, what should stand there and what does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The column in bytes, from 1; 0 where the whole line is meant.
    pub column: u64,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl Fault {
    /// A fault at the word that fills the bytes `place` of `line`, or at the byte that stands where
    /// the word is missing.
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

/// The first characters of `bytes` in quotes, with whatever a terminal would not show as `\xNN`.
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
    // `escape_debug` knows which characters print; it also escapes quotes, which are ASCII.
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
