//! Decompresses zstd, frame after frame.
//!
//! The decoder reads one frame, but files have many, with skippable frames between them. Its errors do not
//! distinguish a truncated stream from an invalid one, so a wrapper records how the reads ended.
//!
//! Cost: the window of the frame, at most [`LARGEST_WINDOW`], larger than that of any level up to 21.

use std::io::{self, BufReader, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window of a frame. A larger one is an error, so that memory is bounded.
const LARGEST_WINDOW: u64 = 64 << 20;

/// The decompressed bytes of `R`.
pub struct Zstd<R> {
    packed: Watched<BufReader<R>>,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> Zstd<R> {
    /// Decompress the bytes of `packed`.
    pub fn new(packed: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        let packed = Watched { reader: BufReader::new(packed), ended: false, failed: None };
        Zstd { packed, decoder, in_frame: false }
    }

    /// Begin the next frame; false at the end of the bytes.
    fn begin(&mut self) -> io::Result<bool> {
        let mut first = [0];
        if self.packed.read(&mut first)? == 0 {
            return Ok(false);
        }
        match self.decoder.init(first.chain(&mut self.packed)) {
            Ok(()) => self.in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => self.skip(u64::from(length))?,
            Err(error) => return Err(self.packed.explain(error)),
        }
        Ok(true)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.packed).take(length), &mut io::sink())?;
        if skipped < length { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn end(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let written = self.decoder.get_checksum_from_data();
        if written.is_some() && written != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(ErrorKind::InvalidData, "the checksum is another"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.decoder.read(scratch)?;
            if count > 0 || scratch.is_empty() {
                return Ok(count);
            }
            if !self.in_frame {
                if !self.begin()? {
                    return Ok(0);
                }
            } else if self.decoder.is_finished() {
                self.end()?;
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let outcome = self.decoder.decode_blocks(&mut self.packed, one);
                outcome.map_err(|error| self.packed.explain(error))?;
            }
        }
    }
}

/// Records whether a read reached the end or failed.
struct Watched<R> {
    reader: R,
    ended: bool,
    failed: Option<io::Error>,
}

impl<R> Watched<R> {
    /// Translate an error of the decoder.
    fn explain(&mut self, error: FrameDecoderError) -> io::Error {
        match self.failed.take() {
            Some(failed) => failed,
            None if self.ended => ErrorKind::UnexpectedEof.into(),
            None => io::Error::new(ErrorKind::InvalidData, error.to_string()),
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        let outcome = self.reader.read(scratch);
        match &outcome {
            Ok(0) => self.ended |= !scratch.is_empty(),
            Ok(_) => {}
            Err(error) => self.failed = Some(io::Error::new(error.kind(), error.to_string())),
        }
        outcome
    }
}
