//! Is the model file whole, whichever operation of a save fails?
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::{Learner, Source};
use crate::atomic_file::faults::{Fault, Operation, Plan, during};
use crate::error::Error;
use crate::read::format::Format;
use crate::read::stream::{BadLines, Stream, StreamSpec};
use crate::spec::Spec;

const SPEC: &str = r#"{
    "loss": "logistic", "table": {"bits": 10}, "intercept": true, "certify": true,
    "rule": {"name": "per-coordinate", "rate": "auto", "offset": 0.3, "radius": 100.0, "box": null}
}"#;

fn trained(text: &str) -> Learner {
    let mut learner = Learner::new(Spec::parse(SPEC).unwrap(), None).unwrap();
    let (format, bad_lines, names) = (Format::Auto, BadLines::Stop, true);
    let spec = StreamSpec { format, space: learner.space().clone(), bad_lines, names };
    let source = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let mut stream = Stream::over("data", source, spec).threads(1);
    learner.learn(Source::Stream(&mut stream, None)).unwrap();
    learner.keep_names(&stream).unwrap();
    learner
}

fn old_and_new() -> (Learner, Learner) {
    (trained("1 |a b c\n-1 |a d\n"), trained("-1 |a b c:0.5 d e f\n1 |a g h\n1 |i\n"))
}

/// A folder with the model `m`: the old one, or none yet.
struct Place {
    folder: tempfile::TempDir,
    path: PathBuf,
    old: Option<Vec<u8>>,
}

impl Place {
    fn new(old: Option<&Learner>) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        if let Some(old) = old {
            old.save(&path, false).unwrap();
        }
        let old = fs::read(&path).ok();
        Place { folder, path, old }
    }

    /// Only the model is there, and it is the old one or, after the rename, the new one.
    fn assert_whole(&self, new: &[u8], renamed: bool) {
        let expected = if renamed { Some(new) } else { self.old.as_deref() };
        assert_eq!(fs::read(&self.path).ok().as_deref(), expected);
        if expected.is_some() {
            Learner::load(&self.path).unwrap();
        }
        let entries = fs::read_dir(self.folder.path()).unwrap().count();
        assert_eq!(entries, usize::from(expected.is_some()), "a temporary file is left");
    }
}

fn assert_names_path_and_cause(error: &Error, path: &Path) {
    let cause = "cannot be written: No space left on device (os error 28)";
    assert_eq!(error.to_string(), format!("{}: {cause}", path.display()));
}

/// Save with a failing first operation, then with a failing second one and so on, until a save meets no fault.
/// The number of faults by operation.
fn fail_each(old: Option<&Learner>, new: &Learner, slim: bool) -> BTreeMap<Operation, usize> {
    let mut faults = BTreeMap::new();
    let reference = Place::new(None);
    new.save(&reference.path, slim).unwrap();
    let content = fs::read(&reference.path).unwrap();
    let in_memory = new.to_bytes().unwrap();
    for first in 1.. {
        let place = Place::new(old);
        let plan = Plan { fault: Fault::Fails, first, lasting: false };
        let (saved, hit) = during(plan, || new.save(&place.path, slim));
        let Some(&operation) = hit.first() else {
            saved.unwrap();
            place.assert_whole(&content, true);
            return faults;
        };
        *faults.entry(operation).or_default() += 1;
        assert_names_path_and_cause(&saved.unwrap_err(), &place.path);
        place.assert_whole(&content, operation == Operation::SyncFolder);
        assert_eq!(new.to_bytes().unwrap(), in_memory);
        new.save(&place.path, slim).unwrap();
        place.assert_whole(&content, true);
    }
    unreachable!()
}

#[test]
fn every_operation_may_fail() {
    let (old, new) = old_and_new();
    let mut total = 0;
    for (old, slim) in [(None, false), (None, true), (Some(&old), false), (Some(&old), true)] {
        let faults = fail_each(old, &new, slim);
        let mut expected = vec![Operation::Create, Operation::SetPermissions, Operation::Write];
        expected.extend([
            Operation::Seek,
            Operation::Sync,
            Operation::Rename,
            Operation::SyncFolder,
        ]);
        expected.retain(|&operation| old.is_some() || operation != Operation::SetPermissions);
        assert_eq!(faults.keys().copied().collect::<Vec<_>>(), expected);
        assert!(faults[&Operation::Write] > 2, "{faults:?}");
        total += faults.values().sum::<usize>();
        // `cargo test -- --nocapture` shows it.
        eprintln!("old model: {}, slim: {slim}: {faults:?}", old.is_some());
    }
    eprintln!("faults injected into saves: {total}");
}

#[test]
fn a_disk_that_stays_broken_leaves_the_old_model() {
    let (old, new) = old_and_new();
    let content = new.to_bytes().unwrap();
    for first in 1.. {
        let place = Place::new(Some(&old));
        let plan = Plan { fault: Fault::Fails, first, lasting: true };
        let (saved, hit) = during(plan, || new.save(&place.path, false));
        if hit.is_empty() {
            saved.unwrap();
            return;
        }
        assert_names_path_and_cause(&saved.unwrap_err(), &place.path);
        let renamed = hit[0] == Operation::SyncFolder;
        let expected = if renamed { &content } else { place.old.as_ref().unwrap() };
        assert_eq!(&fs::read(&place.path).unwrap(), expected);
        // The temporary file could not be removed; it does not hinder the next save.
        new.save(&place.path, false).unwrap();
        assert_eq!(fs::read(&place.path).unwrap(), content);
    }
}

#[test]
fn short_and_interrupted_writes_lose_nothing() {
    let (old, new) = old_and_new();
    for fault in [Fault::Short, Fault::Interrupted] {
        let place = Place::new(Some(&old));
        let plan = Plan { fault, first: 1, lasting: true };
        let (saved, hit) = during(plan, || new.save(&place.path, false));
        saved.unwrap();
        assert!(hit.len() > 4, "{fault:?}: {hit:?}");
        place.assert_whole(&new.to_bytes().unwrap(), true);
    }
}
