//! Standard input that can be looked at before it is read.
//!
//! What the columns of a table are is inferred from its first rows, and a pipe gives its bytes only once. So the bytes that
//! were read for a look are kept, and the next reader of standard input gets them first.
//!
//! Cost: the bytes of the look are kept until they are read again.

use std::io::{self, Cursor, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::open::{OnInterrupt, Source};
use crate::error::Result;

/// The bytes that were read for a look and not read again yet.
static PEEKED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Standard input, with what was looked at before it.
pub fn stdin() -> Box<dyn Read + Send> {
    let peeked = std::mem::take(&mut *peeked());
    Box::new(Cursor::new(peeked).chain(io::stdin()))
}

/// Call a function with standard input. What it reads is kept for the next reader.
pub fn with_peeked_stdin<T>(
    on_interrupt: &OnInterrupt,
    look: impl FnOnce(Source) -> Result<T>,
) -> Result<T> {
    look(Source::new("<stdin>", Box::new(Look { at: 0 }), on_interrupt)?)
}

fn peeked() -> MutexGuard<'static, Vec<u8>> {
    PEEKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first bytes of a source, at most `most`, up to the first newline that is met.
pub fn first_line(mut source: Source, most: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; most];
    let mut used = 0;
    while used < most && !bytes[..used].contains(&b'\n') {
        match source.bytes.read(&mut bytes[used..]) {
            Ok(0) => break,
            Ok(count) => used += count,
            Err(error) => return Err(source.origin.broken(&error).into()),
        }
    }
    bytes.truncate(used);
    Ok(bytes)
}

/// Reads standard input from its start and keeps what it reads.
struct Look {
    at: usize,
}

impl Read for Look {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        let mut peeked = peeked();
        if self.at == peeked.len() {
            let count = io::stdin().read(scratch)?;
            peeked.extend_from_slice(&scratch[..count]);
        }
        let count = scratch.len().min(peeked.len() - self.at);
        scratch[..count].copy_from_slice(&peeked[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
