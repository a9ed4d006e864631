//! Atomic writes: a file is replaced as a whole, or not at all.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk and renamed over the old
//! one: a reader sees the old content or the new one. An unfinished file is removed; one that a killed run
//! left is removed by a later run.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A partial file that was not written to for this long was left by a killed run.
const STALE: Duration = Duration::from_secs(3600);

/// A file that is being written.
#[derive(Debug)]
pub struct AtomicFile {
    /// The writer of its bytes.
    pub bytes: BufWriter<File>,
    target: PathBuf,
    beside: PathBuf,
}

impl AtomicFile {
    /// Begin the file that will have the name `path`.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let target = target(path)?;
        let beside = beside(&target);
        let bytes = BufWriter::with_capacity(1 << 20, File::create(&beside)?);
        Ok(AtomicFile { bytes, target, beside })
    }

    /// Flush the file and rename it to its final name.
    pub fn finish(mut self) -> io::Result<()> {
        io::Write::flush(&mut self.bytes)?;
        self.bytes.get_ref().sync_all()?;
        fs::rename(&self.beside, &self.target)?;
        sync_folder(&self.target)?;
        remove_stale(&self.target);
        Ok(())
    }
}

impl Drop for AtomicFile {
    /// Remove a half-written file. A failure to remove it is ignored, because another error is already being
    /// reported. A finished file has another name by now.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}

/// The file that `path` refers to: symbolic links are followed; a device, which the rename would replace, is
/// an error.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(data) if data.is_file() => fs::canonicalize(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")),
        Err(_) => Ok(path.to_owned()),
    }
}

/// A name in the same folder that no other file being written has, in this process or another.
fn beside(path: &Path) -> PathBuf {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let (process, file) = (std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    path.with_file_name(format!("{}{process}-{file}.partial", partial_prefix(path)))
}

fn partial_prefix(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Remove what killed runs left in the folder, if possible. Failures are ignored.
fn remove_stale(path: &Path) {
    let prefix = partial_prefix(path);
    for entry in fs::read_dir(folder(path)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let partial = name.starts_with(&prefix) && name.ends_with(".partial");
        if partial && is_stale(&entry) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_stale(entry: &fs::DirEntry) -> bool {
    let written = entry.metadata().and_then(|data| data.modified()).ok();
    written.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE)
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Flush the folder, so that the rename is durable. Skipped on systems where a folder cannot be opened.
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(folder(path)) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}
