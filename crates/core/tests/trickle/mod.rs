//! A source that gives a few bytes at a time, so that blocks end anywhere.

use std::io::{self, Cursor, Read};

/// The bytes, and how many to give at a time.
pub struct Trickle(pub Cursor<Vec<u8>>, pub usize);

impl Read for Trickle {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = room.len().min(self.1);
        self.0.read(&mut room[..count])
    }
}
