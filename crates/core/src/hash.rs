//! Vowpal Wabbit's hashing: from the name of a feature to its slot.
//!
//! ```text
//! hash(name, seed) = number + seed                 if the trimmed name is all digits
//!                  = murmur3_x86_32(name, seed)    else
//! slot             = hash(feature, hash(namespace, 0)) mod 2^bits
//! ```
//!
//! This is what `vw --hash strings --hash_seed 0`, its default, does. The default namespace hashes to
//! 0. A feature without a name, `:1.5`, has the hash of its namespace plus its position among the
//! nameless of its block, from 0; every `|` starts a new block, even of the same namespace.
//!
//! Cost: one pass over the name, four bytes at a time; nothing is allocated.
//!
//! The numbers in the tests below are Vowpal Wabbit 9.11.9's own.

/// Murmur3 for 32 bits, by Austin Appleby, who gave it to the public domain.
pub fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for &block in blocks {
        hash = mix(hash, u32::from_le_bytes(block));
    }
    if !tail.is_empty() {
        let rest = tail.iter().rev().fold(0, |rest, &byte| rest << 8 | u32::from(byte));
        hash ^= scramble(rest);
    }
    avalanche(hash ^ bytes.len() as u32)
}

/// The same for the first `length` bytes, at most 15, of four words.
///
/// All lengths take the same steps, and the result of the right one is kept: the length of a name is
/// different from one to the next, and a loop that ends where it was not foreseen costs more than this.
/// Without branches eight names become vectors.
#[inline(always)]
pub fn short_murmur3(words: [u32; 4], length: u32, seed: u32) -> u32 {
    let one = mix(seed, words[0]);
    let two = mix(one, words[1]);
    let three = mix(two, words[2]);
    let hash = if length < 4 { seed } else { one };
    let hash = if length < 8 { hash } else { two };
    let hash = if length < 12 { hash } else { three };
    let rest = if length < 4 { words[0] } else { words[1] };
    let rest = if length < 8 { rest } else { words[2] };
    let rest = if length < 12 { rest } else { words[3] };
    let rest = rest & ((1 << (8 * (length % 4))) - 1);
    avalanche(hash ^ scramble(rest) ^ length)
}

#[inline(always)]
fn mix(hash: u32, block: u32) -> u32 {
    (hash ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline(always)]
fn scramble(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[inline(always)]
fn avalanche(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// The hash of a namespace; the default one has the empty name.
pub fn namespace(name: &[u8]) -> u64 {
    hash(name, 0)
}

/// The hash of a feature in a namespace of hash `namespace`.
pub fn feature(name: &[u8], namespace: u64) -> u64 {
    hash(name, namespace)
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

/// The number that a name of digits is, modulo 2^64 as in Vowpal Wabbit; 0 for the empty name.
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
    fn murmur3_gives_its_published_numbers() {
        let known: [(&[u8], u32, u32); 9] = [
            (b"", 0, 0),
            (b"", 1, 0x514e_28b7),
            (b"", u32::MAX, 0x81f1_6f39),
            (b"\xff\xff\xff\xff", 0, 0x7629_3b50),
            (b"\x21\x43\x65\x87", 0x5082_edee, 0x2362_f9de),
            (b"\x21\x43\x65", 0, 0x7e4a_8634),
            (b"\x21\x43", 0, 0xa0f7_b07a),
            (b"\x21", 0, 0x7266_1cf4),
            (b"Hello, world!", 0x9747_b28c, 0x2488_4cba),
        ];
        for (bytes, seed, hash) in known {
            assert_eq!(murmur3(bytes, seed), hash, "{bytes:?} {seed}");
        }
    }

    #[test]
    fn short_names_hash_as_all_names() {
        let bytes = *b"\xff|a\x80bcdefghijklm";
        for length in 0..16 {
            for seed in [0, 1, 0x9747_b28c, u32::MAX] {
                let (words, _) = bytes.as_chunks::<4>();
                let words = [0, 1, 2, 3].map(|k| u32::from_le_bytes(words[k]));
                let hash = short_murmur3(words, length as u32, seed);
                assert_eq!(hash, murmur3(&bytes[..length], seed), "{length} {seed}");
            }
        }
    }

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
