//! Huber loss: squared near the label, linear far from it, so that outliers pull no harder than δ.
//!
//! ```text
//! Loss      (p − y)² if |p − y| ≤ δ, else 2δ|p − y| − δ²;  δ > 0
//! Slope     2(p − y) clipped to [−2δ, 2δ]
//! Link      number: p is the prediction
//! Labels    any finite numbers; δ is in the units that the learner learns in: standard deviations
//!           of the labels so far where labels are standardised, else the units of the labels
//! Push      u = 2δh until |p − y| = δ, and from there that of squared loss
//! Mixing    mean of the predictions by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
//! Dual      −ℓ*(s) = −s y − s²/4,  s in [−2δ, 2δ]
//! Source    Huber 1964, "Robust Estimation of a Location Parameter"
//! Departs   not halved, as squared loss is not: it is squared loss for δ → ∞
//! ```

use super::{Labels, Link, LossFunction, Mixing, Parameter, Point, Tail, Target};

/// (p − y)² near the label and linear beyond, with the distance δ where that begins.
#[derive(Clone, Copy)]
pub struct Huber(pub f64);

impl Parameter for Huber {
    const EXPECTED: &'static str = "a finite number above 0";

    fn is_valid(delta: f64) -> bool {
        delta.is_finite() && delta > 0.0
    }
}

impl LossFunction for Huber {
    const LABELS: Labels = Labels::Real;
    const LINK: Link = Link::Number;
    const MIXING: Mixing = Mixing::AdaHedge;
    const DEGREE: i32 = 2;
    const MERGES_LABELS: bool = false;

    /// Until labels differ their deviation is 0, and δ is in their own units.
    #[inline(always)]
    fn in_units(self, unit: f64) -> Self {
        Huber(if unit > 0.0 { self.0 * unit } else { self.0 })
    }

    #[inline(always)]
    fn tail(self, _margin: f64) -> Tail {
        Tail::NONE
    }

    #[inline(always)]
    fn value(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        let away = (margin - label).abs();
        let near = away.min(self.0);
        near * (2.0 * away - near)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        2.0 * (margin - label).max(-self.0).min(self.0)
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        let (away, delta) = (label - margin, self.0);
        let far = (away.abs() - delta).max(0.0);
        // The importance with which the margin comes to the distance δ.
        let spent = far / (2.0 * delta * response);
        if spent >= importance {
            return 2.0 * delta * importance * away.signum();
        }
        let near = away.abs().min(delta) * -(-2.0 * (importance - spent) * response).exp_m1();
        (far + near) * away.signum() / response
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_number(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, _temperature: f64) -> Point {
        let (importance, label) = target.mean();
        let loss = importance * self.value(Tail::NONE, margin, label);
        let slope = importance * self.slope(Tail::NONE, margin, label);
        let is_near = (margin - label).abs() <= self.0;
        Point {
            loss,
            smooth: loss,
            dual: loss - slope * margin,
            slope,
            curvature: if is_near { 2.0 * importance } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::Loss;
    use crate::loss::push::push;

    const LOSS: Loss = Loss::Huber(1.5);

    #[test]
    fn it_is_squared_near_the_label_and_linear_beyond() {
        assert_eq!([2.0, 1.0, 3.5].map(|p| LOSS.value(p, 2.0)), [0.0, 1.0, 2.25]);
        assert_eq!([4.5, 5.5].map(|p| LOSS.value(p, 2.0)), [5.25, 8.25]);
        assert_eq!([2.5, 4.5, -9.0].map(|p| LOSS.slope(p, 2.0)), [1.0, 3.0, -3.0]);
    }

    #[test]
    fn no_importance_pushes_beyond_the_label() {
        assert_eq!(push(LOSS, -1.0, 3.0, 1e30, 0.5), 8.0);
        assert_eq!(push(LOSS, -1.0, 3.0, 1.0, 0.5), 3.0);
        assert_eq!(push(LOSS, 3.0, 3.0, 1e30, 0.5), 0.0);
    }
}
