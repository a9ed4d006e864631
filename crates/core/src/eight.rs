//! Arithmetic on eight float64 at once, in two registers.

use std::arch::x86_64::{__m256, __m256d};

use bytemuck::cast;
use pulp::x86::V3;

type Eight = [__m256d; 2];

#[inline(always)]
pub fn all(simd: V3, number: f64) -> Eight {
    [simd.avx._mm256_set1_pd(number); 2]
}

#[inline(always)]
pub fn widen(simd: V3, numbers: [f32; 8]) -> Eight {
    let whole: __m256 = cast(numbers);
    let (low, high) =
        (simd.avx._mm256_castps256_ps128(whole), simd.avx._mm256_extractf128_ps::<1>(whole));
    [simd.avx._mm256_cvtps_pd(low), simd.avx._mm256_cvtps_pd(high)]
}

#[inline(always)]
pub fn narrow(simd: V3, [low, high]: Eight) -> [f32; 8] {
    let (low, high) = (simd.avx._mm256_cvtpd_ps(low), simd.avx._mm256_cvtpd_ps(high));
    // As one register: two halves would be written as two, and a vector read from two writes is waited for.
    cast(simd.avx._mm256_set_m128(high, low))
}

#[inline(always)]
pub fn add(simd: V3, one: Eight, other: Eight) -> Eight {
    [simd.avx._mm256_add_pd(one[0], other[0]), simd.avx._mm256_add_pd(one[1], other[1])]
}

#[inline(always)]
pub fn multiply(simd: V3, one: Eight, other: Eight) -> Eight {
    [simd.avx._mm256_mul_pd(one[0], other[0]), simd.avx._mm256_mul_pd(one[1], other[1])]
}

#[inline(always)]
pub fn zeros(simd: V3, numbers: [u32; 8]) -> u8 {
    let zeros = simd.avx2._mm256_cmpeq_epi32(cast(numbers), simd.avx._mm256_setzero_si256());
    simd.avx._mm256_movemask_ps(simd.avx._mm256_castsi256_ps(zeros)) as u8
}
