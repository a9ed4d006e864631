//! Do imports between modules go down only, as the diagram in `lib.rs` says?
//!
//! Every `crate::` path in the sources is an edge between two top-level modules, called rooms here. They are
//! listed from the top to the bottom; rooms on one line do not use each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&[&str]; 9] = [
    &["pass"],
    &["snapshot", "merge"],
    &["learn", "read", "comparator", "metrics"],
    &["example"],
    &["spec"],
    &["loss", "rule"],
    &["simd", "alloc", "atomic_file"],
    &["error"],
    &[],
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The room that a file belongs to: the first part of its path.
fn room(file: &Path) -> String {
    let path = file.strip_prefix(source()).expect("a file of the sources");
    let first = path.components().next().expect("a file has a name");
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The rooms that a text names by `crate::room`, without comments.
fn named(text: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            let word: String =
                part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            rooms.insert(word);
        }
    }
    rooms
}

/// Every edge from one room to another.
fn edges() -> BTreeSet<(String, String)> {
    let mut edges = BTreeSet::new();
    for file in files(&source()) {
        let from = room(&file);
        let text = fs::read_to_string(&file).expect("a source can be read");
        for to in named(&text) {
            if from != "lib" && from != to {
                edges.insert((from.clone(), to));
            }
        }
    }
    edges
}

fn layer(room: &str) -> usize {
    let found = LAYERS.iter().position(|rooms| rooms.contains(&room));
    found.unwrap_or_else(|| panic!("the room '{room}' stands in no layer of this test"))
}

#[test]
fn every_edge_goes_down() {
    let edges = edges();
    assert!(edges.len() > 10, "the sources were not read: {edges:?}");
    let upward: Vec<_> = edges.iter().filter(|(from, to)| layer(from) >= layer(to)).collect();
    assert!(upward.is_empty(), "edges that do not go down: {upward:?}");
}

#[test]
fn every_room_has_its_layer_and_the_top_is_short() {
    let mut entries: Vec<String> = fs::read_dir(source())
        .expect("the sources can be listed")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().trim_end_matches(".rs").to_owned())
        .collect();
    assert!(entries.len() <= 16, "{entries:?}");
    entries.retain(|entry| entry != "lib");
    for entry in entries {
        layer(&entry);
    }
}

#[test]
fn rooms_are_private_behind_the_facade() {
    let facade = fs::read_to_string(source().join("lib.rs")).expect("lib.rs can be read");
    assert!(!facade.contains("pub mod"), "a room is public");
}
