//! Squared loss: for labels that are numbers.
//!
//! ```text
//! Loss      (p − y)², not halved, so the slope carries a 2
//! Slope     2(p − y)
//! Link      number: p is the prediction
//! Labels    any finite numbers
//! Push      u = (y − p)(1 − e^(−2hk))/k: Karampatziakis & Langford 2011
//! Mixing    mean of the predictions clipped to the labels so far, [A, B]; there the loss is
//!           1/(2(B − A)²)-exp-concave: Kivinen & Warmuth 1999
//! Dual      −ℓ*(s) = −s y − s²/4
//! Source    the paper, section 1.1
//! ```

use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// (p − y)².
#[derive(Clone, Copy)]
pub struct Squared;

impl LossFunction for Squared {
    const LABELS: Labels = Labels::Real;
    const LINK: Link = Link::Number;
    const MIXING: Mixing = Mixing::ClippedMean;
    const DEGREE: i32 = 2;
    const MERGES_LABELS: bool = true;

    #[inline(always)]
    fn in_units(self, _unit: f64) -> Self {
        self
    }

    #[inline(always)]
    fn tail(self, _margin: f64) -> Tail {
        Tail::NONE
    }

    #[inline(always)]
    fn value(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        (margin - label).powi(2)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        2.0 * (margin - label)
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        (margin - label) * (-2.0 * (importance * response)).exp_m1() / response
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_number(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, _temperature: f64) -> Point {
        let (importance, label) = target.mean();
        let away = margin - label;
        let (loss, slope) = (importance * away * away, 2.0 * importance * away);
        Point {
            loss,
            smooth: loss,
            dual: loss - slope * margin,
            slope,
            curvature: 2.0 * importance,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::Loss;
    use crate::loss::push::push;

    #[test]
    fn the_slope_carries_a_2() {
        assert_eq!(Loss::Squared.value(0.5, 2.0), 2.25);
        assert_eq!(Loss::Squared.slope(0.5, 2.0), -3.0);
        assert_eq!(Loss::Squared.slope(2.0, 2.0), 0.0);
    }

    #[test]
    fn no_importance_pushes_beyond_the_label() {
        assert_eq!(push(Loss::Squared, -1.0, 3.0, 1e30, 0.5), 8.0);
        assert_eq!(push(Loss::Squared, 3.0, 3.0, 1e30, 0.5), 0.0);
    }
}
