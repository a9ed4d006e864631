//! Which namespaces of Vowpal Wabbit text are read, and which are crossed.
//!
//! ```text
//! name  = initial | full name         an initial is one byte: all namespaces that begin with it
//! cross = name {name}                 two names or more; the initial ":" stands for every namespace
//! ```
//!
//! A cross has a feature for every combination of the features of its namespaces. The default namespace has the
//! initial `" "`. Namespaces that are not read take no part in crosses.
//!
//! Crosses are kept in Vowpal Wabbit's normal form ([`distinct`]), so that two spellings of the same features are equal.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The initial that stands for every namespace.
pub const ANY: &str = ":";
/// The most names of a cross.
pub const MOST_NAMES: usize = 16;
/// The most names of a cross that may be [`ANY`]: the number of combinations grows with its power.
const MOST_ANY: usize = 3;

/// Which groups of features are read, and which are crossed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Namespaces {
    /// What the groups are.
    pub of: Groups,
    /// The namespaces that are read; all if there are none here.
    pub keep: Vec<String>,
    /// The namespaces that are not read.
    pub ignore: Vec<String>,
    /// The crosses.
    pub crosses: Vec<Vec<String>>,
}

/// What the groups of features are that names stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Groups {
    /// The namespaces of text.
    #[default]
    Namespaces,
    /// The keys of dicts; every name is a full one.
    Keys,
}

/// The document before its names are put in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    of: Groups,
    keep: Vec<String>,
    ignore: Vec<String>,
    crosses: Vec<Vec<String>>,
}

impl From<Written> for Namespaces {
    fn from(written: Written) -> Self {
        let Written { of, keep, ignore, crosses } = written;
        let unique = |names: Vec<String>| BTreeSet::from_iter(names).into_iter().collect();
        Namespaces { of, keep: unique(keep), ignore: unique(ignore), crosses: distinct(crosses) }
    }
}

impl Namespaces {
    /// Parse and check the JSON form.
    pub fn parse(text: &str) -> Result<Self> {
        let namespaces: Namespaces = serde_json::from_str(text).map_err(|error| {
            Error::Spec(format!("the namespaces cannot be understood: {error}"))
        })?;
        namespaces.check().map(|()| namespaces)
    }

    /// Check that the names can be names of namespaces, and that no option contradicts another.
    pub fn check(&self) -> Result<()> {
        for (option, names) in [("keep", &self.keep), ("ignore", &self.ignore)] {
            for name in names {
                check_name(option, name)?;
                if name == ANY {
                    return refuse(option, "the name of a namespace", name);
                }
            }
        }
        if let Some(both) = self.keep.iter().find(|name| self.ignore.contains(name)) {
            return Err(Error::Spec(format!(
                "namespace '{both}' is to be kept and to be ignored; leave out one of the two"
            )));
        }
        self.crosses.iter().try_for_each(|cross| self.check_cross(cross))
    }

    /// What is done, in words.
    pub fn described(&self) -> String {
        let crosses: Vec<String> = self.crosses.iter().map(|cross| cross.join("*")).collect();
        let parts = [("crosses", &crosses), ("keep", &self.keep), ("ignore", &self.ignore)];
        let said = parts.iter().filter(|(_, names)| !names.is_empty());
        let said: Vec<_> =
            said.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
        said.join("; ")
    }

    fn check_cross(&self, cross: &[String]) -> Result<()> {
        let written = cross.join("*");
        if !(2..=MOST_NAMES).contains(&cross.len()) {
            let expected = format!("from 2 to {MOST_NAMES} names in a cross");
            return refuse("crosses", &expected, &written);
        }
        cross.iter().try_for_each(|name| check_name("crosses", name))?;
        if self.of == Groups::Keys {
            return Ok(());
        }
        let any = cross.iter().filter(|name| *name == ANY).count();
        if any > MOST_ANY {
            return refuse("crosses", &format!("at most {MOST_ANY} times ':'"), &written);
        }
        if any > 0 && cross.iter().any(|name| name.len() > 1) {
            let expected = "initials beside ':', which stands for any initial";
            return refuse("crosses", expected, &written);
        }
        Ok(())
    }
}

