//! Selects and crosses the namespaces of a line, for the strict and the fast reader.
//!
//! ```text
//! block 1 │ block 2 │ …  ─selects─▶ features of the example ─append_crosses─▶ features, then crossed features
//! ```
//!
//! A reader tells the blocks of a line, then asks for their crosses. A group of a cross is the features of all blocks
//! that its name stands for, in the order of the line. `:` is replaced by the initials of the line, as in Vowpal
//! Wabbit: the names in its places are combinations with repetition of all initials, which ascend in a cross with one
//! or two `:` and descend in a cross with more.
//!
//! Cost: the features of crossed namespaces are copied once into their groups; crosses with `:` are worked out again
//! when a line has other initials than the line before.

use std::ops::Range;
use std::sync::Arc;

use crate::example::{Chunk, Crossed, Group, MOST_CROSSED, Names, crossed_count, for_each_crossed};
use crate::spec::{ANY, Namespaces, distinct};

/// The initial of the default namespace, as in Vowpal Wabbit.
const DEFAULT: u8 = b' ';

/// A name of a namespace, as a user gives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Any,
    Initial(u8),
    Name(Vec<u8>),
}

impl Term {
    fn of(name: &String) -> Term {
        match name.as_bytes() {
            _ if name == ANY => Term::Any,
            [initial] => Term::Initial(*initial),
            name => Term::Name(name.to_vec()),
        }
    }

    fn stands_for(&self, namespace: &[u8]) -> bool {
        match self {
            Term::Any => true,
            Term::Initial(initial) => *initial == initial_of(namespace),
            Term::Name(name) => name == namespace,
        }
    }
}

fn initial_of(namespace: &[u8]) -> u8 {
    namespace.first().copied().unwrap_or(DEFAULT)
}

fn terms(names: &[String]) -> Vec<Term> {
    names.iter().map(Term::of).collect()
}

/// Why the crosses of a line cannot be features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncrossable {
    /// There are more than [`MOST_CROSSED`]: how many.
    TooMany(u64),
    /// The product of the values is not finite.
    TooLarge,
}

/// A block of a line: the bytes of its name, and its features, counted from the first of the example.
#[derive(Clone, Debug)]
struct Block {
    name: Range<usize>,
    features: Range<usize>,
}

/// Crosses of initials and full names, without `:`.
#[derive(Clone, Debug, Default)]
struct Compiled {
    terms: Vec<Term>,
    /// The positions of the names of each cross in `terms`.
    crosses: Vec<Vec<usize>>,
}

impl Compiled {
    fn new(crosses: Vec<Vec<Term>>) -> Compiled {
        let mut compiled = Compiled::default();
        for cross in crosses {
            let place = |term| compiled.place(term);
            let places = cross.into_iter().map(place).collect();
            compiled.crosses.push(places);
        }
        compiled
    }

    fn place(&mut self, term: Term) -> usize {
        let known = self.terms.iter().position(|known| *known == term);
        known.unwrap_or_else(|| {
            self.terms.push(term);
            self.terms.len() - 1
        })
    }
}

/// The namespaces of a spec, ready for reading, and the blocks of the line being read.
#[derive(Clone, Debug)]
pub struct NamespaceReader {
    spec: Arc<Namespaces>,
    keep: Vec<Term>,
    ignore: Vec<Term>,
    crosses: Vec<Vec<Term>>,
    has_any: bool,
    /// The crosses for lines with these initials.
    compiled: Compiled,
    initials: Vec<u8>,
    /// The blocks of the line, and their names one after another.
    blocks: Vec<Block>,
    text: Vec<u8>,
    groups: Vec<Group>,
    /// For each group, the positions of its features in the example.
    members: Vec<Vec<usize>>,
}

impl NamespaceReader {
    /// A reader for these namespaces, which are checked.
    pub fn new(spec: Arc<Namespaces>) -> Self {
        let crosses: Vec<Vec<Term>> = spec.crosses.iter().map(|cross| terms(cross)).collect();
        NamespaceReader {
            keep: terms(&spec.keep),
            ignore: terms(&spec.ignore),
            has_any: crosses.iter().flatten().any(|term| *term == Term::Any),
            compiled: Compiled::new(expanded(&crosses, &[])),
            crosses,
            spec,
            initials: Vec::new(),
            blocks: Vec::new(),
            text: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
        }
    }

    /// The namespaces of the spec.
    pub fn spec(&self) -> &Arc<Namespaces> {
        &self.spec
    }

    /// Begin a line.
    pub fn begin_line(&mut self) {
        self.blocks.clear();
        self.text.clear();
    }

    /// Whether the features of a namespace are read.
    pub fn selects(&self, namespace: &[u8]) -> bool {
        let is_in = |terms: &[Term]| terms.iter().any(|term| term.stands_for(namespace));
        (self.keep.is_empty() || is_in(&self.keep)) && !is_in(&self.ignore)
    }

    /// Note a block whose features are those of the example.
    pub fn add_block(&mut self, namespace: &[u8], features: Range<usize>) {
        let start = self.text.len();
        self.text.extend_from_slice(namespace);
        self.blocks.push(Block { name: start..self.text.len(), features });
    }

