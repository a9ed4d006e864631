//! Hashes eight short names at once: [`crate::simd::murmur3::short_murmur3`] by AVX2.
//!
//! Written by hand: the compiler does not vectorise the plain form, because it turns the selections into
//! branches.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256i;

#[cfg(target_arch = "x86_64")]
use pulp::{bytemuck::cast, x86::V3};

use crate::simd::murmur3::short_murmur3;

/// Stands for the length of a name whose slot is known without its hash.
pub const KNOWN: u32 = u32::MAX;

/// Eight names of up to 15 bytes. The bytes after a name are ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names8 {
    /// The first 16 bytes of each name.
    pub words: [[u32; 4]; 8],
    /// The length of each name.
    pub lengths: [u32; 8],
    /// The seed of each hash, or its state after the start of the name.
    pub seeds: [u32; 8],
    /// The number of bytes of each name that are in its seed already, a multiple of four.
    pub before: [u32; 8],
}

impl Names8 {
    /// The slots of the names, hashed one after another. The entry of `slots` for a name whose slot is known.
    pub fn slots(&self, mask: u32, slots: [u32; 8]) -> [u32; 8] {
        let Names8 { words, lengths, seeds, before } = *self;
        std::array::from_fn(|k| match lengths[k] {
            KNOWN => slots[k],
            length => short_murmur3(words[k], length, seeds[k], before[k]) & mask,
        })
    }

    /// The slots of the names, hashed at once by AVX2. The entry of `slots` for a name whose slot is known.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn slots_at_once(&self, simd: V3, mask: u32, slots: [u32; 8]) -> [u32; 8] {
        let hashes = simd.avx2._mm256_and_si256(self.hashes(simd), all(simd, mask));
        let known = simd.avx2._mm256_cmpeq_epi32(cast(self.lengths), all(simd, KNOWN));
        cast(choose(simd, known, cast(slots), hashes))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn hashes(&self, simd: V3) -> __m256i {
        let (lengths, seed) = (cast(self.lengths), cast(self.seeds));
        let [first, second, third, fourth] = columns(simd, &self.words);
        let one = mix(simd, seed, first);
        let two = mix(simd, one, second);
        let three = mix(simd, two, third);
        let (above_3, above_7) = (above(simd, lengths, 3), above(simd, lengths, 7));
        let above_11 = above(simd, lengths, 11);
        let hash = choose(simd, above_3, one, seed);
        let hash = choose(simd, above_7, two, hash);
        let hash = choose(simd, above_11, three, hash);
        let rest = choose(simd, above_3, second, first);
        let rest = choose(simd, above_7, third, rest);
        let rest = choose(simd, above_11, fourth, rest);
        let rest = scramble(simd, first_bytes(simd, rest, lengths));
        let all = simd.avx2._mm256_add_epi32(lengths, cast(self.before));
        let hash = simd.avx2._mm256_xor_si256(hash, simd.avx2._mm256_xor_si256(rest, all));
        avalanche(simd, hash)
    }
}

