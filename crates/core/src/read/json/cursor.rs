//! The tokens of plain JSON: `None` for whatever is not plain.
//!
//! ```text
//! number = ["-"] ( "0" | digit1-9 { digit } ) ["." digit { digit }] [("e" | "E") ["+" | "-"] digit { digit }]
//! string = \" { any character from U+0020 up but \" and \\ } \"
//! blank  = " " | tab | carriage return | newline            newlines only if they may stand there
//! ```

use memchr::memchr2;

/// A place in a text.
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    passes_newlines: bool,
}

impl<'a> Cursor<'a> {
    /// The start of a text. Newlines are blanks if they are to be passed.
    pub fn new(text: &'a str, passes_newlines: bool) -> Self {
        Cursor { text, at: 0, passes_newlines }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The byte here.
    pub fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    /// Whether everything is read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Pass blanks.
    pub fn blanks(&mut self) {
        while let Some(byte) = self.peek()
            && (matches!(byte, b' ' | b'\t' | b'\r') || (byte == b'\n' && self.passes_newlines))
        {
            self.at += 1;
        }
    }

    /// Pass this byte, if it is here.
    pub fn take(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == Some(byte);
        self.at += usize::from(is_here);
        is_here
    }

    /// Pass this byte, which must be here.
    pub fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Pass this word, if it is here.
    pub fn word(&mut self, word: &str) -> bool {
        let is_here = self.bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_here { word.len() } else { 0 };
        is_here
    }

    /// After an element: pass a comma, and yes, or the end of the list, and no.
    pub fn more(&mut self, end: u8) -> Option<bool> {
        self.blanks();
        if self.take(b',') {
            return Some(true);
        }
        self.expect(end).map(|()| false)
    }

    /// A key, up to its value.
    pub fn key(&mut self) -> Option<&'a str> {
        self.blanks();
        let key = self.string()?;
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        Some(key)
    }

    /// A string without escapes.
    pub fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        let length = memchr2(b'"', b'\\', &self.bytes()[start..])?;
        let string = &self.text[start..start + length];
        self.at += length;
        self.expect(b'"')?;
        // All of it without an early exit, so that the loop is vectorised.
        let has_controls = string.bytes().fold(false, |any, byte| any | (byte < b' '));
        (!has_controls).then_some(string)
    }

    /// A number; none if it is too large for float64, which other readers of JSON refuse.
    pub fn number(&mut self) -> Option<f64> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        fast_float2::parse(&self.bytes()[start..self.at])
            .ok()
            .filter(|number: &f64| number.is_finite())
    }

    /// A number, or 1 and 0 for true and false.
    pub fn number_or_truth(&mut self) -> Option<f64> {
        match self.peek()? {
            b't' => self.word("true").then_some(1.0),
            b'f' => self.word("false").then_some(0.0),
            _ => self.number(),
        }
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Pass blanks and newlines up to the next line that has more; no at the end.
    pub fn pass_blank_lines(&mut self) -> bool {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        !self.is_at_end()
    }

    /// Pass the end of a line.
    pub fn end_line(&mut self) -> Option<()> {
        self.blanks();
        (self.take(b'\n') || self.is_at_end()).then_some(())
    }
}
