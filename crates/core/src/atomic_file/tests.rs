#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::io::Write;
use std::path::Path;

use super::faults::{Fault, Operation, Plan, during};
use super::{AtomicFile, is_temporary, temporary_name, temporary_prefix};

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.bytes.write_all(content)?;
    file.finish()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_longest_name_of_the_file_system_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let long = "é".repeat(127);
    write(&folder.path().join(&long), b"new").unwrap();
    assert_eq!(names(folder.path()), std::slice::from_ref(&long));
    let error = write(&folder.path().join(long + "éé"), b"new").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidFilename);
}

#[test]
fn temporary_names_are_known_by_their_form_and_differ() {
    let target = Path::new("folder/m");
    let (one, other) = (temporary_name(target), temporary_name(target));
    assert_ne!(one, other);
    assert_eq!(one.len(), ".m.".len() + 16 + ".partial".len());
    assert!(is_temporary(&one, &temporary_prefix(target)));
    let longer = temporary_name(Path::new("m.1"));
    assert!(!is_temporary(&longer, &temporary_prefix(target)));
}

#[test]
fn a_failed_removal_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    write(&path, b"old").unwrap();
    let plan = Plan { fault: Fault::Fails, first: 3, lasting: true };
    let (done, hit) = during(plan, || write(&path, b"new"));
    done.unwrap_err();
    assert!(hit.contains(&Operation::Remove), "{hit:?}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    write(&path, b"next").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"next");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_permissions_of_the_old_file_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        write(&path, b"old").unwrap();
        for permissions in [0o600, 0o640, 0o644, 0o666, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).unwrap();
            write(&path, b"new").unwrap();
            assert_eq!(mode(&path), permissions);
        }
    }

    #[test]
    fn nobody_else_reads_what_replaces_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let file = AtomicFile::create(&path).unwrap();
        assert_eq!(mode(file.beside.as_deref().unwrap()), 0o600);
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("versions")).unwrap();
        symlink("versions/7", at("latest")).unwrap();
        symlink("latest", at("link")).unwrap();
        for content in [b"dangling", b"existing"] {
            write(&at("link"), content).unwrap();
            assert_eq!(fs::read(at("versions/7")).unwrap(), content);
            assert!(fs::symlink_metadata(at("latest")).unwrap().is_symlink());
            assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        }
        assert_eq!(names(&at("versions")), ["7"]);
        assert_eq!(names(folder.path()), ["latest", "link", "versions"]);
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("b", at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        assert_eq!(write(&at("a"), b"new").unwrap_err().to_string(), "too many symbolic links");
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_planted_name_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), b"theirs").unwrap();
        for planted in ["victim", "nowhere"] {
            symlink(planted, at(".m.0000000000000000.partial")).unwrap();
            let refused = super::super::disk::create(&at(".m.0000000000000000.partial"), true);
            assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
            fs::remove_file(at(".m.0000000000000000.partial")).unwrap();
        }
        assert_eq!(fs::read(at("victim")).unwrap(), b"theirs");
        assert_eq!(names(folder.path()), ["victim"]);
    }
}
