//! The feasible interval of a coordinate, and the rate that depends on its width.

use super::Dither;

/// The feasible interval `[low, high]` of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// a_i, the lower end.
    pub low: f32,
    /// b_i, the upper end.
    pub high: f32,
}

impl Interval {
    /// All finite float32 numbers, for rules without a feasible set.
    pub const EVERYWHERE: Interval = Interval { low: f32::MIN, high: f32::MAX };

    /// The nearest point of the interval.
    #[inline]
    pub fn clip(self, weight: f32) -> f32 {
        lesser(if weight > self.low { weight } else { self.low }, self.high)
    }

    /// The nearest point of the interval to `weight - rate · gradient`, rounded with the dither. The gradient is
    /// not 0.
    #[inline]
    pub fn descend(self, weight: f32, rate: f32, gradient: f32, dither: Dither) -> f32 {
        self.clip(dither.subtract(weight, rate * gradient))
    }

    /// The nearest point of the interval to a weight in float64, rounded with the dither.
    #[inline]
    pub fn narrowed(self, weight: f64, dither: Dither) -> f32 {
        self.clip(dither.narrow(weight))
    }

    /// D_i = b_i - a_i, the width.
    pub fn width(self) -> f64 {
        f64::from(self.high) - f64::from(self.low)
    }

    /// D_i²/(2η): a coordinate's part of the first half of the paper's bound, at its last rate.
    #[inline]
    pub fn spread(self, rate: f32) -> f64 {
        self.width().powi(2) / (2.0 * f64::from(rate))
    }

    /// The least value of `slope · x` for x in the interval.
    pub fn least(self, slope: f64) -> f64 {
        (slope * f64::from(self.low)).min(slope * f64::from(self.high))
    }
}

/// The minimum of two numbers: one instruction, whereas `f32::min`, which handles NaN, takes three.
#[inline]
pub(crate) fn lesser(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}

/// The learning rate that a user requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// A number.
    Number(f32),
    /// The rate of the corrected Theorem 3: D_i/√2 (erratum E7).
    Theory,
}

impl Rate {
    /// The rate as a number for a coordinate with this feasible set.
    pub fn number(self, interval: Interval) -> f32 {
        match self {
            Rate::Number(rate) => rate,
            Rate::Theory => (interval.width() / std::f64::consts::SQRT_2) as f32,
        }
    }
}
