//! The feasible set of a coordinate, and the rate that goes with its width.

/// One coordinate's feasible set [low, high].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// a_i
    pub low: f32,
    /// b_i
    pub high: f32,
}

impl Interval {
    /// No limit but that of float32, for rules without a feasible set.
    pub const EVERYWHERE: Interval = Interval { low: f32::MIN, high: f32::MAX };

    /// The nearest point of the interval.
    #[inline]
    pub fn clip(self, weight: f32) -> f32 {
        lesser(if weight > self.low { weight } else { self.low }, self.high)
    }

    /// D_i = b_i - a_i.
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

/// The lesser of two numbers: one instruction, where `f32::min`, with its care for NaN, is three.
#[inline]
pub(crate) fn lesser(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}

/// The rate a user asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// A number.
    Number(f32),
    /// What the corrected Theorem 3 says: D_i/√2 (erratum E7).
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
