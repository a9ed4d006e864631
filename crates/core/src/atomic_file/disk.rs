//! The operations on the disk that an atomic write makes. In tests, `faults` makes any of them fail.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

#[cfg(test)]
use super::faults::permit;

/// An operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Create the temporary file.
    Create,
    /// Give it the permissions of the file that it replaces.
    SetPermissions,
    /// Write bytes to it.
    Write,
    /// Go to another position of it.
    Seek,
    /// Flush it to the disk.
    Sync,
    /// Give it its final name.
    Rename,
    /// Flush its folder to the disk.
    SyncFolder,
    /// Remove it.
    Remove,
}

/// How many of the bytes of an operation may be written.
#[cfg(not(test))]
fn permit(_: Operation, bytes: usize) -> io::Result<usize> {
    Ok(bytes)
}

/// A file that is being written.
#[derive(Debug)]
pub struct File(fs::File);

impl File {
    /// Give it these permissions.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        permit(Operation::SetPermissions, 0)?;
        self.0.set_permissions(permissions)
    }

    /// Flush it to the disk.
    pub fn sync(&self) -> io::Result<()> {
        permit(Operation::Sync, 0)?;
        self.0.sync_all()
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = permit(Operation::Write, bytes.len())?;
        self.0.write(&bytes[..length])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        permit(Operation::Seek, 0)?;
        self.0.seek(position)
    }
}

/// Create a file; whatever has its name, a dangling link too, is an error. A `private` file can be read by its
/// owner only, until it gets other permissions.
pub fn create(path: &Path, private: bool) -> io::Result<File> {
    permit(Operation::Create, 0)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path).map(File)
}

/// Give a file another name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    permit(Operation::Rename, 0)?;
    fs::rename(from, to)
}

/// Flush a folder to the disk. Skipped on systems where a folder cannot be opened.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    permit(Operation::SyncFolder, 0)?;
    fs::File::open(folder).map_or(Ok(()), |folder| folder.sync_all())
}

/// Remove a file.
pub fn remove(path: &Path) -> io::Result<()> {
    permit(Operation::Remove, 0)?;
    fs::remove_file(path)
}
