//! Rounding of the float32 numbers in a slot, such that no sum stalls.
//!
//! ```text
//! sum ⊕ term = round(sum + term + d),   d spread evenly over (−½, ½) units in the last place of the sum
//! ```
//!
//! Rounded to the nearest, a float32 sum stops changing when its terms fall below half a unit in its last
//! place: a sum of equal squares after 2²⁴ of them. With the dither d the sum takes a whole unit in the right
//! share of the rounds instead, and is unbiased (McMahan et al. 2013, §4.2: randomised rounding). A sum that
//! grows and that float32 holds exactly is still exact, because |d| is below half a unit.
//!
//! d is not random: it is a function of the round, so that a run is reproducible bit for bit, for any division
//! into batches, runs and lanes. It is the Kronecker sequence of the golden ratio, {t/φ}, of all such
//! sequences the most even (Kuipers & Niederreiter 1974, §2.3), also over every k-th round. The relative error
//! of a sum is then far below the 2⁻¹² of independent random numbers: decision 4.
//!
//! Cost: four vector instructions for a sum of squares, five for a weight, for eight lanes or features.

use super::lesser;

/// 2⁶⁴/φ, the step of a 64-bit Kronecker sequence.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// 2⁻⁴⁸: a unit in the last place is 2⁻²³ of the power of two, and the dither is a multiple of 2⁻²⁵ units.
const FINEST: f32 = 1.0 / (1_u64 << 48) as f32;
/// The exponent of a float32, which as a float32 is a power of two.
const EXPONENT: u32 = 0x7f80_0000;
/// Those bits of a float64 that a float32 has, too.
const BITS_OF_FLOAT32: u64 = !((1 << 29) - 1);

/// The dither of one round, as a part of a power of two.
#[derive(Clone, Copy, Debug)]
pub struct Dither(f32);

impl Dither {
    /// The dither of a round.
    #[inline(always)]
    pub fn new(round: u64) -> Self {
        let bits = (round.wrapping_mul(GOLDEN) >> 32) as i32;
        // Odd, so that it is never half a unit exactly; below 2²⁴ in size, so that a float32 holds it.
        Dither(((bits >> 7) | 1) as f32 * FINEST)
    }

    /// Less than half the unit in the last place of a number.
    #[inline(always)]
    fn of(self, number: f32) -> f32 {
        f32::from_bits(number.to_bits() & EXPONENT) * self.0
    }

    /// `sum + term` of two numbers from 0 up. It is never below `sum`, and never infinite.
    #[inline(always)]
    pub fn grow(self, sum: f32, term: f32) -> f32 {
        let grown = sum + (term + self.of(sum));
        lesser(if grown > sum { grown } else { sum }, f32::MAX)
    }

    /// `sum + term`, where the term is not 0. It is never on the other side of `sum` than the term: a power of
    /// two, below which floats lie closer, would otherwise be left in the wrong direction.
    #[inline(always)]
    pub fn add(self, sum: f32, term: f32) -> f32 {
        let dithered = term + self.of(sum);
        sum + if differ_in_sign(dithered, term) { 0.0 } else { dithered }
    }

    /// `sum - term`, like [`Dither::add`]: one instruction less than to add the negative term.
    #[inline(always)]
    pub fn subtract(self, sum: f32, term: f32) -> f32 {
        let dithered = term + self.of(sum);
        sum - if differ_in_sign(dithered, term) { 0.0 } else { dithered }
    }

    /// A float64 number, rounded up or down to float32.
    #[inline(always)]
    pub fn narrow(self, number: f64) -> f32 {
        // From 0 to one unit in the last place of the float32, which is 2²⁹ of the float64.
        let unit_part = ((self.0 / FINEST) as i64 + (1 << 24)) as u64;
        f64::from_bits((number.to_bits() + (unit_part << 4)) & BITS_OF_FLOAT32) as f32
    }
}

#[inline(always)]
fn differ_in_sign(one: f32, other: f32) -> bool {
    (one.to_bits() ^ other.to_bits()) >> 31 != 0
}

/// g², at least the smallest normal float32. A gradient whose square underflows thus counts more than it should:
/// its coordinate moves at a rate that is too small, and the bound covers it.
#[inline(always)]
pub fn square(gradient: f32) -> f32 {
    // The root of the smallest normal float32. Not the square is compared with its limit but its root: a product
    // below it would be subnormal, which takes Intel processors over a hundred cycles.
    const LEAST: f32 = 1.084_202_2e-19;
    let size = gradient.abs();
    let size = if size > LEAST { size } else { LEAST };
    size * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_and_fits_float32_stays_exact() {
        for dither in (0..10_000).map(Dither::new) {
            for exact in [0.0, 0.5, 1.0, 3.0, -4.0, 0.3, 1.0e-30, 16_777_215.0] {
                assert_eq!(dither.add(0.0, exact), exact);
                assert_eq!(dither.narrow(f64::from(exact)), exact);
            }
            for (sum, term) in [(0.0, 0.3), (3.0, 1.0), (4.0, 0.25), (0.5, 2.5), (7.0, 1.0)] {
                assert_eq!(dither.grow(sum, term), sum + term);
                assert_eq!(dither.add(sum, term), sum + term);
                assert_eq!(dither.subtract(-sum, term), -sum - term);
            }
        }
    }

    /// How much of 2¹⁶ terms a sum took in, where a term is far below half a unit in its last place.
    fn taken(start: f32, stride: u64, add: impl Fn(f32, Dither) -> f32) -> f64 {
        let rounds = 1 << 16;
        let sum = (1..=rounds).fold(start, |sum, t| add(sum, Dither::new(stride * t)));
        f64::from(sum - start) / rounds as f64
    }

    #[test]
    fn a_sum_takes_in_terms_far_below_its_last_place() {
        // A power of two, below which floats lie closer, and a number between two.
        for start in [(1_u64 << 30) as f32, 1.7e9] {
            for stride in [1, 2, 3, 5, 7, 8, 10, 64, 100, 987, 1000, 4096] {
                let grown = taken(start, stride, |sum, dither| dither.grow(sum, 1.0));
                let up = taken(start, stride, |sum, dither| dither.add(sum, 1.0));
                let down = taken(start, stride, |sum, dither| dither.subtract(sum, 1.0));
                let back = taken(-start, stride, |sum, dither| dither.add(sum, 1.0));
                let narrowed =
                    taken(start, stride, |sum, dither| dither.narrow(f64::from(sum) + 1.0));
                for taken in [grown, up, -down, back, narrowed] {
                    assert!((taken - 1.0).abs() < 0.02, "{start}, {stride}: {taken}");
                }
            }
        }
    }

    #[test]
    fn a_sum_of_squares_never_falls_and_stays_finite() {
        for dither in (0..10_000).map(Dither::new) {
            for sum in [1.0, 2.0, 1.0e-38, 3.0e38, f32::MAX] {
                let grown = dither.grow(sum, square(1.0e-30));
                assert!(grown >= sum && grown.is_finite());
            }
            assert_eq!(dither.grow(f32::MAX, f32::MAX), f32::MAX);
        }
    }
}
