//! Branchless exponential and logarithm, which vectorise.
//!
//! ```text
//! fall(x)  = e^−x         x ≥ 0         2^k e^r, |r| ≤ ½ ln 2, the latter by Taylor's series
//! ln_1p(t) = ln(1 + t)    0 ≤ t ≤ 1     2 artanh s, s = f/(2 + f), 1 + f from √½ to √2
//! ln(x)    = ln x         x normal      the same
//! ```
//!
//! The functions of the C library are calls, one per lane. These are inlined into the loop over the lanes,
//! and the compiler makes one vector of four lanes. So they must be called in a plain `for`, in code that
//! [`InstructionSet::run`](crate::simd::InstructionSet::run) compiles. Their results are bit-identical in a
//! vector or alone, and on every system. They are within an ulp of the library's, `ln_1p` within two.
//! Polynomials are evaluated in pairs (Estrin), because a chain of twelve additions would have a high
//! latency.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// 1.5 · 2⁵²: adding it to a number leaves the nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; the first has 21 zero bits at its end, so that its multiples here are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Beyond this argument e^−x is set to 0: it would be subnormal.
const LAST: f64 = 708.0;

/// e^−x for x ≥ 0; 0 for x above 708, infinity included.
#[inline(always)]
pub fn exp_neg(x: f64) -> f64 {
    let kept = if x > LAST { LAST } else { x };
    let shifted = ROUNDER - kept * LOG2_E;
    let k = shifted - ROUNDER;
    let r = (-kept - k * LN_2_HIGH) - k * LN_2_LOW;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let fallen = (1.0 + (r + r * r * rest_of_exp(r))) * power;
    if x > LAST { 0.0 } else { fallen }
}

/// (e^r − 1 − r)/r² by Taylor's series: for |r| ≤ ½ ln 2 the truncation error is below 1e-17.
#[inline(always)]
fn rest_of_exp(r: f64) -> f64 {
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
    let middle =
        (1.0 / 720.0 + r * (1.0 / 5_040.0)) + r2 * (1.0 / 40_320.0 + r * (1.0 / 362_880.0));
    let high = (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0))
        + r2 * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0));
    low + r4 * (middle + r4 * high)
}

/// ln(1 + t) for 0 ≤ t ≤ 1; exact at both ends.
#[inline(always)]
pub fn ln_1p(t: f64) -> f64 {
    let halved = t > SQRT_2 - 1.0;
    let f = if halved { 0.5 * (t - 1.0) } else { t };
    (if halved { LN_2 } else { 0.0 }) + ln_near_1(f)
}

/// ln x for x > 0 that is normal and finite.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // The bits of √½ and of 1. Adding their difference makes the exponent change at √½ · 2^k, not at 2^k.
    const LEAST: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const SHIFT: u64 = 1f64.to_bits() - LEAST;
    const DIGITS: u64 = (1 << 52) - 1;
    let bits = x.to_bits().wrapping_add(SHIFT);
    let k = (bits >> 52) as i32 - 1023;
    let m = f64::from_bits((bits & DIGITS) + LEAST);
    let k = f64::from(k);
    k * LN_2_HIGH + (k * LN_2_LOW + ln_near_1(m - 1.0))
}

/// ln(1 + f) for 1 + f from √½ to √2: 2 artanh s = f − s (f − R), where the first term is exact and the
/// second is small, so that only the last rounding counts.
#[inline(always)]
fn ln_near_1(f: f64) -> f64 {
    let s = f / (2.0 + f);
    f - s * (f - rest_of_artanh(s * s))
}

/// R = 2 (z/3 + z²/5 + …), z = s²: for z ≤ 0.0295 the truncation error is below 1e-17 of s.
#[inline(always)]
fn rest_of_artanh(z: f64) -> f64 {
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = (2.0 / 3.0 + z * (2.0 / 5.0)) + z2 * (2.0 / 7.0 + z * (2.0 / 9.0));
    let middle = (2.0 / 11.0 + z * (2.0 / 13.0)) + z2 * (2.0 / 15.0 + z * (2.0 / 17.0));
    let high = 2.0 / 19.0 + z * (2.0 / 21.0);
    z * (low + z4 * (middle + z4 * high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from `first` to `last`, each larger than the one before by the factor `growth`.
    fn range(first: f64, last: f64, growth: f64) -> impl Iterator<Item = f64> {
        let next = move |x: &f64| Some(x * growth).filter(|x| *x < last);
        std::iter::successors(Some(first), next).chain([last])
    }

    /// Numbers from the least normal one to `last`, dense above 1e-3.
    fn dense(last: f64) -> impl Iterator<Item = f64> {
        range(f64::MIN_POSITIVE, 1e-3, 3.7).chain(range(1e-3, last, 1.000_037))
    }

    /// The distance of two numbers in ulps.
    fn ulps(ours: f64, theirs: f64) -> u64 {
        assert_eq!(ours.is_sign_negative(), theirs.is_sign_negative(), "{ours:e}, {theirs:e}");
        ours.to_bits().abs_diff(theirs.to_bits())
    }

    #[test]
    fn they_are_those_of_the_library_but_for_an_ulp_or_two() {
        for x in dense(LAST) {
            assert!(ulps(exp_neg(x), (-x).exp()) <= 1, "exp_neg({x:e}) = {:e}", exp_neg(x));
        }
        for t in dense(1.0) {
            assert!(ulps(ln_1p(t), t.ln_1p()) <= 2, "ln_1p({t:e}) = {:e}", ln_1p(t));
        }
        for x in dense(100.0).chain(range(100.0, f64::MAX, 1.1)) {
            assert!(ulps(ln(x), x.ln()) <= 1, "ln({x:e}) = {:e}", ln(x));
        }
    }

    #[test]
    fn their_ends_are_exact() {
        assert_eq!((exp_neg(0.0), exp_neg(-0.0), ln_1p(0.0), ln_1p(1.0)), (1.0, 1.0, 0.0, LN_2));
        assert_eq!((ln(1.0), ln(2.0)), (0.0, LN_2));
        assert_eq!((exp_neg(708.5), exp_neg(1e300), exp_neg(f64::INFINITY)), (0.0, 0.0, 0.0));
        assert!(exp_neg(f64::NAN).is_nan() && ln_1p(f64::NAN).is_nan());
    }

    #[test]
    fn the_last_that_is_not_0_is_no_smaller_than_a_number_with_all_its_digits() {
        assert!(exp_neg(LAST) >= f64::MIN_POSITIVE && ulps(exp_neg(LAST), (-LAST).exp()) <= 1);
    }
}
