//! The names of the features: the first name of each slot, and which slots have collisions.
//!
//! ```text
//! name    = index | [namespace "^"] feature | [namespace "^"] ":" position
//! crossed = name {"*" name}
//! ```
//!
//! An index is svmlight's; the last form is Vowpal Wabbit's feature without a name. The names of a line are
//! recorded only when the line is known to be good, so that a skipped line leaves nothing behind.
//!
//! Cost: the bytes of one name and about 40 more per slot met, and one lookup per feature read; hence opt-in.

use std::collections::HashMap;
use std::io::Write;

/// The name of a feature in its parts, as the readers find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name<'a> {
    /// A feature whose name is a number.
    Index(u64),
    /// A named feature; the default namespace is empty.
    Word {
        /// The namespace's name.
        namespace: &'a [u8],
        /// The feature's name.
        feature: &'a [u8],
    },
    /// A feature without a name.
    Position {
        /// The namespace's name.
        namespace: &'a [u8],
        /// Its position among the nameless features of its block, from 0.
        position: u64,
    },
}

impl Name<'_> {
    fn write(self, text: &mut Vec<u8>) {
        match self {
            Name::Index(index) => write_number(text, index),
            Name::Word { namespace, feature } => {
                write_namespace(text, namespace);
                text.extend_from_slice(feature);
            }
            Name::Position { namespace, position } => {
                write_namespace(text, namespace);
                text.push(b':');
                write_number(text, position);
            }
        }
    }
}

fn write_namespace(text: &mut Vec<u8>, namespace: &[u8]) {
    if !namespace.is_empty() {
        text.extend_from_slice(namespace);
        text.push(b'^');
    }
}

fn write_number(text: &mut Vec<u8>, number: u64) {
    // Writing to a vector cannot fail.
    let _ = write!(text, "{number}");
}

/// The names of the slots met so far.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: Vec<u8>,
    entries: HashMap<u32, Entry>,
    pending_text: Vec<u8>,
    pending: Vec<(u32, usize)>,
    /// The names of the features of the line that crosses are made of, one after another, and their ends.
    part_text: Vec<u8>,
    part_ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    end: usize,
    collided: bool,
}

impl Names {
    /// Note the name of a feature of the line being read.
    pub fn note(&mut self, slot: u32, name: Name<'_>) {
        name.write(&mut self.pending_text);
        self.pending.push((slot, self.pending_text.len()));
    }

    /// Note the name of a feature of the line that crosses may be made of.
    pub fn note_part(&mut self, name: Name<'_>) {
        name.write(&mut self.part_text);
        self.part_ends.push(self.part_text.len());
    }

    /// Note the name of a crossed feature: those of the parts with these numbers, with stars between.
    pub fn note_crossed(&mut self, slot: u32, parts: impl Iterator<Item = usize>) {
        for (place, part) in parts.enumerate() {
            if place > 0 {
                self.pending_text.push(b'*');
            }
            let start = if part == 0 { 0 } else { self.part_ends[part - 1] };
            self.pending_text.extend_from_slice(&self.part_text[start..self.part_ends[part]]);
        }
        self.pending.push((slot, self.pending_text.len()));
    }

    /// Record the noted names: the line was good.
    pub fn keep(&mut self) {
        let mut start = 0;
        for k in 0..self.pending.len() {
            let (slot, end) = self.pending[k];
            self.enter(slot, start, end);
            start = end;
        }
        self.forget();
    }

    /// Discard the noted names: the line was bad.
    pub fn forget(&mut self) {
        self.pending.clear();
        self.pending_text.clear();
        self.part_text.clear();
        self.part_ends.clear();
    }

    /// The first name met in `slot`.
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        let entry = self.entries.get(&slot)?;
        Some(&self.text[entry.start..entry.end])
    }

    /// Whether two different names were met in `slot`.
    pub fn collided(&self, slot: u32) -> bool {
        self.entries.get(&slot).is_some_and(|entry| entry.collided)
    }

    /// The slots met, ascending.
    pub fn slots(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = self.entries.keys().copied().collect();
        slots.sort_unstable();
        slots
    }

    /// The number of slots met.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no slot was met.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of slots in which two different names were met.
    pub fn collisions(&self) -> usize {
        self.entries.values().filter(|entry| entry.collided).count()
    }

    /// Merge another record, as if its lines had come after these.
    pub fn merge(&mut self, later: &Names) {
        for slot in later.slots() {
            if let Some(name) = later.get(slot) {
                self.insert(slot, name, later.collided(slot));
            }
        }
    }

    /// Add a name of a slot, and whether another name is known to collide with it.
    pub fn insert(&mut self, slot: u32, name: &[u8], collided: bool) {
        self.forget();
        self.pending_text.extend_from_slice(name);
        self.enter(slot, 0, name.len());
        self.forget();
        if let Some(entry) = self.entries.get_mut(&slot) {
            entry.collided |= collided;
        }
    }

    fn enter(&mut self, slot: u32, start: usize, end: usize) {
        let name = &self.pending_text[start..end];
        if let Some(entry) = self.entries.get_mut(&slot) {
            entry.collided |= &self.text[entry.start..entry.end] != name;
            return;
        }
        let start = self.text.len();
        self.text.extend_from_slice(name);
        let end = self.text.len();
        self.entries.insert(slot, Entry { start, end, collided: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word<'a>(namespace: &'a str, feature: &'a str) -> Name<'a> {
        Name::Word { namespace: namespace.as_bytes(), feature: feature.as_bytes() }
    }

    #[test]
    fn names_are_written_as_vowpal_wabbit_writes_them() {
        let mut names = Names::default();
        names.note(1, word("user", "age"));
        names.note(2, word("", "age"));
        names.note(3, Name::Index(u64::MAX));
        names.note(4, Name::Position { namespace: b"pixels", position: 12 });
        names.note(5, Name::Position { namespace: b"", position: 0 });
        names.keep();
        let written: Vec<_> = names.slots().iter().filter_map(|&slot| names.get(slot)).collect();
        let expected: [&[u8]; 5] =
            [b"user^age", b"age", b"18446744073709551615", b"pixels^:12", b":0"];
        assert_eq!(written, expected);
    }

    #[test]
    fn the_first_name_stays_and_another_is_a_collision() {
        let mut names = Names::default();
        for name in ["first", "first", "second"] {
            names.note(7, word("", name));
        }
        names.note(8, word("", "first"));
        names.keep();
        assert_eq!(names.get(7), Some(b"first".as_slice()));
        assert!(names.collided(7) && !names.collided(8) && !names.collided(9));
        assert_eq!((names.len(), names.collisions()), (2, 1));
    }

    #[test]
    fn a_bad_line_leaves_no_names() {
        let mut names = Names::default();
        names.note(7, word("", "bad"));
        names.forget();
        names.note(7, word("", "good"));
        names.keep();
        assert_eq!(names.get(7), Some(b"good".as_slice()));
        assert_eq!(names.collisions(), 0);
    }
}
