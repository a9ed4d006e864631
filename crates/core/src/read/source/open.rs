//! The bytes of a file, a pipe or standard input, decompressed if they are gzip or zstd.
//!
//! ```text
//! source = text | { gzip member } | { zstd frame }
//! ```
//!
//! The compression is detected from the first bytes, not from the file's name. A failure to read becomes an
//! [`InputError`] without a line number.
//!
//! Cost: plain text is read straight from the file into the block of lines, with one counter.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::follow::Follow;
use super::peek;
use super::read_ahead::ReadAhead;
use super::shrunk::{NotShrunk, Shrunk};
use super::stop::Stop;
use super::zstd::{WindowTooLarge, Zstd};
use crate::error::InputError;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// Compressions that are recognised but not supported: an error that names them is better than bad text.
const OTHERS: [(&[u8], &str); 2] = [(b"\xfd7zX", "an xz stream"), (b"PK\x03\x04", "a zip archive")];

/// Called when a signal interrupts a read, which may block forever. An error ends the reading.
pub type OnInterrupt = Arc<dyn Fn() -> io::Result<()> + Send + Sync>;

/// Bytes ready to be cut into lines, and their origin.
pub struct Source {
    /// The decompressed bytes.
    pub bytes: Box<dyn Read + Send>,
    /// The origin, for error messages.
    pub origin: Origin,
    /// Whether the bytes do not come from a file, so that a read may block.
    pub is_pipe: bool,
}

/// A name for messages, and the number of bytes read.
pub struct Origin {
    /// The file as the user named it, or `<stdin>`.
    pub name: String,
    packing: Option<&'static str>,
    consumed: Arc<AtomicU64>,
}

impl Origin {
    /// The origin of what is not read as bytes.
    pub fn of_no_bytes(name: &str) -> Origin {
        Origin { name: name.to_owned(), packing: None, consumed: Arc::default() }
    }
}

impl Source {
    /// Open the file `name`; `-` is standard input.
    pub fn open(name: &Path, on_interrupt: &OnInterrupt) -> Result<Source, InputError> {
        if name == Path::new("-") {
            let source = Source::new("<stdin>", peek::stdin(), on_interrupt)?;
            return Ok(Source { is_pipe: true, ..source });
        }
        let opened = File::open(name).and_then(|file| match file.metadata()? {
            kind if kind.is_dir() => Err(ErrorKind::IsADirectory.into()),
            kind => Ok((file, kind)),
        });
        let name = name.display().to_string();
        match opened {
            Ok((file, kind)) if kind.is_file() => {
                Source::new(&name, Box::new(NotShrunk::new(file, kind.len())), on_interrupt)
            }
            Ok((file, _)) => {
                let source = Source::new(&name, Box::new(file), on_interrupt)?;
                Ok(Source { is_pipe: true, ..source })
            }
            Err(error) => Err(whole_file(&name, "a file that can be read", reason(&error))),
        }
    }

    /// Read the bytes of `reader`, called `name` in messages.
    pub fn new(
        name: &str,
        reader: Box<dyn Read + Send>,
        on_interrupt: &OnInterrupt,
    ) -> Result<Source, InputError> {
        let consumed = Arc::new(AtomicU64::new(0));
        let on_interrupt = Arc::clone(on_interrupt);
        let mut counted = Counted { reader, consumed: Arc::clone(&consumed), on_interrupt };
        let mut origin = Origin { name: name.to_owned(), packing: None, consumed };
        let first = first_bytes(&mut counted).map_err(|error| origin.broken(&error))?;
        if let Some((_, packing)) = OTHERS.iter().find(|(magic, _)| first.starts_with(magic)) {
            return Err(whole_file(name, "text, gzip or zstd", (*packing).to_owned()));
        }
        let packed_by = |magic: &[u8]| first.starts_with(magic);
        let (gzip, zstd) = (packed_by(GZIP), packed_by(ZSTD));
        let whole = Cursor::new(first).chain(counted);
        let bytes: Box<dyn Read + Send> = if gzip {
            origin.packing = Some("gzip");
            Box::new(MultiGzDecoder::new(whole))
        } else if zstd {
            origin.packing = Some("zstd");
            Box::new(Zstd::new(whole))
        } else {
            Box::new(whole)
        };
        Ok(Source { bytes, origin, is_pipe: false })
    }

