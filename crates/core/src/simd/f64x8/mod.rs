//! Eight numbers at a time: the features of an example, or the lanes of one feature.
//!
//! Most of the arithmetic of learners is vectorised by the compiler. The operations that it does not
//! vectorise well are here: float64 sums and products of float32 numbers, and gather and scatter of slots.
//!
//! All results are bit-identical on every set of instructions.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// The operations that learners use, for one set of vector instructions.
pub trait F64x8: Copy {
    /// Eight float64, in registers.
    type Eight: Copy;

    /// Eight times the same number.
    fn splat(self, number: f64) -> Self::Eight;

    /// Load these eight numbers.
    fn load(self, numbers: &[f64; 8]) -> Self::Eight;

    /// Convert eight float32 to float64.
    fn widen(self, numbers: [f32; 8]) -> Self::Eight;

    /// Round eight numbers to float32.
    fn narrow(self, numbers: Self::Eight) -> [f32; 8];

    /// The eight sums of two vectors.
    fn add(self, one: Self::Eight, other: Self::Eight) -> Self::Eight;

    /// The eight products of two vectors.
    fn multiply(self, one: Self::Eight, other: Self::Eight) -> Self::Eight;

    /// Store the numbers to an array.
    fn to_array(self, numbers: Self::Eight) -> [f64; 8];

    /// A mask whose bit k is set if number k is zero.
    fn zero_mask(self, numbers: [u32; 8]) -> u8;

    /// The first `count` of eight, 0 to 7, followed by zeros.
    fn keep_first(self, eight: [u32; 8], count: usize) -> [u32; 8];

    /// The last `count` of eight, 0 to 7, moved to the front, followed by the others.
    fn take_last(self, eight: [u32; 8], count: usize) -> [u32; 8];

    /// Gather the slots of eight features. A slot is two floats, one word of the table; the result is float
    /// by float.
    fn gather(self, table: &[u64], slots: &[u32; 8]) -> [[f32; 8]; 2];

    /// Scatter eight slots back to the table.
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
