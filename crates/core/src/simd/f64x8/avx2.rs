//! Eight float64 by AVX2, in two registers.

use std::arch::x86_64::{__m256, __m256d};

use bytemuck::cast;
use pulp::x86::V3;

use super::F64x8;

/// For every count n: a mask of the first n of eight.
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

/// For every count n: the permutation that moves the last n of eight to the front, before the others.
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

impl F64x8 for V3 {
    type Eight = [__m256d; 2];

    #[inline(always)]
    fn splat(self, number: f64) -> Self::Eight {
        [self.avx._mm256_set1_pd(number); 2]
    }

    #[inline(always)]
    fn load(self, numbers: &[f64; 8]) -> Self::Eight {
        cast(*numbers)
    }

    #[inline(always)]
    fn widen(self, numbers: [f32; 8]) -> Self::Eight {
        // Not as two halves: else the code that computes the numbers would be split into two vectors of four.
        let whole: __m256 = cast(numbers);
        let low = self.avx._mm256_castps256_ps128(whole);
        let high = self.avx._mm256_extractf128_ps::<1>(whole);
        [self.avx._mm256_cvtps_pd(low), self.avx._mm256_cvtps_pd(high)]
    }

    #[inline(always)]
    fn narrow(self, [low, high]: Self::Eight) -> [f32; 8] {
        let (low, high) = (self.avx._mm256_cvtpd_ps(low), self.avx._mm256_cvtpd_ps(high));
        // As one register. Two halves would be stored separately, and a load of both soon after would fail
        // store forwarding and stall.
        cast(self.avx._mm256_set_m128(high, low))
    }

    #[inline(always)]
    fn add(self, one: Self::Eight, other: Self::Eight) -> Self::Eight {
        [self.avx._mm256_add_pd(one[0], other[0]), self.avx._mm256_add_pd(one[1], other[1])]
    }

    #[inline(always)]
    fn multiply(self, one: Self::Eight, other: Self::Eight) -> Self::Eight {
        [self.avx._mm256_mul_pd(one[0], other[0]), self.avx._mm256_mul_pd(one[1], other[1])]
    }

    #[inline(always)]
    fn to_array(self, numbers: Self::Eight) -> [f64; 8] {
        cast(numbers)
    }

    #[inline(always)]
    fn zero_mask(self, numbers: [u32; 8]) -> u8 {
        let zeros = self.avx2._mm256_cmpeq_epi32(cast(numbers), self.avx._mm256_setzero_si256());
        self.avx._mm256_movemask_ps(self.avx._mm256_castsi256_ps(zeros)) as u8
    }

    #[inline(always)]
    fn keep_first(self, eight: [u32; 8], count: usize) -> [u32; 8] {
        cast(self.avx2._mm256_and_si256(cast(eight), cast(FIRST[count % 8])))
    }

    #[inline(always)]
    fn take_last(self, eight: [u32; 8], count: usize) -> [u32; 8] {
        cast(self.avx2._mm256_permutevar8x32_epi32(cast(eight), cast(LAST[count % 8])))
    }

    #[inline(always)]
    fn gather(self, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2] {
        let [a, b, c, d, e, f, g, h] = *slots;
        // In this order a shuffle within the halves of a register gives the result in order.
        let (one, other) = (four(self, table, [a, b, e, f]), four(self, table, [c, d, g, h]));
        let first = self.avx._mm256_shuffle_ps::<0b10_00_10_00>(one, other);
        let second = self.avx._mm256_shuffle_ps::<0b11_01_11_01>(one, other);
        [cast(first), cast(second)]
    }

    #[inline(always)]
    fn scatter(self, table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]) {
        let (first, second): (__m256, __m256) = (cast(floats[0]), cast(floats[1]));
        let one: [u64; 4] = cast(self.avx._mm256_unpacklo_ps(first, second));
        let other: [u64; 4] = cast(self.avx._mm256_unpackhi_ps(first, second));
        let [a, b, c, d, e, f, g, h] = *slots;
        for (slot, word) in [a, b, e, f].into_iter().zip(one) {
            table[slot as usize] = word;
        }
        for (slot, word) in [c, d, g, h].into_iter().zip(other) {
            table[slot as usize] = word;
        }
    }
}

/// Gather four words of a table. The compiler on its own would load the two floats of each separately.
#[inline(always)]
fn four(simd: V3, table: &[u64], slots: [u32; 4]) -> __m256 {
    let [a, b, c, d] = slots;
    let (a, b) = (table[a as usize] as i64, table[b as usize] as i64);
    let (c, d) = (table[c as usize] as i64, table[d as usize] as i64);
    simd.avx._mm256_castsi256_ps(simd.avx._mm256_set_epi64x(d, c, b, a))
}
