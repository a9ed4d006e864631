//! Reads bytes in a thread of its own: those that must be decompressed first, or that may block.
//!
//! The thread runs a few pieces ahead, so that decompressing, parsing and learning overlap. It ends at the
//! end of the bytes, or when the receiver is dropped; it is never joined.
//!
//! Cost: [`AHEAD`] pieces of 256 KiB, and one copy of the bytes.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::open::{OnInterrupt, ask, never_ask_here};

const PIECE: usize = 256 << 10;
const AHEAD: usize = 4;
/// How often a waiting reader checks for interrupts.
const PATIENCE: Duration = Duration::from_millis(50);

/// The bytes that another thread reads.
pub struct ReadAhead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    ended: bool,
    /// Why the bytes after the piece cannot be read.
    failed: Option<io::Error>,
    on_interrupt: OnInterrupt,
}

impl ReadAhead {
    /// Start a thread that reads `bytes`.
    pub fn new(bytes: Box<dyn Read + Send>, on_interrupt: OnInterrupt) -> Self {
        let (give, pieces) = sync_channel(AHEAD);
        let thread = thread::Builder::new().name("lessregret source".to_owned());
        // If no thread can be started the channel is closed, and the first read returns the error.
        let _ = thread.spawn(move || read_all(bytes, &give));
        ReadAhead { pieces, piece: Vec::new(), at: 0, ended: false, failed: None, on_interrupt }
    }

    /// Copy what is left of the piece, as much as fits; returns the number of bytes.
    fn copy(&mut self, scratch: &mut [u8]) -> usize {
        let count = scratch.len().min(self.piece.len() - self.at);
        scratch[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        count
    }

    fn next_piece(&self) -> io::Result<Vec<u8>> {
        loop {
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => return piece,
                Err(RecvTimeoutError::Timeout) => ask(&self.on_interrupt)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the thread that reads is gone"));
                }
            }
        }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.at == self.piece.len() && !self.ended {
            self.piece = self.next_piece()?;
            self.at = 0;
            self.ended = self.piece.is_empty();
        }
        let mut count = self.copy(scratch);
        // More of what is there, without waiting, so that a fast pipe fills whole blocks.
        while count > 0 && count < scratch.len() && self.at == self.piece.len() {
            match self.pieces.try_recv() {
                Ok(Ok(piece)) => {
                    (self.piece, self.at) = (piece, 0);
                    self.ended = self.piece.is_empty();
                    if self.ended {
                        break;
                    }
                    count += self.copy(&mut scratch[count..]);
                }
                Ok(Err(error)) => {
                    self.failed = Some(error);
                    break;
                }
                Err(_) => break,
            }
        }
        Ok(count)
    }
}

/// Send all pieces and then an empty one, or an error.
fn read_all(mut bytes: Box<dyn Read + Send>, give: &SyncSender<io::Result<Vec<u8>>>) {
    never_ask_here();
    loop {
        let mut piece = vec![0; PIECE];
        let outcome = match bytes.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(count) => {
                piece.truncate(count);
                Ok(piece)
            }
            Err(error) => Err(error),
        };
        let last = outcome.as_ref().map_or(true, Vec::is_empty);
        if give.send(outcome).is_err() || last {
            return;
        }
    }
}