    /// The lines of the file `name`, which grows and may be replaced; they end when `stop` is set.
    pub fn follow(name: &Path, stop: Stop, on_interrupt: &OnInterrupt) -> Source {
        let consumed = Arc::new(AtomicU64::new(0));
        let reader = Box::new(Follow::new(name.to_owned(), stop));
        let on_interrupt = Arc::clone(on_interrupt);
        let bytes = Box::new(Counted { reader, consumed: Arc::clone(&consumed), on_interrupt });
        let origin = Origin { name: name.display().to_string(), packing: None, consumed };
        Source { bytes, origin, is_pipe: true }
    }

    /// This source, read by a thread of its own if it is compressed or a pipe.
    ///
    /// A signal that arrives just before a read does not interrupt it. A thread that waits for another one
    /// with a timeout, and checks for interrupts each time, misses none.
    pub fn read_ahead(mut self, on_interrupt: &OnInterrupt) -> Source {
        if self.origin.packing.is_some() || self.is_pipe {
            self.bytes = Box::new(ReadAhead::new(self.bytes, Arc::clone(on_interrupt)));
        }
        self
    }
}

impl Origin {
    /// The number of bytes read from the file, in their compressed form.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// The error for bytes that could not be read.
    pub fn broken(&self, error: &io::Error) -> InputError {
        let place = format!("after {} bytes", self.consumed());
        let inner = error.get_ref();
        if let Some(Shrunk { length }) = inner.and_then(|inner| inner.downcast_ref()) {
            let expected =
                format!("a file that stays as it is while it is read, of {length} bytes");
            return whole_file(&self.name, &expected, format!("its end {place}"));
        }
        if let Some(window) = inner.and_then(|inner| inner.downcast_ref::<WindowTooLarge>()) {
            return whole_file(&self.name, &WindowTooLarge::expected(), window.to_string());
        }
        let (expected, found) = match (self.packing, error.kind()) {
            (Some(packing), ErrorKind::UnexpectedEof) => {
                (format!("a whole {packing} stream"), format!("its end {place}"))
            }
            (Some(packing), ErrorKind::InvalidInput | ErrorKind::InvalidData) => (
                format!("a sound {packing} stream"),
                format!("damage at most {} bytes in ({error})", self.consumed()),
            ),
            _ => ("a file that can be read".to_owned(), format!("{} {place}", reason(error))),
        };
        whole_file(&self.name, &expected, found)
    }
}

fn whole_file(name: &str, expected: &str, found: String) -> InputError {
    InputError { file: name.to_owned(), line: 0, column: 0, found, expected: expected.to_owned() }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "one without permission to read".to_owned(),
        ErrorKind::IsADirectory => "a directory".to_owned(),
        _ => format!("trouble ({error})"),
    }
}

/// The first four bytes, or fewer if the first line or the file is shorter: nobody who writes a line waits for the next.
fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut first, mut byte) = (Vec::with_capacity(4), [0]);
    while first.len() < 4 && !first.ends_with(b"\n") && reader.read(&mut byte)? == 1 {
        first.push(byte[0]);
    }
    Ok(first)
}

thread_local! {
    static MAY_ASK: Cell<bool> = const { Cell::new(true) };
}

/// Disable interrupt checks in this thread. Only the thread that was interrupted can check, and it may end
/// before this one.
pub fn never_ask_here() {
    MAY_ASK.set(false);
}

