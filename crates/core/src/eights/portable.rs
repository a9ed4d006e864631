//! By the instructions of any machine.

use bytemuck::cast;

use super::Eights;
use crate::vectors::Portable;

impl Eights for Portable {
    type Eight = [f64; 8];

    #[inline(always)]
    fn all(self, number: f64) -> [f64; 8] {
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
    fn each(self, numbers: [f64; 8]) -> [f64; 8] {
        numbers
    }

    #[inline(always)]
    fn zeros(self, numbers: [u32; 8]) -> u8 {
        let mut zeros = 0;
        for (k, &number) in numbers.iter().enumerate() {
            zeros |= u8::from(number == 0) << k;
        }
        zeros
    }

    #[inline(always)]
    fn first(self, mut eight: [u32; 8], count: usize) -> [u32; 8] {
        eight[count % 8..].fill(0);
        eight
    }

    #[inline(always)]
    fn last(self, mut eight: [u32; 8], count: usize) -> [u32; 8] {
        eight.rotate_right(count % 8);
        eight
    }

    #[inline(always)]
    fn fetch(self, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2] {
        let mut floats = [[0.0; 8]; 2];
        for (k, &slot) in slots.iter().enumerate() {
            [floats[0][k], floats[1][k]] = cast(table[slot as usize]);
        }
        floats
    }

    #[inline(always)]
    fn put(self, table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]) {
        for (k, &slot) in slots.iter().enumerate() {
            table[slot as usize] = cast([floats[0][k], floats[1][k]]);
        }
    }
}
