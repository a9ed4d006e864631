//! Lets the first, second, … read of a file fail in turn: the answer must be an error that says where, after
//! the examples before it, or the examples as they are.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod copies;

use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use copies::{Copied, copied};
use flate2::Compression;
use flate2::write::GzEncoder;
use lessregret_core::{ArrowWriter, BadLines, Chunk, Error, FeatureSpace, Format, Labels};
use lessregret_core::{Stream, StreamSpec};

const BITS: u32 = 12;
const SPEC: StreamSpec = StreamSpec {
    format: Format::Auto,
    space: FeatureSpace::text(BITS, Labels::Any),
    bad_lines: BadLines::Stop,
    names: false,
};

/// What happens at one of the reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The read fails.
    Fails,
    /// The file ends there.
    Ends,
    /// A signal interrupts the read, once.
    Interrupted,
}

/// Bytes that come `step` at a time, with a fault at read number `at`, from 1.
struct Faulty {
    bytes: Cursor<Vec<u8>>,
    step: usize,
    at: usize,
    fault: Fault,
    reads: Arc<AtomicUsize>,
}

impl Read for Faulty {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        match self.fault {
            Fault::Fails if number >= self.at => Err(io::Error::other("the disk is gone")),
            Fault::Ends if number >= self.at => Ok(0),
            Fault::Interrupted if number == self.at => Err(ErrorKind::Interrupted.into()),
            _ => {
                let count = scratch.len().min(self.step);
                self.bytes.read(&mut scratch[..count])
            }
        }
    }
}

/// The examples, and the error after them.
fn drain(mut stream: Stream) -> (Vec<Copied>, Option<Error>) {
    let (mut chunk, mut all) = (Chunk::new(None), Vec::new());
    loop {
        match stream.fill(&mut chunk, 7) {
            Ok(0) => return (all, None),
            Ok(_) => all.extend(copied(&chunk)),
            Err(error) => {
                assert_eq!(stream.fill(&mut chunk, 7), Err(error.clone()), "the error stays");
                return (all, Some(error));
            }
        }
    }
}

/// A text, and the same in every packing.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let line = |k: usize| format!("{} 'tag{k} |a b{k}:0.5 c:{} d\n", k % 2, k % 9 + 1);
    let text: String = (0..20).map(line).collect();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let zstd = ruzstd::encoding::compress_to_vec(text.as_bytes(), level);
    let (folder, mut chunk) = (tempfile::tempdir().unwrap(), Chunk::new(None));
    let path = folder.path().join("examples.arrow");
    Stream::over("data", Box::new(Cursor::new(text.clone())), SPEC).fill(&mut chunk, 99).unwrap();
    let mut writer = ArrowWriter::create(&path, BITS).unwrap();
    writer.write(&chunk).unwrap();
    writer.finish().unwrap();
    vec![
        ("text", text.into_bytes()),
        ("gzip", encoder.finish().unwrap()),
        ("zstd", zstd),
        ("arrow", std::fs::read(&path).unwrap()),
    ]
}

/// A file, and how it is read.
struct Case<'a> {
    kind: &'a str,
    bytes: &'a [u8],
    /// The examples without a fault.
    whole: &'a [Copied],
    step: usize,
    threads: usize,
    fault: Fault,
}

/// Check what a stream gives after a fault at read number `at`; false if there were fewer reads.
fn check(case: &Case<'_>, at: usize) -> bool {
    let &Case { kind, bytes, whole, step, threads, fault } = case;
    let reads = Arc::new(AtomicUsize::new(0));
    let source = Cursor::new(bytes.to_vec());
    let source = Faulty { bytes: source, step, at, fault, reads: Arc::clone(&reads) };
    let (found, error) = drain(Stream::over("data", Box::new(source), SPEC).threads(threads));
    if reads.load(Ordering::Relaxed) < at {
        return false;
    }
    let told = error.as_ref().map(ToString::to_string).unwrap_or_default();
    let case = format!("{kind}, {step} bytes, {threads} threads, {fault:?} at {at}: {told}");
    assert!(fault != Fault::Interrupted || (found == whole && error.is_none()), "{case}");
    if fault == Fault::Fails {
        assert!(matches!(error, Some(Error::Input(_))), "{case}");
        assert!(told.starts_with("data: ") && told.contains("the disk is gone"), "{case}");
        assert!(told.contains(" after ") && told.contains(" bytes"), "{case}");
    }
    // Text has no end mark: a pipe that ends in the middle of a line ends there.
    if kind != "text" {
        assert!(whole.starts_with(&found), "{case}");
        let nothing = fault == Fault::Ends && (at == 1 || step < 4 && at <= 8);
        assert!(error.is_some() || found == whole || nothing, "{case}");
    }
    true
}

#[test]
fn every_read_may_fail_end_or_be_interrupted() {
    let mut faults = 0;
    for (kind, bytes) in &files() {
        let (whole, none) = drain(Stream::over("data", Box::new(Cursor::new(bytes.clone())), SPEC));
        assert_eq!((none, whole.len()), (None, 20));
        for (step, threads) in [(1 << 20, 1), (97, 1), (197, 2), (3, 1)] {
            for fault in [Fault::Fails, Fault::Ends, Fault::Interrupted] {
                let case = Case { kind, bytes, whole: &whole, step, threads, fault };
                let met = (1..).take_while(|&at| check(&case, at)).count();
                faults += met;
            }
        }
    }
    eprintln!("{faults} reads failed, ended or were interrupted");
    assert!(faults > 1000, "{faults}");
}
