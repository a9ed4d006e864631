//! Absolute loss: for the median of a label.
//!
//! ```text
//! Loss      |p − y|, twice the quantile loss of level ½
//! Slope     1 if p > y, −1 if p < y; at the kink p = y it is 0
//! Link      number: p is the prediction, the median
//! Labels    any finite numbers
//! Push      u = (y − p)/k clipped to [−h, h]: Karampatziakis & Langford 2011
//! Mixing    mean of the predictions by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
//! Dual      −ℓ*(−α) = α y,  α in [−1, 1]
//! Source    Laplace 1793; Koenker & Bassett 1978, "Regression Quantiles"
//! ```

use super::quantile::Sides;
use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// |p − y|.
#[derive(Clone, Copy)]
pub struct Absolute;

const SIDES: Sides = Sides { below: 1.0, above: 1.0 };

impl LossFunction for Absolute {
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
        SIDES.value(margin, label)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        SIDES.slope(margin, label)
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        SIDES.push(margin, label, importance, response)
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_number(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, temperature: f64) -> Point {
        SIDES.point(target, margin, temperature)
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::Loss;

    #[test]
    fn it_is_twice_the_quantile_loss_of_the_median() {
        for (margin, label) in [(0.5, 2.0), (2.0, 2.0), (-3.0, -7.0)] {
            let half = Loss::Quantile(0.5);
            assert_eq!(Loss::Absolute.value(margin, label), 2.0 * half.value(margin, label));
            assert_eq!(Loss::Absolute.slope(margin, label), 2.0 * half.slope(margin, label));
        }
    }
}
