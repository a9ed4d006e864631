//! The properties of losses: the kind of label, what a margin predicts, how lanes are mixed.

use serde::{Deserialize, Serialize};

use super::Tail;

/// The kind of label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// Two classes, given to the learner as +1 and -1.
    Binary,
    /// Many classes, given to the learner by their numbers.
    Classes,
    /// Any finite numbers.
    Real,
    /// Counts: numbers from 0 to [`Labels::MOST`].
    Count,
    /// Any finite numbers, or none: for prediction.
    Any,
}

impl Labels {
    /// The largest count and the largest code of a class, 2^24: all integers up to it are float32 numbers.
    pub const MOST: f32 = 16_777_216.0;

    /// Whether this finite number can be a label of numbers, counts or many classes.
    #[inline(always)]
    pub fn holds(self, number: f32) -> bool {
        match self {
            Labels::Count => (0.0..=Labels::MOST).contains(&number),
            Labels::Classes => number.fract() == 0.0 && number.abs() <= Labels::MOST,
            Labels::Binary | Labels::Real | Labels::Any => true,
        }
    }

    /// Whether examples can have a base margin. That of a count would be the logarithm of an exposure, which the
    /// statistics of standardised counts do not know. Many classes have many margins, and a base is one number.
    pub fn takes_base(self) -> bool {
        !matches!(self, Labels::Count | Labels::Classes)
    }

    /// What labels are, for errors about base margins.
    pub fn plural(self) -> &'static str {
        match self {
            Labels::Count => "counts",
            Labels::Classes => "many classes",
            Labels::Binary | Labels::Real | Labels::Any => "numbers",
        }
    }

    /// What a label must be, for errors about labels that are numbers.
    pub fn expected(self) -> &'static str {
        match self {
            Labels::Count => "a count as label, a number from 0 to 16777216",
            Labels::Classes => "a whole number as the class",
            Labels::Binary | Labels::Real | Labels::Any => "a number as label",
        }
    }

    /// Some labels of this kind, for tests.
    #[cfg(test)]
    pub fn some(self) -> &'static [f64] {
        match self {
            Labels::Count | Labels::Classes => &[0.0, 1.0, 7.0],
            Labels::Binary | Labels::Real | Labels::Any => &[-1.0, 1.0],
        }
    }

    /// The name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Labels::Binary => "binary",
            Labels::Classes => "classes",
            Labels::Real => "real",
            Labels::Count => "count",
            Labels::Any => "any",
        }
    }
}

/// What a margin predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The probability 1/(1 + e^−p) that the label is +1.
    Probability,
    /// The likelier label, -1 or +1; 0 if the margin is 0.
    Sign,
    /// The label itself, which is the margin.
    Number,
    /// The expected count, e^p.
    Count,
}

impl Link {
    /// The prediction of this margin.
    pub fn prediction(self, margin: f64) -> f64 {
        match self {
            Link::Probability => Tail::of(margin).positive(margin),
            Link::Sign if margin == 0.0 => 0.0,
            Link::Sign => margin.signum(),
            Link::Number => margin,
            Link::Count => margin.exp(),
        }
    }
}

/// How the lanes are mixed under a loss: what the mixture plays, and the learning rate η of its shares.
/// `learn/lanes/mixture/mod.rs` has the formulas and their costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixing {
    /// The log odds of the mean probability, at η = 1/H; H is the largest importance.
    ///
    /// For log(1 + e^−yp), which is 1-mixable: the loss of the mean probability is the mix loss. Such a loss
    /// has the tails of its margins.
    LogOdds,
    /// The mean of the predictions clipped to the labels so far, `[A, B]`, at η = 1/(2H (B − A)²).
    ///
    /// For a loss that is 1/(2(B − A)²)-exp-concave if predictions and labels are in `[A, B]`.
    ClippedMean,
    /// The mean of the margins, at the η of AdaHedge.
    ///
    /// For any convex loss; the mixability gaps are measured, and η follows from their sum.
    AdaHedge,
}

impl Mixing {
    /// Whether predictions are clipped to the range of the labels so far.
    #[inline(always)]
    pub fn clips(self) -> bool {
        match self {
            Mixing::ClippedMean => true,
            Mixing::LogOdds | Mixing::AdaHedge => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_not_negative_and_exact() {
        assert_eq!([0.0, 2.5, Labels::MOST].map(|y| Labels::Count.holds(y)), [true; 3]);
        assert_eq!([-1.0, 1.7e7, f32::NAN].map(|y| Labels::Count.holds(y)), [false; 3]);
        assert!(Labels::Real.holds(-1.0));
        assert_eq!(Labels::MOST, 24f32.exp2());
    }

    #[test]
    fn margins_predict() {
        assert_eq!([0.0, 2.0].map(|p| Link::Count.prediction(p)), [1.0, 2f64.exp()]);
        assert_eq!([-2.0, 0.0, 0.5].map(|p| Link::Sign.prediction(p)), [-1.0, 0.0, 1.0]);
        assert_eq!([-2.0, 0.0, 0.5].map(|p| Link::Number.prediction(p)), [-2.0, 0.0, 0.5]);
        assert_eq!([-1e3, 0.0, 1e3].map(|p| Link::Probability.prediction(p)), [0.0, 0.5, 1.0]);
        let [no, yes] = [-3.0, 3.0].map(|p| Link::Probability.prediction(p));
        assert!((no + yes - 1.0).abs() < 1e-15 && (yes / no - 3f64.exp()).abs() < 1e-12);
    }
}
