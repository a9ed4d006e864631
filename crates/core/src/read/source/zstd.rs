//! Decompresses zstd, frame after frame.
//!
//! The decoder reads one frame, but files have many, with skippable frames between them. Its errors do not
//! distinguish a truncated stream from an invalid one, so a wrapper records how the reads ended.
//!
//! Cost: the window of the frame, at most [`LARGEST_WINDOW`], which is what the program `zstd` unpacks without
//! being asked to: the window of every level, 22 included.

use std::io::{self, BufReader, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window of a frame. A larger one is an error, so that memory is bounded.
const LARGEST_WINDOW: u64 = 128 << 20;

/// The reason of an error: a frame whose window is larger than [`LARGEST_WINDOW`].
#[derive(Debug)]
pub struct WindowTooLarge {
    requested: u64,
}

impl WindowTooLarge {
    /// The limit, and what to do.
    pub fn expected() -> String {
        format!(
            "a zstd window of at most {} MiB (unpack it with 'zstd -d --long=31', or pack it again without \
             '--long')",
            LARGEST_WINDOW >> 20
        )
    }
}

impl std::fmt::Display for WindowTooLarge {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a window of {} MiB", self.requested.div_ceil(1 << 20))
    }
}

impl std::error::Error for WindowTooLarge {}

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
            Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                return Err(io::Error::new(ErrorKind::InvalidData, WindowTooLarge { requested }));
            }
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
        // A failed read is reported with its own reason, which the decoder drops.
        self.unpack(scratch).map_err(|error| self.packed.failed.take().unwrap_or(error))
    }
}

impl<R: Read> Zstd<R> {
    fn unpack(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
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
    fn explain(&self, error: FrameDecoderError) -> io::Error {
        match self.ended {
            true => ErrorKind::UnexpectedEof.into(),
            false => io::Error::new(ErrorKind::InvalidData, error.to_string()),
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        let outcome = self.reader.read(scratch);
        match &outcome {
            Ok(0) => self.ended |= !scratch.is_empty(),
            Ok(_) => {}
            Err(error) => {
                let kind = error.kind();
                self.failed = outcome.err();
                return Err(kind.into());
            }
        }
        outcome
    }
}
