//! Eight float64 by the baseline instructions of any machine.

use bytemuck::cast;

use super::F64x8;
use crate::simd::Portable;

impl F64x8 for Portable {
    type Eight = [f64; 8];

    #[inline(always)]
    fn splat(self, number: f64) -> [f64; 8] {
        [number; 8]
    }

    #[inline(always)]
    fn load(self, numbers: &[f64; 8]) -> [f64; 8] {
        *numbers
    }

    #[inline(always)]
    fn widen(self, numbers: [f32; 8]) -> [f64; 8] {
        numbers.map(f64::from)
    }

    #[inline(always)]
    fn narrow(self, numbers: [f64; 8]) -> [f32; 8] {
        numbers.map(|number| number as f32)
    }

    #[inline(always)]
    fn add(self, mut one: [f64; 8], other: [f64; 8]) -> [f64; 8] {
        for (sum, term) in one.iter_mut().zip(other) {
            *sum += term;
        }
        one
    }

    #[inline(always)]
    fn multiply(self, mut one: [f64; 8], other: [f64; 8]) -> [f64; 8] {
        for (product, factor) in one.iter_mut().zip(other) {
            *product *= factor;
        }
        one
    }

    #[inline(always)]
    fn to_array(self, numbers: [f64; 8]) -> [f64; 8] {
        numbers
    }

    #[inline(always)]
    fn zero_mask(self, numbers: [u32; 8]) -> u8 {
        let mut zeros = 0;
        for (k, &number) in numbers.iter().enumerate() {
            zeros |= u8::from(number == 0) << k;
        }
        zeros
    }

    #[inline(always)]
    fn keep_first(self, mut eight: [u32; 8], count: usize) -> [u32; 8] {
        eight[count % 8..].fill(0);
        eight
    }

    #[inline(always)]
    fn take_last(self, mut eight: [u32; 8], count: usize) -> [u32; 8] {
        eight.rotate_right(count % 8);
        eight
    }

    #[inline(always)]
    fn gather(self, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2] {
        let mut floats = [[0.0; 8]; 2];
        for (k, &slot) in slots.iter().enumerate() {
            [floats[0][k], floats[1][k]] = cast(table[slot as usize]);
        }
        floats
    }

    #[inline(always)]
    fn scatter(self, table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]) {
        for (k, &slot) in slots.iter().enumerate() {
            table[slot as usize] = cast([floats[0][k], floats[1][k]]);
        }
    }
}
