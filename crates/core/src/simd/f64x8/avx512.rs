//! Eight float64 by AVX-512, in one register. Operations on eight 32-bit numbers are those of AVX2.

use std::arch::x86_64::__m512d;

use bytemuck::cast;
use pulp::x86::V4;

use super::F64x8;

impl F64x8 for V4 {
    type Eight = __m512d;

    #[inline(always)]
    fn splat(self, number: f64) -> Self::Eight {
        self.avx512f._mm512_set1_pd(number)
    }

    #[inline(always)]
    fn load(self, numbers: &[f64; 8]) -> Self::Eight {
        cast(*numbers)
    }

    #[inline(always)]
    fn widen(self, numbers: [f32; 8]) -> Self::Eight {
        self.avx512f._mm512_cvtps_pd(cast(numbers))
    }

    #[inline(always)]
    fn narrow(self, numbers: Self::Eight) -> [f32; 8] {
        cast(self.avx512f._mm512_cvtpd_ps(numbers))
    }

    #[inline(always)]
    fn add(self, one: Self::Eight, other: Self::Eight) -> Self::Eight {
        self.avx512f._mm512_add_pd(one, other)
    }

    #[inline(always)]
    fn multiply(self, one: Self::Eight, other: Self::Eight) -> Self::Eight {
        self.avx512f._mm512_mul_pd(one, other)
    }

    #[inline(always)]
    fn to_array(self, numbers: Self::Eight) -> [f64; 8] {
        cast(numbers)
    }

    #[inline(always)]
    fn zero_mask(self, numbers: [u32; 8]) -> u8 {
        (*self).zero_mask(numbers)
    }

    #[inline(always)]
    fn keep_first(self, eight: [u32; 8], count: usize) -> [u32; 8] {
        (*self).keep_first(eight, count)
    }

    #[inline(always)]
    fn take_last(self, eight: [u32; 8], count: usize) -> [u32; 8] {
        (*self).take_last(eight, count)
    }

    #[inline(always)]
    fn gather(self, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2] {
        (*self).gather(table, slots)
    }

    #[inline(always)]
    fn scatter(self, table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]) {
        (*self).scatter(table, slots, floats);
    }
}
