//! Vowpal Wabbit's hashing: from the name of a feature to its slot.
//!
//! ```text
//! hash(name, seed) = number + seed                 if the trimmed name is all digits
//!                  = murmur3_x86_32(name, seed)    else
//! slot             = hash(feature, hash(namespace, 0)) mod 2^bits
//! ```
//!
//! This is what `vw --hash strings --hash_seed 0`, its default, does. The hash of the default namespace is 0.
//! A feature without a name, `:1.5`, has the hash of its namespace plus its position among the nameless
//! features of its block, counted from 0; every `|` starts a new block, even of the same namespace.
//!
//! Cost: one pass over the name, four bytes at a time; nothing is allocated.
//!
//! The numbers in the tests below are Vowpal Wabbit 9.11.9's own.

use crate::simd::murmur3::{Prefix, murmur3};

/// The slot of a feature in the default namespace, of 2^bits slots.
pub fn slot(name: &[u8], bits: u32) -> u32 {
    masked(feature(name, 0), bits)
}

/// The slot of a hash, at `bits` bits.
pub fn masked(hash: u64, bits: u32) -> u32 {
    (hash & ((1 << bits) - 1)) as u32
}

/// The hash of a namespace; the default one has the empty name.
pub fn namespace(name: &[u8]) -> u64 {
    hash(name, 0)
}

/// The hash of a feature in a namespace of hash `namespace`.
pub fn feature(name: &[u8], namespace: u64) -> u64 {
    hash(name, namespace)
}

/// The start of the names of a column's features in the default namespace: `column=`.
#[derive(Clone, Copy, Debug)]
pub struct ColumnPrefix(pub Prefix);

impl ColumnPrefix {
    /// The start of the names of the column `name`.
    pub fn new(name: &str) -> Self {
        let start = name.bytes().position(|byte| byte > b' ').unwrap_or(name.len());
        ColumnPrefix(Prefix::new(format!("{}=", &name[start..]).as_bytes()))
    }

    /// The hash of the feature `column=value`. The name is never all digits, so it is not a number.
    pub fn feature(&self, mut value: &[u8]) -> u64 {
        while let [rest @ .., 0..=b' '] = value {
            value = rest;
        }
        u64::from(self.0.murmur3(value))
    }
}

/// The hash of the nameless feature at `position` of a block.
pub fn nameless(position: u64, namespace: u64) -> u64 {
    namespace.wrapping_add(position)
}

fn hash(name: &[u8], seed: u64) -> u64 {
    let name = trimmed(name);
    match digits(name) {
        Some(number) => number.wrapping_add(seed),
        None => u64::from(murmur3(name, seed as u32)),
    }
}

fn trimmed(name: &[u8]) -> &[u8] {
    let Some(first) = name.iter().position(|&byte| byte > b' ') else {
        return &[];
    };
    let last = name.iter().rposition(|&byte| byte > b' ').unwrap_or(first);
    &name[first..=last]
}

/// The number in a name of digits, modulo 2^64 as in Vowpal Wabbit; 0 for the empty name.
fn digits(name: &[u8]) -> Option<u64> {
    name.iter().try_fold(0u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        Some(number.wrapping_mul(10).wrapping_add(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hash_as_in_vowpal_wabbit() {
        let long: &str = &"x".repeat(1000);
        // Namespace, feature, index with `-b 18`, index with `-b 24`.
        let known = [
            ("a", "b", 144016, 7221904),
            ("", "b", 163331, 14581251),
            ("user", "age", 23567, 12868623),
            ("", "é", 67463, 1116039),
            ("日本", "語", 180405, 11714741),
            ("a^b", "c^d", 74393, 1909401),
            ("", "a^b", 222838, 747126),
            ("", "7", 7, 7),
            ("", "007", 7, 7),
            ("ns", "7", 120351, 11130399),
            ("ns", "007", 120351, 11130399),
            ("", "1e3", 117644, 5098380),
            ("ns", "-1", 173916, 6727516),
            ("ns", "1.5", 53554, 10539314),
            ("12", "b", 114251, 12172875),
            ("12", "34", 46, 46),
            ("4294967297", "x", 174622, 13543966),
            ("4294967297", "3", 4, 4),
            ("12345678901234567890123", "5", 148688, 4342992),
            ("ns", "18446744073709551616", 120344, 11130392),
            ("ns", "99999999999999999999999", 120343, 2741783),
            ("ns", long, 79927, 10827831),
            (long, "f", 73817, 15016025),
            ("ns", "\u{3}x\u{4}", 228146, 228146),
            ("ns", "\u{1}", 120344, 11130392),
            ("\u{1}", "b", 163331, 14581251),
            ("ns", "\u{3}12\u{4}", 120356, 11130404),
            ("ns", "a'b", 157058, 11167106),
            ("ns", "#", 176263, 4894855),
            ("ns", "\u{a0}x\u{a0}", 102000, 11898480),
            ("ns", "ab", 53047, 6082359),
            ("ns", "abc", 16258, 8404866),
            ("ns", "abcd", 141203, 5908371),
            ("ns", "abcde", 103599, 10851503),
        ];
        for (space, name, small, large) in known {
            let hash = feature(name.as_bytes(), namespace(space.as_bytes()));
            assert_eq!(hash & ((1 << 18) - 1), small, "{space} {name}");
            assert_eq!(hash & ((1 << 24) - 1), large, "{space} {name}");
        }
    }

    #[test]
    fn the_features_of_a_column_hash_as_their_names() {
        for column in ["age", "", " \u{1}a b", "a=b", "7", "é日本", "device_model"] {
            let prefix = ColumnPrefix::new(column);
            for value in ["", "7", "x y", "x \u{1}", "\u{2}", " x", "a long value of many words"] {
                let name = format!("{column}={value}");
                assert_eq!(prefix.feature(value.as_bytes()), feature(name.as_bytes(), 0), "{name}");
            }
        }
    }

    #[test]
    fn the_default_namespace_is_zero() {
        assert_eq!(namespace(b""), 0);
        assert_eq!(feature(b"007", 0), 7);
    }

    #[test]
    fn nameless_features_count_from_their_namespace() {
        // `1 |a :3 :4` in Vowpal Wabbit with `-b 18`.
        let hash = namespace(b"a");
        assert_eq!(nameless(0, hash) & ((1 << 18) - 1), 92594);
        assert_eq!(nameless(1, hash) & ((1 << 18) - 1), 92595);
        assert_eq!(nameless(1, u64::MAX), 0);
    }
}
