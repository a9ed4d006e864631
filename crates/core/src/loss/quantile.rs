//! Quantile loss: for the number that a label is below with a given probability.
//!
//! ```text
//! Loss      τ max(0, y − p) + (1 − τ) max(0, p − y),  0 < τ < 1
//! Slope     1 − τ if p > y, −τ if p < y; at the kink p = y it is 0
//! Link      number: p is the prediction, the τ-quantile
//! Labels    any finite numbers
//! Push      u = min(τh, (y − p)/k) if p ≤ y, −min((1 − τ)h, (p − y)/k) else:
//!           Karampatziakis & Langford 2011
//! Mixing    mean of the predictions by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
//! Dual      −ℓ*(−α) = α y,  α in [τ − 1, τ]
//! Source    Koenker & Bassett 1978, "Regression Quantiles"
//! ```
//!
//! The comparator searches it as it searches hinge (`loss/hinge.rs`): with r = y − p the loss is
//! max(0, r) − (1 − τ) r, and the first term has the barrier of hinge.

use super::hinge::shares;
use super::{Labels, Link, LossFunction, Mixing, Parameter, Point, Tail, Target};

/// τ max(0, y − p) + (1 − τ) max(0, p − y), with its level τ.
#[derive(Clone, Copy)]
pub struct Quantile(pub f64);

impl Parameter for Quantile {
    const EXPECTED: &'static str = "a number above 0 and below 1";

    fn is_valid(level: f64) -> bool {
        0.0 < level && level < 1.0
    }
}

impl Quantile {
    fn sides(self) -> Sides {
        Sides { below: self.0, above: 1.0 - self.0 }
    }
}

/// below · max(0, y − p) + above · max(0, p − y): what quantile and absolute loss have in common.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    /// The size of the slope of predictions below the label.
    pub below: f64,
    /// The slope of predictions above the label.
    pub above: f64,
}

impl Sides {
    #[inline(always)]
    pub fn value(self, margin: f64, label: f64) -> f64 {
        let away = margin - label;
        if away > 0.0 { self.above * away } else { -self.below * away }
    }

    #[inline(always)]
    pub fn slope(self, margin: f64, label: f64) -> f64 {
        let away = margin - label;
        let above = if away > 0.0 { self.above } else { 0.0 };
        if away < 0.0 { -self.below } else { above }
    }

    pub fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        let way = (label - margin) / response;
        way.min(self.below * importance).max(-self.above * importance)
    }

    #[inline]
    pub fn point(self, target: &Target, margin: f64, temperature: f64) -> Point {
        let (importance, label) = target.mean();
        let (lack, width) = (label - margin, self.below + self.above);
        let (share, rest) = shares(lack, temperature);
        let pull = width * share - self.above;
        let smooth = pull * lack + width * temperature * (share * rest).ln();
        Point {
            loss: importance * self.value(margin, label),
            smooth: importance * smooth,
            dual: importance * pull * label,
            slope: -importance * pull,
            curvature: importance * width / (temperature * (share.powi(-2) + rest.powi(-2))),
        }
    }
}

impl LossFunction for Quantile {
    const LABELS: Labels = Labels::Real;
    const LINK: Link = Link::Number;
    const MIXING: Mixing = Mixing::AdaHedge;
    const DEGREE: i32 = 1;
    const MERGES_LABELS: bool = false;

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
        self.sides().value(margin, label)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        self.sides().slope(margin, label)
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        self.sides().push(margin, label, importance, response)
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_number(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, temperature: f64) -> Point {
        self.sides().point(target, margin, temperature)
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::Loss;
    use crate::loss::push::push;

    #[test]
    fn the_kink_has_slope_zero() {
        let loss = Loss::Quantile(0.75);
        assert_eq!([1.0, 2.0, 3.0].map(|p| loss.slope(p, 2.0)), [-0.75, 0.0, 0.25]);
        assert_eq!([1.0, 2.0, 4.0].map(|p| loss.value(p, 2.0)), [0.75, 0.0, 0.5]);
    }

    #[test]
    fn no_importance_pushes_beyond_the_label() {
        let loss = Loss::Quantile(0.75);
        assert_eq!(push(loss, -1.0, 3.0, 1e30, 0.5), 8.0);
        assert_eq!(push(loss, -1.0, 3.0, 2.0, 0.5), 1.5);
        assert_eq!(push(loss, 5.0, 3.0, 2.0, 0.5), -0.5);
        assert_eq!(push(loss, 3.0, 3.0, 2.0, 0.5), 0.0);
    }
}
