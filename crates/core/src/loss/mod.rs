//! Losses of the margin: value and slope, in float64.
//!
//! A loss is evaluated once an example, so it is a plain enum: dispatch here is not measurable
//! beside the walk over the features. The readable twin is `python/lessregret/losses.py`.

pub mod push;
pub mod wide;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::simd::exp_log::{exp_neg, ln_1p};

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

/// All losses.
pub const LOSSES: [Loss; 3] = [Loss::Logistic, Loss::Hinge, Loss::Squared];

/// What labels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// Two classes, given to the learner as +1 and -1.
    Binary,
    /// Any finite numbers.
    Real,
    /// Any finite numbers, or none: for prediction.
    Any,
}

impl Labels {
    /// The word that users write for it.
    pub fn name(self) -> &'static str {
        match self {
            Labels::Binary => "binary",
            Labels::Real => "real",
            Labels::Any => "any",
        }
    }
}

impl Loss {
    /// ℓ(p, y).
    #[inline(always)]
    pub fn value(self, margin: f64, label: f64) -> f64 {
        match self {
            Loss::Logistic => Tail::of(margin).value(margin, label),
            Loss::Hinge => (1.0 - label * margin).max(0.0),
            Loss::Squared => (margin - label).powi(2),
        }
    }

    /// dℓ/dp, a subgradient where there is a kink.
    #[inline(always)]
    pub fn slope(self, margin: f64, label: f64) -> f64 {
        match self {
            Loss::Logistic => Tail::of(margin).slope(margin, label),
            Loss::Hinge if label * margin < 1.0 => -label,
            Loss::Hinge => 0.0,
            Loss::Squared => 2.0 * (margin - label),
        }
    }

    /// The loss with this name.
    pub fn named(name: &str) -> Result<Loss> {
        let found = LOSSES.iter().find(|loss| loss.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = LOSSES.iter().map(|loss| loss.name()).collect();
            Error::Spec(format!("unknown loss '{name}'; the losses are {}", names.join(", ")))
        })
    }

    /// The word that users write for it.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Logistic => "logistic",
            Loss::Hinge => "hinge",
            Loss::Squared => "squared",
        }
    }

    /// What its labels are.
    pub fn labels(self) -> Labels {
        match self {
            Loss::Logistic | Loss::Hinge => Labels::Binary,
            Loss::Squared => Labels::Real,
        }
    }

    /// Whether labels are -1 and +1 and mistakes are counted.
    pub fn is_classification(self) -> bool {
        self.labels() == Labels::Binary
    }

    /// Whether the sign of the margin is wrong; a margin of 0 decides nothing and is a mistake.
    pub fn is_mistake(self, margin: f64, label: f64) -> bool {
        self.is_classification() && label * margin <= 0.0
    }
}

/// Of which all that is logistic is made, without overflow and without loss of digits.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// e^−|p|.
    pub tail: f64,
    /// 1/(1 + e^−|p|), the probability of the likelier label.
    pub sure: f64,
}

impl Tail {
    /// That of a margin.
    #[inline(always)]
    pub fn of(margin: f64) -> Self {
        let tail = exp_neg(margin.abs());
        Tail { tail, sure: 1.0 / (1.0 + tail) }
    }

    /// log(1 + exp(-yp)).
    #[inline(always)]
    pub fn value(self, margin: f64, label: f64) -> f64 {
        (-label * margin).max(0.0) + ln_1p(self.tail)
    }

    /// -y/(1 + exp(yp)).
    #[inline(always)]
    pub fn slope(self, margin: f64, label: f64) -> f64 {
        let unsure = self.tail * self.sure;
        -label * if label * margin <= 0.0 { self.sure } else { unsure }
    }
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
