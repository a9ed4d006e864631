//! Eight numbers at a time: what learners do with the features of an example, or the lanes of one.
//!
//! Most of their arithmetic becomes vector instructions because the compiler finds them. What it does not
//! find is named here: sums and products of float64 made of float32, and the way of slots out of a table
//! and back.
//!
//! All give the same bits on every set of instructions.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

/// A set of vector instructions, as far as learners need it.
pub trait F64x8: Copy {
    /// Eight float64, in registers.
    type Eight: Copy;

    /// Eight times the same number.
    fn splat(self, number: f64) -> Self::Eight;

    /// These eight numbers.
    fn load(self, numbers: &[f64; 8]) -> Self::Eight;

    /// Eight float32 as float64.
    fn widen(self, numbers: [f32; 8]) -> Self::Eight;

    /// Eight numbers as float32.
    fn narrow(self, numbers: Self::Eight) -> [f32; 8];

    /// Eight sums.
    fn add(self, one: Self::Eight, other: Self::Eight) -> Self::Eight;

    /// Eight products.
    fn multiply(self, one: Self::Eight, other: Self::Eight) -> Self::Eight;

    /// The numbers one by one.
    fn to_array(self, numbers: Self::Eight) -> [f64; 8];

    /// Bit k says that number k is zero.
    fn zero_mask(self, numbers: [u32; 8]) -> u8;

    /// The first `count` of eight, 0 to 7; zeros behind.
    fn keep_first(self, eight: [u32; 8], count: usize) -> [u32; 8];

    /// The last `count` of eight, 0 to 7, brought to the front; the others behind.
    fn take_last(self, eight: [u32; 8], count: usize) -> [u32; 8];

    /// The slots of eight features, two floats each and a word in the table, float by float.
    fn gather(self, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2];

    /// Put eight slots back to their places.
    fn scatter(self, table: &mut [u64], slots: &[u32; 8], floats: [[f32; 8]; 2]);
}

#[cfg(test)]
mod tests {
    use bytemuck::cast;

    use super::*;
    use crate::simd::{InstructionSet, Simd, WithSimd};

    const FLOATS: [f32; 8] = [0.1, -0.0, 3.5e-20, -7.25, 1e30, 0.3, -1e-45, 8.0];

    /// All operations on some numbers, as bits.
    struct Everything(usize);

    impl WithSimd for Everything {
        type Output = Vec<u64>;

        fn call<V: Simd>(self, simd: V) -> Vec<u64> {
            let (v, count) = (simd.f64x8(), self.0);
            let mut floats = FLOATS;
            floats.rotate_left(count);
            let (one, other) = (v.widen(FLOATS), v.widen(floats));
            let sums = v.add(v.multiply(one, other), v.load(&[0.7; 8]));
            let narrow = v.narrow(v.multiply(v.splat(1.0 / 3.0), other));
            let bits = FLOATS.map(f32::to_bits);
            let (first, last) = (v.keep_first(bits, count), v.take_last(bits, count));
            let mut table: Vec<u64> = (0..32).map(|k| k << 33 | k).collect();
            let slots = [31, 0, 5, 17, 3, 30, 8, 1];
            let fetched = v.gather(&table, &slots);
            v.scatter(&mut table, &slots, [fetched[1], floats]);
            let mut told = v.to_array(sums).map(f64::to_bits).to_vec();
            told.extend(narrow.map(|number| u64::from(number.to_bits())));
            told.extend(first.into_iter().chain(last).map(u64::from));
            told.push(v.zero_mask(first).into());
            told.extend(fetched.as_flattened().iter().map(|number| u64::from(number.to_bits())));
            told.extend(table);
            told
        }
    }

    #[test]
    fn all_instructions_give_the_same_bits() {
        for count in 0..8 {
            let expected = InstructionSet::Portable.run(Everything(count));
            for path in InstructionSet::available() {
                assert_eq!(path.run(Everything(count)), expected, "{path:?}, {count}");
            }
        }
    }

    #[test]
    fn slots_are_taken_apart_and_put_together() {
        let mut table: Vec<u64> = (0..9).map(|k| cast([k as f32, 0.5])).collect();
        let slots = [8, 1, 2, 3, 4, 5, 6, 7];
        let simd = crate::simd::Portable;
        let [first, second] = simd.gather(&table, &slots);
        assert_eq!((first, second), ([8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.5; 8]));
        simd.scatter(&mut table, &slots, [second, first]);
        assert_eq!((table[0], table[8]), (cast([0.0f32, 0.5]), cast([0.5f32, 8.0])));
    }

    #[test]
    fn the_first_stay_and_the_last_come_to_the_front() {
        let (simd, eight) = (crate::simd::Portable, [10, 11, 12, 13, 14, 15, 16, 17]);
        assert_eq!(simd.keep_first(eight, 3), [10, 11, 12, 0, 0, 0, 0, 0]);
        assert_eq!(simd.take_last(eight, 3)[..3], [15, 16, 17]);
        assert_eq!(
            (simd.zero_mask([1, 0, 2, 0, 3, 4, 5, 0]), simd.zero_mask(eight)),
            (0b1000_1010, 0)
        );
    }
}