fn check_name(option: &str, name: &str) -> Result<()> {
    let is_long = name.len() > 1;
    let is_bad = |byte: u8| {
        matches!(byte, b'\t' | b'|' | b'\r' | b'\n') || (is_long && matches!(byte, b' ' | b':'))
    };
    match name.is_empty() || name.bytes().any(is_bad) {
        true => refuse(option, "the name of a namespace", name),
        false => Ok(()),
    }
}

fn refuse<T>(option: &str, expected: &str, found: &str) -> Result<T> {
    Err(Error::Spec(format!("{option}: expected {expected}, found '{found}'")))
}

/// The crosses in Vowpal Wabbit's normal form: sorted; of crosses of the same names, in any order, the first stays; a
/// cross that has a name twice among others is itself sorted, so that equal names stand together.
pub fn distinct<T: Ord + Clone>(mut crosses: Vec<Vec<T>>) -> Vec<Vec<T>> {
    crosses.sort();
    let mut met = BTreeSet::new();
    let mut kept = Vec::new();
    for cross in crosses {
        let mut sorted = cross.clone();
        sorted.sort();
        if met.insert(sorted.clone()) {
            kept.push(if mixes_repeats(&sorted) { sorted } else { cross });
        }
    }
    kept
}

/// Whether sorted names have both equal and different neighbours.
fn mixes_repeats<T: Eq>(sorted: &[T]) -> bool {
    let mut pairs = sorted.windows(2);
    let first = pairs.next().is_some_and(|pair| pair[0] == pair[1]);
    pairs.any(|pair| (pair[0] == pair[1]) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crosses(words: &[&str]) -> Vec<Vec<String>> {
        let letters = |word: &&str| word.chars().map(String::from).collect();
        words.iter().map(letters).collect()
    }

    fn told(namespaces: &Namespaces) -> String {
        namespaces.check().err().map(|error| error.to_string()).unwrap_or_default()
    }

    /// Vowpal Wabbit 9.11.9 crosses the same namespaces in the same order.
    #[test]
    fn crosses_have_the_normal_form_of_vowpal_wabbit() {
        for (given, expected) in [
            (&["ab", "ba"][..], &["ab"][..]),
            (&["ba"], &["ba"]),
            (&["aba", "baa", "aab"], &["aab"]),
            (&["aa", "bb", "aa"], &["aa", "bb"]),
            (&["ba", "ab"], &["ab"]),
            (&["cab", "bca"], &["bca"]),
            (&["bbaa"], &["aabb"]),
            (&["b::", ":b", "b:"], &[":b", "::b"]),
        ] {
            assert_eq!(distinct(crosses(given)), crosses(expected), "{given:?}");
        }
    }

    #[test]
    fn impossible_names_are_refused() {
        let crossed = |cross: &[&str]| Namespaces {
            crosses: vec![cross.iter().map(|&name| name.to_owned()).collect()],
            ..Namespaces::default()
        };
        assert_eq!(told(&crossed(&["user", "hour", " ", "é"])), "");
        assert_eq!(told(&crossed(&[":", "a", ":", ":"])), "");
        for (cross, named) in [
            (&["user"][..], "from 2 to 16 names in a cross, found 'user'"),
            (&["user", ""], "the name of a namespace, found ''"),
            (&["user", "a b"], "the name of a namespace, found 'a b'"),
            (&["user", ":"], "initials beside ':', which stands for any initial, found 'user*:'"),
            (&[":", ":", ":", ":"], "at most 3 times ':'"),
        ] {
            assert!(told(&crossed(cross)).contains(named), "{}", told(&crossed(cross)));
        }
        let both = Namespaces {
            keep: vec!["a".to_owned()],
            ignore: vec!["a".to_owned()],
            ..Namespaces::default()
        };
        assert!(told(&both).contains("'a' is to be kept and to be ignored"));
    }

    #[test]
    fn the_written_form_is_put_in_order() -> Result<()> {
        let written = r#"{"of":"namespaces","keep":["b","a","b"],"ignore":[],
            "crosses":[["a","b"],["b","a"],["user","hour"]]}"#;
        let namespaces = Namespaces::parse(written)?;
        assert_eq!(namespaces.described(), "crosses a*b, user*hour; keep a, b");
        let again = serde_json::to_string(&namespaces).unwrap_or_default();
        assert_eq!(Namespaces::parse(&again)?, namespaces);
        Ok(())
    }
}
