//! Atomic writes: a file is replaced as a whole, or not at all.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk and renamed over the old
//! one: a reader sees the old content or the new one. The new file has the permissions of the old one. An
//! unfinished file is removed; one that a killed run left is removed by a later run.

mod disk;
#[cfg(test)]
pub mod faults;

use std::collections::hash_map::RandomState;
use std::fs::{self, Permissions};
use std::hash::BuildHasher;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A partial file that was not written to for this long was left by a killed run.
const STALE: Duration = Duration::from_secs(3600);
/// Bytes between two writes. In tests a small model takes many writes, so that each can be made to fail.
const BUFFER: usize = if cfg!(test) { 64 } else { 1 << 20 };
/// As many as Linux follows.
const MOST_LINKS: usize = 40;
const ATTEMPTS: usize = 16;
/// Bytes of a file's name that its temporary name repeats: the longest name that a file system allows must
/// not become too long by what is added.
const REPEATED: usize = 100;
const RANDOM_DIGITS: usize = 16;
const ENDING: &str = ".partial";

/// A file that is being written.
#[derive(Debug)]
pub struct AtomicFile {
    /// The writer of its bytes.
    pub bytes: BufWriter<disk::File>,
    target: PathBuf,
    /// The temporary name, until the file has its final one.
    beside: Option<PathBuf>,
}

impl AtomicFile {
    /// Begin the file that will have the name `path`. Symbolic links are followed.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let target = follow_links(path)?;
        let kept = permissions(&target)?;
        let (file, beside) = create_beside(&target, kept.is_some())?;
        let bytes = BufWriter::with_capacity(BUFFER, file);
        let created = AtomicFile { bytes, target, beside: Some(beside) };
        if let Some(permissions) = kept {
            created.bytes.get_ref().set_permissions(permissions)?;
        }
        Ok(created)
    }

    /// Flush the file and rename it to its final name.
    pub fn finish(mut self) -> io::Result<()> {
        io::Write::flush(&mut self.bytes)?;
        self.bytes.get_ref().sync()?;
        if let Some(beside) = &self.beside {
            disk::rename(beside, &self.target)?;
            self.beside = None;
        }
        sync_folder(&self.target)?;
        remove_stale(&self.target);
        Ok(())
    }
}

impl Drop for AtomicFile {
    /// Remove a half-written file. A failure to remove it is ignored, because another error is already being
    /// reported.
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _ = disk::remove(beside);
        }
    }
}

/// The file that `path` refers to, which need not exist. The rename would replace a link by a file.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The permissions of the file that is to be replaced, if there is one. Anything else, such as a device, would
/// be replaced by the rename, too; it is an error.
fn permissions(target: &Path) -> io::Result<Option<Permissions>> {
    match fs::metadata(target) {
        Ok(data) if data.is_file() => Ok(Some(data.permissions())),
        Ok(_) => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Create the temporary file of `target`. `private`: only its owner may read it until it gets its permissions.
fn create_beside(target: &Path, private: bool) -> io::Result<(disk::File, PathBuf)> {
    let mut attempt = 1;
    loop {
        let beside = target.with_file_name(temporary_name(target));
        match disk::create(&beside, private) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1
            }
            created => return created.map(|file| (file, beside)),
        }
    }
}

/// A name that nobody can guess, so that nobody can put a link or a file of theirs there.
fn temporary_name(target: &Path) -> String {
    // The keys of the hash come from the system's source of randomness. A fork inherits them, so what it hashes
    // must differ from what its parent does.
    let random = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    format!("{}{random:0RANDOM_DIGITS$x}{ENDING}", temporary_prefix(target))
}

fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let mut end = name.len().min(REPEATED);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!(".{}.", &name[..end])
}

/// Remove what killed runs left in the folder, if possible. Failures are ignored.
fn remove_stale(target: &Path) {
    let prefix = temporary_prefix(target);
    for entry in fs::read_dir(folder(target)).into_iter().flatten().flatten() {
        let is_ours = is_temporary(&entry.file_name().to_string_lossy(), &prefix);
        if is_ours && is_stale(&entry) {
            let _ = disk::remove(&entry.path());
        }
    }
}

fn is_temporary(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(ENDING));
    let is_drawn = |random: &str| {
        random.len() == RANDOM_DIGITS && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    random.is_some_and(is_drawn)
}

fn is_stale(entry: &fs::DirEntry) -> bool {
    let written = entry.metadata().and_then(|data| data.modified()).ok();
    written.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE)
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Flush the folder, so that the rename is durable. Some file systems cannot do that; then it is skipped.
fn sync_folder(path: &Path) -> io::Result<()> {
    match disk::sync_folder(folder(path)) {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests;
