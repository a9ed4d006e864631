//! The 32-bit hash function Murmur3, of one name.
//!
//! Cost: one pass over the name, four bytes at a time; nothing is allocated.

/// Murmur3 for 32 bits, by Austin Appleby, who placed it in the public domain.
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

/// Murmur3 of the first `length` bytes, at most 15, of four words.
///
/// All lengths take the same steps, and the result for the right length is selected. The lengths of names
/// vary, and a mispredicted loop exit costs more than the extra steps. Branchless code can be vectorised over
/// eight names.
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
}
