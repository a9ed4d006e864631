//! Eight slots out of a table and back into it.
//!
//! A slot of two floats is fetched and put back as one word. Eight of them are turned into eight first
//! floats and eight second ones in a few instructions, which the compiler would not find: it would take
//! every float by itself.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256;

use bytemuck::cast;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// The words at these places, float by float.
#[inline(always)]
pub fn fetch(table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2] {
    let mut floats = [[0.0; 8]; 2];
    for (k, &slot) in slots.iter().enumerate() {
        [floats[0][k], floats[1][k]] = cast(table[slot as usize]);
    }
    floats
}

/// Put words back to these places.
#[inline(always)]
pub fn put(table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]) {
    for (k, &slot) in slots.iter().enumerate() {
        table[slot as usize] = cast([floats[0][k], floats[1][k]]);
    }
}

/// For every count: where the last so many of eight stand, then all others.
const LAST: [[u32; 8]; 8] = {
    let mut places = [[0; 8]; 8];
    let mut count = 0;
    while count < 8 {
        let mut k = 0;
        while k < 8 {
            places[count][k] = ((8 - count + k) % 8) as u32;
            k += 1;
        }
        count += 1;
    }
    places
};

/// For every count: all bits of the first so many of eight.
const FIRST: [[u32; 8]; 8] = {
    let mut masks = [[0; 8]; 8];
    let mut count = 0;
    while count < 8 {
        let mut k = 0;
        while k < count {
            masks[count][k] = u32::MAX;
            k += 1;
        }
        count += 1;
    }
    masks
};

/// The last `count` of eight, brought to the front; the others behind.
#[inline(always)]
pub fn last(eight: [u32; 8], count: usize) -> [u32; 8] {
    LAST[count % 8].map(|place| eight[place as usize])
}

/// The first `count` of eight; zeros behind.
#[inline(always)]
pub fn first(mut eight: [u32; 8], count: usize) -> [u32; 8] {
    eight[count % 8..].fill(0);
    eight
}

/// The last `count` of eight, brought to the front; the others behind.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn last_at_once(simd: V3, eight: [u32; 8], count: usize) -> [u32; 8] {
    cast(simd.avx2._mm256_permutevar8x32_epi32(cast(eight), cast(LAST[count % 8])))
}

/// The first `count` of eight; zeros behind.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn first_at_once(simd: V3, eight: [u32; 8], count: usize) -> [u32; 8] {
    cast(simd.avx2._mm256_and_si256(cast(eight), cast(FIRST[count % 8])))
}

/// The words at these places, float by float.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn fetch_at_once(simd: V3, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2] {
    let [a, b, c, d, e, f, g, h] = *slots;
    // In this order what is shuffled within the halves of a register comes out in order.
    let one = four(simd, table, [a, b, e, f]);
    let other = four(simd, table, [c, d, g, h]);
    let first = simd.avx._mm256_shuffle_ps::<0b10_00_10_00>(one, other);
    let second = simd.avx._mm256_shuffle_ps::<0b11_01_11_01>(one, other);
    [cast(first), cast(second)]
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn four(simd: V3, table: &[u64], slots: [u32; 4]) -> __m256 {
    let [a, b, c, d] = slots;
    let (a, b) = (table[a as usize] as i64, table[b as usize] as i64);
    let (c, d) = (table[c as usize] as i64, table[d as usize] as i64);
    simd.avx._mm256_castsi256_ps(simd.avx._mm256_set_epi64x(d, c, b, a))
}

/// Put words back to these places.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn put_at_once(simd: V3, table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]) {
    let (first, second): (__m256, __m256) = (cast(floats[0]), cast(floats[1]));
    let one: [u64; 4] = cast(simd.avx._mm256_unpacklo_ps(first, second));
    let other: [u64; 4] = cast(simd.avx._mm256_unpackhi_ps(first, second));
    let [a, b, c, d, e, f, g, h] = *slots;
    for (slot, word) in [a, b, e, f].into_iter().zip(one) {
        table[slot as usize] = word;
    }
    for (slot, word) in [c, d, g, h].into_iter().zip(other) {
        table[slot as usize] = word;
    }
}