    /// Add the crossed features of the noted blocks to the example being written. `names` are recorded if given.
    pub fn append_crosses(
        &mut self,
        chunk: &mut Chunk,
        mask: u32,
        mut names: Option<&mut Names>,
    ) -> Result<(), Uncrossable> {
        self.compile();
        self.gather(chunk);
        self.check_count()?;
        let zeros = chunk.requirements().zeros;
        let mut largest = 0.0f32;
        for cross in &self.compiled.crosses {
            for_each_crossed(&self.groups, cross, |Crossed { hash, value, parts }| {
                // A product of finite numbers is finite or infinite, or NaN after an infinite one met a zero.
                largest = largest.max(if value.is_nan() { f32::INFINITY } else { value.abs() });
                let slot = hash & mask;
                chunk.push_unchecked(slot, value);
                if let Some(names) = &mut names
                    && (value != 0.0 || zeros)
                {
                    let places = cross.iter().zip(parts);
                    names.note_crossed(slot, places.map(|(&group, &k)| self.members[group][k]));
                }
            });
        }
        if largest.is_finite() { Ok(()) } else { Err(Uncrossable::TooLarge) }
    }

    /// Work out the crosses for the initials of the line.
    fn compile(&mut self) {
        if !self.has_any {
            return;
        }
        let initial = |block: &Block| initial_of(&self.text[block.name.clone()]);
        let mut initials: Vec<u8> = self.blocks.iter().map(initial).collect();
        initials.sort_unstable();
        initials.dedup();
        if initials != self.initials {
            self.compiled = Compiled::new(expanded(&self.crosses, &initials));
            self.initials = initials;
        }
    }

    /// Copy the features of the example into the groups of the crosses.
    fn gather(&mut self, chunk: &Chunk) {
        let (slots, values) = chunk.unfinished();
        let count = self.compiled.terms.len();
        self.groups.resize(count, Group::default());
        self.members.resize(count, Vec::new());
        for (place, term) in self.compiled.terms.iter().enumerate() {
            let (group, members) = (&mut self.groups[place], &mut self.members[place]);
            group.clear();
            members.clear();
            for Block { name, features } in &self.blocks {
                if term.stands_for(&self.text[name.clone()]) {
                    group.extend(&slots[features.clone()], &values[features.clone()]);
                    members.extend(features.clone());
                }
            }
        }
    }

    fn check_count(&self) -> Result<(), Uncrossable> {
        let counts = self.compiled.crosses.iter().map(|cross| crossed_count(&self.groups, cross));
        match counts.fold(0, u64::saturating_add) {
            0..=MOST_CROSSED => Ok(()),
            count => Err(Uncrossable::TooMany(count)),
        }
    }
}

/// The crosses with `:` replaced by these initials, which ascend, in Vowpal Wabbit's normal form.
fn expanded(crosses: &[Vec<Term>], initials: &[u8]) -> Vec<Vec<Term>> {
    let mut all = Vec::new();
    let descending: Vec<u8> = initials.iter().rev().copied().collect();
    for cross in crosses {
        let any = cross.iter().filter(|term| **term == Term::Any).count();
        let initials = if any > 2 { &descending } else { initials };
        expand(cross, initials, 0, &mut Vec::new(), &mut all);
    }
    distinct(all)
}

/// Replace each `:` of the rest of a cross by every initial from number `least` on.
fn expand(
    rest: &[Term],
    initials: &[u8],
    least: usize,
    done: &mut Vec<Term>,
    all: &mut Vec<Vec<Term>>,
) {
    let Some((term, rest)) = rest.split_first() else {
        return all.push(done.clone());
    };
    let is_any = *term == Term::Any;
    let places = if is_any { least..initials.len() } else { least..least + 1 };
    for place in places {
        done.push(if is_any { Term::Initial(initials[place]) } else { term.clone() });
        expand(rest, initials, place, done, all);
        done.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand_words(words: &[&str], initials: &[u8]) -> Vec<String> {
        let letters = |word: &&str| word.chars().map(|c| Term::of(&c.to_string())).collect();
        let crosses: Vec<Vec<Term>> = words.iter().map(letters).collect();
        let letter = |term: &Term| match term {
            Term::Initial(initial) => char::from(*initial),
            Term::Any | Term::Name(_) => '?',
        };
        expanded(&crosses, initials)
            .iter()
            .map(|cross| cross.iter().map(letter).collect())
            .collect()
    }

    /// Vowpal Wabbit 9.11.9 has the same crosses for a line with these namespaces.
    #[test]
    fn any_stands_for_every_initial_of_the_line() {
        assert_eq!(expand_words(&["::"], b" ab"), ["  ", " a", " b", "aa", "ab", "bb"]);
        assert_eq!(expand_words(&["a:"], b" ab"), ["a ", "aa", "ab"]);
        assert_eq!(expand_words(&[":a", "b:"], b" ab"), [" a", "aa", "b ", "ba", "bb"]);
        assert_eq!(expand_words(&["::a"], b"ab"), ["aaa", "aab", "abb"]);
        assert_eq!(expand_words(&["::", "ba"], b"ab"), ["aa", "ab", "bb"]);
        let thrice = ["aaa", "aab", "abb", "bbb", "aac", "cba", "bbc", "acc", "bcc", "ccc"];
        assert_eq!(expand_words(&[":::"], b"abc"), thrice);
        assert_eq!(expand_words(&[":::", "bac"], b"abc").iter().filter(|w| *w == "bac").count(), 1);
        assert_eq!(expand_words(&["::"], b""), [""; 0]);
    }

    #[test]
    fn names_of_one_byte_are_initials() {
        let selects = |keep: &[&str], ignore: &[&str], namespace: &str| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let spec =
                Namespaces { keep: owned(keep), ignore: owned(ignore), ..Namespaces::default() };
            NamespaceReader::new(Arc::new(spec)).selects(namespace.as_bytes())
        };
        assert!(selects(&["u"], &[], "user") && selects(&["user"], &[], "user"));
        assert!(!selects(&["user"], &[], "u") && !selects(&["u"], &["user"], "user"));
        assert!(selects(&[], &["user"], "url") && !selects(&[], &["u"], "url"));
        assert!(selects(&[" "], &[], "") && !selects(&[], &[" "], ""));
    }
}
