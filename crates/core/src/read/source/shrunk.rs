//! A file that becomes shorter while it is read.
//!
//! At its new end the reader would find the end of the file, and take the half of a line before it for a
//! whole one. So the length at the end is compared with that at the start. A file may grow.
//!
//! Cost: one question for the file's length, at its end.

use std::fs::File;
use std::io::{self, ErrorKind, Read};

/// The bytes of a file, with an error if the file was cut while they were read.
pub struct NotShrunk {
    file: File,
    length: u64,
}

impl NotShrunk {
    /// The bytes of a file that has this length when it is opened.
    pub fn new(file: File, length: u64) -> Self {
        NotShrunk { file, length }
    }
}

impl Read for NotShrunk {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(scratch)?;
        // Some files of the system never have the length that they tell; only a change is an error.
        if count == 0 && !scratch.is_empty() && self.file.metadata()?.len() < self.length {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, Shrunk { length: self.length }));
        }
        Ok(count)
    }
}

/// The reason of an error: the file was cut while it was read.
#[derive(Debug)]
pub struct Shrunk {
    /// The number of bytes that the file had when it was opened.
    pub length: u64,
}

impl std::fmt::Display for Shrunk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the file had {} bytes when it was opened", self.length)
    }
}

impl std::error::Error for Shrunk {}
