//! A file that grows while it is read: a log, as `tail -F` reads it.
//!
//! At its end the reader looks for more every [`PAUSE`]. If another file has its name, as after a rotation, the rest of the old
//! file is read and then the new one from its start. If it became shorter, it is read from its start again. If there is
//! no file, it is waited for.
//!
//! Only whole lines are handed out. The last line of a file that was replaced gets its newline. What was written of a line
//! of a file that was cut is dropped, since the rest of it cannot come any more.
//!
//! Not seen: a file that is cut and grows beyond its old length within one pause.
//!
//! Cost: two questions to the file system a pause.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use memchr::memrchr;

use super::blocks::LONGEST_LINE;
use super::stop::Stop;

/// How long to wait before looking for more: a line is read within it.
const PAUSE: Duration = Duration::from_millis(20);
const PIECE: usize = 64 << 10;

/// The lines of a file, for ever.
pub struct Follow {
    path: PathBuf,
    stop: Stop,
    file: Option<File>,
    /// The number of bytes read of the file.
    at: u64,
    /// Bytes that were read and not handed out. Those before `whole` are lines.
    held: Vec<u8>,
    whole: usize,
    given: usize,
}

impl Follow {
    /// Follow the file `path` from its start until `stop` is set.
    pub fn new(path: PathBuf, stop: Stop) -> Self {
        Follow { path, stop, file: None, at: 0, held: Vec::new(), whole: 0, given: 0 }
    }

    /// Read more of the file; false if there is no more now.
    fn read_more(&mut self) -> io::Result<bool> {
        self.held.drain(..self.given);
        (self.given, self.whole) = (0, 0);
        let Some(file) = &mut self.file else {
            return self.open();
        };
        let had = self.held.len();
        self.held.resize(had + PIECE, 0);
        let count = file.read(&mut self.held[had..]);
        self.held.truncate(had + *count.as_ref().unwrap_or(&0));
        self.at += count? as u64;
        if self.held.len() > had {
            self.whole = memrchr(b'\n', &self.held).map_or(0, |end| end + 1);
            if self.held.len() > LONGEST_LINE {
                // Too long for a line; the next reader says so.
                self.whole = self.held.len();
            }
            return Ok(true);
        }
        self.go_on_elsewhere()
    }

    fn open(&mut self) -> io::Result<bool> {
        match File::open(&self.path) {
            Ok(file) => {
                (self.file, self.at) = (Some(file), 0);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// At the end of the file: whether there is another one, or the same from its start.
    fn go_on_elsewhere(&mut self) -> io::Result<bool> {
        let Some(file) = &mut self.file else { return Ok(false) };
        let ours = file.metadata()?;
        if ours.len() < self.at {
            file.seek(SeekFrom::Start(0))?;
            self.at = 0;
            self.held.clear();
            return Ok(true);
        }
        let is_replaced = fs::metadata(&self.path).is_ok_and(|named| !is_same(&named, &ours));
        if !is_replaced || ours.len() > self.at {
            return Ok(is_replaced);
        }
        if !self.held.is_empty() {
            self.held.push(b'\n');
            self.whole = self.held.len();
        }
        self.file = None;
        Ok(true)
    }
}

impl Read for Follow {
    /// An interrupt, if nothing came for a pause: whoever reads can then look for signals.
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        while self.given == self.whole {
            self.stop.check()?;
            if !self.read_more()? {
                thread::sleep(PAUSE);
                return Err(ErrorKind::Interrupted.into());
            }
        }
        let count = scratch.len().min(self.whole - self.given);
        scratch[..count].copy_from_slice(&self.held[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.created().ok() == other.created().ok()
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::Path;

    use super::*;

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// All that is there now.
    fn now(follow: &mut Follow) -> String {
        let (mut all, mut scratch) = (Vec::new(), [0; 3]);
        loop {
            match follow.read(&mut scratch) {
                Ok(count) => all.extend_from_slice(&scratch[..count]),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Interrupted);
                    return String::from_utf8(all).unwrap();
                }
            }
        }
    }

    #[test]
    fn lines_come_through_growth_rotation_and_truncation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut follow = Follow::new(path.clone(), Stop::default());
        assert_eq!(now(&mut follow), "", "no file yet");
        append(&path, "one\ntw");
        assert_eq!(now(&mut follow), "one\n");
        append(&path, "o\nthree");
        assert_eq!(now(&mut follow), "two\n");

        fs::rename(&path, folder.path().join("log.1")).unwrap();
        append(&folder.path().join("log.1"), " to the end");
        assert_eq!(now(&mut follow), "", "the name is free");
        append(&path, "four\n");
        assert_eq!(now(&mut follow), "three to the end\nfour\n");

        append(&path, "cut i");
        assert_eq!(now(&mut follow), "");
        File::create(&path).unwrap().write_all(b"five\n").unwrap();
        assert_eq!(now(&mut follow), "five\n");
    }

    #[test]
    fn it_ends_when_it_is_stopped() {
        let stop = Stop::default();
        let mut follow = Follow::new(PathBuf::from("no/such/log"), stop.clone());
        assert_eq!(follow.read(&mut [0]).unwrap_err().kind(), ErrorKind::Interrupted);
        stop.set();
        assert_eq!(follow.read(&mut [0]).unwrap_err().kind(), ErrorKind::Other);
    }
}
