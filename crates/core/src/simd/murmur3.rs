//! The 32-bit hash function Murmur3, of one name.
//!
//! Cost: one pass over the name, four bytes at a time; nothing is allocated.

/// Murmur3 for 32 bits, by Austin Appleby, who placed it in the public domain.
pub fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    continued(bytes, seed, bytes.len() as u32)
}

/// Murmur3 of `length` bytes in all, of which these are the last. `hash` is the state after the bytes before them, which
/// are a multiple of four.
fn continued(bytes: &[u8], mut hash: u32, length: u32) -> u32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    for &block in blocks {
        hash = mix(hash, u32::from_le_bytes(block));
    }
    if !tail.is_empty() {
        hash ^= scramble(word(tail));
    }
    avalanche(hash ^ length)
}

/// Up to four bytes as a little-endian word.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// The start of many names, hashed once with seed 0.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The state after the whole words of the start.
    pub state: u32,
    /// The number of bytes in these words.
    pub hashed: u32,
    /// The bytes after them, at most three, as a little-endian word.
    pub tail: u32,
    /// The number of bytes after them.
    pub tail_length: usize,
}

impl Prefix {
    /// The start `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let (blocks, tail) = bytes.as_chunks::<4>();
        let state = blocks.iter().fold(0, |hash, &block| mix(hash, u32::from_le_bytes(block)));
        let hashed = 4 * blocks.len() as u32;
        Prefix { state, hashed, tail: word(tail), tail_length: tail.len() }
    }

    /// Murmur3 of the start and `rest` after it.
    pub fn murmur3(&self, rest: &[u8]) -> u32 {
        let Prefix { state, hashed, tail, tail_length } = *self;
        let length = hashed + (tail_length + rest.len()) as u32;
        if tail_length == 0 {
            return continued(rest, state, length);
        }
        let (filling, rest) = rest.split_at(rest.len().min(4 - tail_length));
        let first = tail | word(filling) << (8 * tail_length);
        if tail_length + filling.len() < 4 {
            return avalanche(state ^ scramble(first) ^ length);
        }
        continued(rest, mix(state, first), length)
    }
}

/// Murmur3 of the first `length` bytes, at most 15, of four words. `seed` is the state after `before` bytes, a multiple
/// of four.
///
/// All lengths take the same steps, and the result for the right length is selected. The lengths of names
/// vary, and a mispredicted loop exit costs more than the extra steps. Branchless code can be vectorised over
/// eight names.
#[inline(always)]
pub fn short_murmur3(words: [u32; 4], length: u32, seed: u32, before: u32) -> u32 {
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
    avalanche(hash ^ scramble(rest) ^ (before + length))
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
    fn a_name_in_two_parts_hashes_as_a_whole() {
        let bytes = b"\xff|a\x80bcdefghijklm\0nopqrstuvwxyz";
        for length in 0..bytes.len() {
            for cut in 0..=length {
                let prefix = Prefix::new(&bytes[..cut]);
                let hash = murmur3(&bytes[..length], 0);
                assert_eq!(prefix.murmur3(&bytes[cut..length]), hash, "{length} {cut}");
                let rest = &bytes[cut - prefix.tail_length..length];
                if rest.len() < 16 {
                    let mut words = [0; 4];
                    rest.chunks(4)
                        .zip(&mut words)
                        .for_each(|(bytes, scratch)| *scratch = word(bytes));
                    let Prefix { state, hashed, .. } = prefix;
                    assert_eq!(short_murmur3(words, rest.len() as u32, state, hashed), hash);
                }
            }
        }
    }

    #[test]
    fn short_names_hash_as_all_names() {
        let bytes = *b"\xff|a\x80bcdefghijklm";
        for length in 0..16 {
            for seed in [0, 1, 0x9747_b28c, u32::MAX] {
                let (words, _) = bytes.as_chunks::<4>();
                let words = [0, 1, 2, 3].map(|k| u32::from_le_bytes(words[k]));
                let hash = short_murmur3(words, length as u32, seed, 0);
                assert_eq!(hash, murmur3(&bytes[..length], seed), "{length} {seed}");
            }
        }
    }
}