/// Check for interrupts, if this thread may.
pub(super) fn ask(on_interrupt: &OnInterrupt) -> io::Result<()> {
    if MAY_ASK.get() { on_interrupt() } else { Ok(()) }
}

struct Counted {
    reader: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    on_interrupt: OnInterrupt,
}

impl Read for Counted {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(scratch) {
                Ok(count) => {
                    self.consumed.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => ask(&self.on_interrupt)?,
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn never() -> OnInterrupt {
        Arc::new(|| Ok(()))
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// The whole output, or the message. Checks that reading in this thread and in another give the same.
    fn unpack(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let aside = unpack_where(bytes, true);
        assert_eq!(unpack_where(bytes, false), aside);
        aside
    }

    fn unpack_where(bytes: &[u8], aside: bool) -> Result<Vec<u8>, String> {
        let source = Source::new("data.gz", Box::new(Cursor::new(bytes.to_vec())), &never())
            .map_err(|error| error.to_string())?;
        let mut source = if aside { source.read_ahead(&never()) } else { source };
        let mut all = Vec::new();
        match source.bytes.read_to_end(&mut all) {
            Ok(_) => Ok(all),
            Err(error) => Err(source.origin.broken(&error).to_string()),
        }
    }

    fn open_error(name: &str) -> String {
        Source::open(Path::new(name), &never()).err().expect("no error").to_string()
    }

    #[test]
    fn plain_and_packed_bytes_come_out_the_same() {
        let text = b"1 1:1\n".repeat(10_000);
        assert_eq!(unpack(&text), Ok(text.clone()));
        assert_eq!(unpack(&gzip(&text)), Ok(text.clone()));
        let two_members = [gzip(&text[..30]), gzip(&text[30..])].concat();
        assert_eq!(unpack(&two_members), Ok(text));
        for short in [&b""[..], b"1", b"1 1", b"\n\n\n\n\n"] {
            assert_eq!(unpack(short), Ok(short.to_vec()));
        }
    }

    #[test]
    fn cut_gzip_says_where_it_ends() {
        let packed = gzip(&b"1 1:1\n".repeat(1000));
        for length in [2, 3, 9, 10, 11, packed.len() / 2, packed.len() - 1] {
            let message = format!(
                "data.gz: expected a whole gzip stream, found its end after {length} bytes"
            );
            assert_eq!(unpack(&packed[..length]), Err(message));
        }
    }

    #[test]
    fn damaged_gzip_is_not_text() {
        let mut packed = gzip(&b"1 1:1\n".repeat(1000));
        let checksum = packed.len() - 6;
        packed[checksum] ^= 1;
        let message = unpack(&packed).unwrap_err();
        assert!(
            message.starts_with("data.gz: expected a sound gzip stream, found damage"),
            "{message}"
        );
        let trailing = [gzip(b"1 1:1\n"), b"garbage that is no member".to_vec()].concat();
        assert!(unpack(&trailing).unwrap_err().contains("a sound gzip stream"));
    }

    #[test]
    fn zstd_comes_out_the_same_frame_after_frame() {
        let text = b"1 1:1\n".repeat(100_000);
        assert_eq!(unpack(&zstd(&text)), Ok(text.clone()));
        let skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc";
        let frames = [&zstd(&text[..30]), &skipped[..], &zstd(b""), &zstd(&text[30..])].concat();
        assert_eq!(unpack(&frames), Ok(text));
    }

    #[test]
    fn cut_zstd_says_where_it_ends() {
        let packed = zstd(&b"1 1:1\n0 2:0.5\n".repeat(1000));
        for length in [4, 5, 9, packed.len() / 2, packed.len() - 1] {
            let message = format!(
                "data.gz: expected a whole zstd stream, found its end after {length} bytes"
            );
            assert_eq!(unpack(&packed[..length]), Err(message));
        }
    }

    #[test]
    fn damaged_zstd_is_not_text() {
        let packed = zstd(&b"1 1:1\n0 2:0.5\n".repeat(1000));
        let mut checksum = packed.clone();
        checksum[packed.len() - 2] ^= 1;
        let trailing = [packed, b"garbage that is no frame".to_vec()].concat();
        for damaged in [checksum, trailing] {
            let message = unpack(&damaged).unwrap_err();
            let told = "data.gz: expected a sound zstd stream, found damage at most";
            assert!(message.starts_with(told), "{message}");
        }
    }

    /// A zstd frame with one raw block, whose header asks for a window of 2^log bytes.
    fn zstd_with_window(log: u8, text: &[u8]) -> Vec<u8> {
        let block = (text.len() as u32) << 3 | 1;
        [ZSTD, &[0, (log - 10) << 3], &block.to_le_bytes()[..3], text].concat()
    }

    #[test]
    fn a_zstd_window_up_to_128_mib_is_read_and_a_larger_one_is_named_with_the_cure() {
        for log in [20, 26, 27] {
            assert_eq!(unpack(&zstd_with_window(log, b"1 1:1\n")), Ok(b"1 1:1\n".to_vec()));
        }
        for (log, size) in [(28, 256), (31, 2048)] {
            let message = format!(
                "data.gz: expected a zstd window of at most 128 MiB (unpack it with 'zstd -d --long=31', or \
                 pack it again without '--long'), found a window of {size} MiB"
            );
            assert_eq!(unpack(&zstd_with_window(log, b"1 1:1\n")), Err(message));
        }
    }

    #[test]
    fn a_file_that_shrinks_while_it_is_read_is_an_error_and_one_that_grows_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.txt");
        for (length, shrinks) in [(30, true), (0, true), (60, false), (90, false)] {
            std::fs::write(&path, b"1 1:1\n".repeat(10)).unwrap();
            let mut source = Source::open(&path, &never()).unwrap();
            let mut start = [0; 40];
            source.bytes.read_exact(&mut start).unwrap();
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
            let outcome = source.bytes.read_to_end(&mut Vec::new());
            let told = outcome.map_err(|error| source.origin.broken(&error).to_string());
            let expected = "expected a file that stays as it is while it is read, of 60 bytes";
            match shrinks {
                true => assert_eq!(
                    told.unwrap_err(),
                    format!("{}: {expected}, found its end after 40 bytes", path.display())
                ),
                false => assert_eq!(told, Ok(length as usize - 40)),
            }
        }
    }

    #[test]
    fn other_packings_are_named() {
        let message = "data.gz: expected text, gzip or zstd, found an xz stream";
        assert_eq!(unpack(b"\xfd7zXZ\0"), Err(message.into()));
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        assert_eq!(
            open_error("no/such.txt"),
            "no/such.txt: expected a file that can be read, found no such file"
        );
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().to_str().unwrap();
        assert_eq!(
            open_error(name),
            format!("{name}: expected a file that can be read, found a directory")
        );
        assert!(open_error("nul\0byte").contains("trouble"));
    }

    /// A pipe on which nothing arrives but a signal.
    struct Waiting;

    impl Read for Waiting {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(ErrorKind::Interrupted.into())
        }
    }

    #[test]
    fn an_interrupt_can_end_a_read_that_waits() {
        let stop: OnInterrupt = Arc::new(|| Err(io::Error::other("stop")));
        let error = Source::new("<stdin>", Box::new(Waiting), &stop).err().expect("no error");
        assert_eq!(error.found, "trouble (stop) after 0 bytes");
    }

    #[test]
    fn the_bytes_on_disk_are_counted() {
        let packed = gzip(&b"1 1:1\n".repeat(1000));
        let length = packed.len() as u64;
        let mut source = Source::new("data.gz", Box::new(Cursor::new(packed)), &never()).unwrap();
        source.bytes.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(source.origin.consumed(), length);
    }
}
