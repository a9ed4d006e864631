//! Branchless exponential and hyperbolic tangent of float32 numbers, which vectorise eight at a time.
//!
//! ```text
//! exp(x)         0 ≤ x ≤ 80      2^k e^r, |r| ≤ ½ ln 2, the latter by Taylor's series
//! tanh_parts(x)  |x| ≤ 1         a, b with a/b = tanh x: Padé's approximation of order 5/4
//! ```
//!
//! Like those of `exp_log.rs` they must be called in a plain `for`, in code that
//! [`InstructionSet::run`](crate::simd::InstructionSet::run) compiles, and are bit-identical on every system. They
//! are within 4 units in the last place.

use std::f32::consts::LOG2_E;

/// The largest argument of [`exp`]: e^80 leaves room for products in float32.
pub const MOST_EXPONENT: f32 = 80.0;

/// 1.5 · 2²³: adding it to a number leaves the nearest integer in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// ln 2 in two parts; the first has 11 zero bits at its end, so that its multiples here are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// e^x for x from 0 to 80.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let shifted = x * LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let r2 = r * r;
    let low = 0.5 + r * (1.0 / 6.0);
    let high = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0);
    (1.0 + (r + r2 * (low + r2 * high))) * power
}

/// Numerator and denominator of tanh x for |x| ≤ 1, so that a caller who divides needs one division.
#[inline(always)]
pub fn tanh_parts(x: f32) -> [f32; 2] {
    // A square below this is nothing beside 1, and a subnormal one would be slow.
    let size = if x.abs() > 1e-12 { x.abs() } else { 1e-12 };
    let square = size * size;
    let above = x * (945.0 + square * (105.0 + square));
    [above, 945.0 + square * (420.0 + square * 15.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(ours: f32, exact: f64) -> bool {
        (f64::from(ours) - exact).abs() <= 4.0 * f64::from(f32::EPSILON) * exact.abs()
    }

    #[test]
    fn they_are_the_functions_of_the_library_in_float32() {
        for k in 0..=80_000_u32 {
            let (x, small) = (k as f32 * 1e-3, k as f32 / 80_000.0);
            assert!(is_near(exp(x), f64::from(x).exp()), "exp({x}) = {}", exp(x));
            for x in [small, -small] {
                let [above, below] = tanh_parts(x);
                assert!(
                    is_near(above / below, f64::from(x).tanh()),
                    "tanh({x}) = {}",
                    above / below
                );
            }
        }
    }
}
