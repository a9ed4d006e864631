//! Losses of the margin: value and slope, in float64.
//!
//! A loss is evaluated once an example, so it is a plain enum: dispatch here is not measurable
//! beside the walk over the features. The readable twin is `python/lessregret/losses.py`.

use serde::{Deserialize, Serialize};

/// A convex loss ℓ(p, y) of the margin p = w·x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// log(1 + exp(-yp)), y ∈ {-1, +1}. (The paper prints its negative, erratum E1.)
    Logistic,
    /// max(0, 1 - yp), y ∈ {-1, +1}; the subgradient at the kink yp = 1 is 0.
    Hinge,
    /// (p - y)², the paper's convention: not halved, so the slope carries a 2.
    Squared,
}

impl Loss {
    /// ℓ(p, y).
    pub fn value(self, margin: f64, label: f64) -> f64 {
        match self {
            Loss::Logistic => softplus(-label * margin),
            Loss::Hinge => (1.0 - label * margin).max(0.0),
            Loss::Squared => (margin - label).powi(2),
        }
    }

    /// dℓ/dp, a subgradient where there is a kink.
    pub fn slope(self, margin: f64, label: f64) -> f64 {
        match self {
            Loss::Logistic => {
                let z = -label * margin;
                -label * logistic(z, (-z.abs()).exp())
            }
            Loss::Hinge if label * margin < 1.0 => -label,
            Loss::Hinge => 0.0,
            Loss::Squared => 2.0 * (margin - label),
        }
    }

    /// exp(−|p|), of which all that is logistic is made; nothing that other losses need.
    #[inline]
    pub fn tail(self, margin: f64) -> f64 {
        if self == Loss::Logistic { (-margin.abs()).exp() } else { 0.0 }
    }

    /// Value and slope, the same bits, for who has the tail already.
    #[inline]
    pub fn value_and_slope(self, margin: f64, label: f64, tail: f64) -> (f64, f64) {
        if self != Loss::Logistic {
            return (self.value(margin, label), self.slope(margin, label));
        }
        let z = -label * margin;
        (z.max(0.0) + tail.ln_1p(), -label * logistic(z, tail))
    }

    /// Whether labels are -1 and +1 and mistakes are counted.
    pub fn is_classification(self) -> bool {
        self != Loss::Squared
    }

    /// Whether the sign of the margin is wrong; a margin of 0 decides nothing and is a mistake.
    pub fn is_mistake(self, margin: f64, label: f64) -> bool {
        self.is_classification() && label * margin <= 0.0
    }
}

/// 1/(1 + e⁻ᶻ) from e^−|z|, without overflow on either side.
#[inline]
fn logistic(z: f64, tail: f64) -> f64 {
    if z >= 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) }
}

/// log(1 + eᶻ) without overflow for large z or loss of digits for very negative z.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Loss; 3] = [Loss::Logistic, Loss::Hinge, Loss::Squared];

    #[test]
    fn slopes_are_finite_differences() {
        for loss in ALL {
            for margin in [-30.0, -3.0, -0.4, 0.0, 0.7, 2.5, 40.0] {
                for label in [-1.0, 1.0] {
                    let h = 1e-6;
                    let difference =
                        (loss.value(margin + h, label) - loss.value(margin - h, label)) / (2.0 * h);
                    let slope = loss.slope(margin, label);
                    assert!((difference - slope).abs() < 1e-6 * (1.0 + slope.abs()));
                }
            }
        }
    }

    #[test]
    fn the_kink_of_hinge_has_slope_zero() {
        assert_eq!(Loss::Hinge.slope(1.0, 1.0), 0.0);
        assert_eq!(Loss::Hinge.slope(1.0 - 1e-15, 1.0), -1.0);
        assert_eq!(Loss::Hinge.slope(-1.0, -1.0), 0.0);
    }

    #[test]
    fn logistic_survives_huge_margins() {
        assert_eq!(Loss::Logistic.value(1e300, -1.0), 1e300);
        assert_eq!(Loss::Logistic.value(1e300, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(1e300, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(-1e300, 1.0), -1.0);
    }
}
