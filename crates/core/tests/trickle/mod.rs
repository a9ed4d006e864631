//! A source that returns a few bytes at a time, so that blocks end anywhere.

use std::io::{self, Cursor, Read};

/// The bytes, and how many to return at a time.
pub struct Trickle(pub Cursor<Vec<u8>>, pub usize);

impl Read for Trickle {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        let count = scratch.len().min(self.1);
        self.0.read(&mut scratch[..count])
    }
}