/// Transpose: the first words of all names, the second, the third and the fourth.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn columns(simd: V3, words: &[[u32; 4]; 8]) -> [__m256i; 4] {
    let (a, b) = (cast([words[0], words[4]]), cast([words[1], words[5]]));
    let (c, d) = (cast([words[2], words[6]]), cast([words[3], words[7]]));
    let (low, high) =
        (simd.avx2._mm256_unpacklo_epi32(a, b), simd.avx2._mm256_unpackhi_epi32(a, b));
    let (more_low, more_high) =
        (simd.avx2._mm256_unpacklo_epi32(c, d), simd.avx2._mm256_unpackhi_epi32(c, d));
    [
        simd.avx2._mm256_unpacklo_epi64(low, more_low),
        simd.avx2._mm256_unpackhi_epi64(low, more_low),
        simd.avx2._mm256_unpacklo_epi64(high, more_high),
        simd.avx2._mm256_unpackhi_epi64(high, more_high),
    ]
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn mix(simd: V3, hash: __m256i, word: __m256i) -> __m256i {
    let hash = simd.avx2._mm256_xor_si256(hash, scramble(simd, word));
    let left = simd.avx2._mm256_slli_epi32::<13>(hash);
    let hash = simd.avx2._mm256_or_si256(left, simd.avx2._mm256_srli_epi32::<19>(hash));
    let five = simd.avx2._mm256_add_epi32(simd.avx2._mm256_slli_epi32::<2>(hash), hash);
    simd.avx2._mm256_add_epi32(five, all(simd, 0xe654_6b64))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn scramble(simd: V3, word: __m256i) -> __m256i {
    let word = simd.avx2._mm256_mullo_epi32(word, all(simd, 0xcc9e_2d51));
    let left = simd.avx2._mm256_slli_epi32::<15>(word);
    let word = simd.avx2._mm256_or_si256(left, simd.avx2._mm256_srli_epi32::<17>(word));
    simd.avx2._mm256_mullo_epi32(word, all(simd, 0x1b87_3593))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn avalanche(simd: V3, hash: __m256i) -> __m256i {
    let hash = simd.avx2._mm256_xor_si256(hash, simd.avx2._mm256_srli_epi32::<16>(hash));
    let hash = simd.avx2._mm256_mullo_epi32(hash, all(simd, 0x85eb_ca6b));
    let hash = simd.avx2._mm256_xor_si256(hash, simd.avx2._mm256_srli_epi32::<13>(hash));
    let hash = simd.avx2._mm256_mullo_epi32(hash, all(simd, 0xc2b2_ae35));
    simd.avx2._mm256_xor_si256(hash, simd.avx2._mm256_srli_epi32::<16>(hash))
}

/// The first `length` mod 4 bytes of each word.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn first_bytes(simd: V3, words: __m256i, lengths: __m256i) -> __m256i {
    let count = simd.avx2._mm256_and_si256(lengths, all(simd, 3));
    let bits = simd.avx2._mm256_slli_epi32::<3>(count);
    let beyond = simd.avx2._mm256_sllv_epi32(all(simd, u32::MAX), bits);
    simd.avx2._mm256_andnot_si256(beyond, words)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn above(simd: V3, lengths: __m256i, limit: u32) -> __m256i {
    simd.avx2._mm256_cmpgt_epi32(lengths, all(simd, limit))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn choose(simd: V3, condition: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    simd.avx2._mm256_blendv_epi8(no, yes, condition)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn all(simd: V3, number: u32) -> __m256i {
    simd.avx._mm256_set1_epi32(number as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::murmur3::murmur3;

    #[test]
    fn every_length_at_every_place_hashes_as_alone() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 32) as u32
        };
        for round in 0..200 {
            let words = [(); 8].map(|()| [(); 4].map(|()| next()));
            let lengths = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| (k + round) % 16);
            let before = [0, 4, 8, 12, 0, 16, 20, 0].map(|k| k * (round % 2));
            let names = Names8 { words, lengths, seeds: [(); 8].map(|()| next()), before };
            let (mask, given) = (u32::MAX >> (round % 20), [(); 8].map(|()| next()));
            let mut names = names;
            names.lengths[round as usize % 8] = KNOWN;
            let alone: [u32; 8] = std::array::from_fn(|k| {
                let bytes: Vec<u8> = words[k].iter().flat_map(|word| word.to_le_bytes()).collect();
                match names.lengths[k] {
                    KNOWN => given[k],
                    length if before[k] > 0 => {
                        short_murmur3(words[k], length, names.seeds[k], before[k]) & mask
                    }
                    length => murmur3(&bytes[..length as usize], names.seeds[k]) & mask,
                }
            });
            assert_eq!(names.slots(mask, given), alone);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = V3::try_new() {
                assert_eq!(names.slots_at_once(simd, mask, given), alone);
            }
        }
    }
}
