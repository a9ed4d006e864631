//! Hinge loss: nothing beyond a margin of 1, linear below it.
//!
//! ```text
//! Loss      max(0, 1 − yp)
//! Slope     −y if yp < 1, else 0; at the kink yp = 1 it is 0
//! Link      sign of p, the likelier label
//! Labels    −1, +1
//! Push      u = y min(h, (1 − yp)/k),  0 if yp ≥ 1: Karampatziakis & Langford 2011
//! Mixing    mean of the margins by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
//! Dual      −ℓ*(−yα) = α,  α in [0, 1]
//! Source    the paper, section 5.1
//! ```
//!
//! The comparator's search needs a second derivative and hinge has none. Hinge is max(0, l) = max over α in
//! `[0, 1]` of α l, with l = 1 − yp; it is searched with a barrier that keeps α off its ends,
//!
//! ```text
//! max over α of α l + ε [log α + log(1 − α)]   at α = ½ (2ε + √(l² + 4ε²) + l)/(2ε + √(l² + 4ε²))
//! ```
//!
//! whose slope α is a subgradient of hinge at the kink, so a dual point of hinge itself: the value
//! and the lower bound reported are always those of hinge. The temperature is ε. (A softplus has slopes in
//! `[0, 1]` too, but is flat away from the kink, so that Newton steps jump over it: measured, 12,000 passes
//! for 500.)

use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// max(0, 1 − yp).
#[derive(Clone, Copy)]
pub struct Hinge;

impl LossFunction for Hinge {
    const LABELS: Labels = Labels::Binary;
    const LINK: Link = Link::Sign;
    const MIXING: Mixing = Mixing::AdaHedge;
    const DEGREE: i32 = 0;
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
        (1.0 - label * margin).max(0.0)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        if label * margin < 1.0 { -label } else { 0.0 }
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        label * importance.min((1.0 - label * margin).max(0.0) / response)
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_class(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, temperature: f64) -> Point {
        let mut point = Point::default();
        let [up, down] = target.classes();
        for (label, importance) in [(1.0, up), (-1.0, down)] {
            let lack = 1.0 - label * margin;
            let (share, rest) = shares(lack, temperature);
            point.loss += importance * lack.max(0.0);
            point.smooth += importance * (share * lack + temperature * (share * rest).ln());
            // −ℓ*(−yα) = α for α from 0 to 1.
            point.dual += importance * share;
            point.slope -= importance * label * share;
            point.curvature += importance / (temperature * (share.powi(-2) + rest.powi(-2)));
        }
        point
    }
}

/// α and 1 − α of the barrier, both without cancellation.
pub(super) fn shares(lack: f64, temperature: f64) -> (f64, f64) {
    let root = lack.hypot(2.0 * temperature);
    let long = root + lack.abs();
    let short = 4.0 * temperature * temperature / long;
    let (up, down) = if lack > 0.0 { (long, short) } else { (short, long) };
    let whole = 2.0 * (2.0 * temperature + root);
    ((2.0 * temperature + up) / whole, (2.0 * temperature + down) / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::loss::push::push;

    #[test]
    fn the_kink_of_hinge_has_slope_zero() {
        assert_eq!(Loss::Hinge.slope(1.0, 1.0), 0.0);
        assert_eq!(Loss::Hinge.slope(1.0 - 1e-15, 1.0), -1.0);
        assert_eq!(Loss::Hinge.slope(-1.0, -1.0), 0.0);
    }

    #[test]
    fn no_importance_pushes_beyond_the_kink() {
        assert_eq!(push(Loss::Hinge, -1.0, 1.0, 1e30, 0.5), 4.0);
        assert_eq!(push(Loss::Hinge, 1.0, 1.0, 1e30, 0.5), 0.0);
        assert_eq!(push(Loss::Hinge, 3.0, 1.0, 1e30, 0.5), 0.0);
    }

    #[test]
    fn a_cold_barrier_is_hinge() {
        let mut target = Target::default();
        for (label, importance) in [(1.0, 2.0), (-1.0, 0.5), (1.0, 0.25), (-1.0, 0.0)] {
            Hinge.merge(&mut target, label, importance);
        }
        for margin in [-700.0, -1.0, -0.1, 0.0, 0.9, 30.0] {
            let point = Hinge.point(&target, margin, 1e-9);
            assert!((point.smooth - point.loss).abs() < 1e-6, "{margin}");
        }
    }

    #[test]
    fn shares_add_up_to_one_and_solve_their_equation() {
        for lack in [-1e3, -1.0, -1e-3, 0.0, 1e-3, 1.0, 1e3] {
            let (share, rest) = shares(lack, 0.1);
            assert!((share + rest - 1.0).abs() < 1e-15);
            let slope = lack + 0.1 / share - 0.1 / rest;
            assert!(slope.abs() < 1e-9 * (1.0 + lack.abs()), "{lack} {slope}");
        }
    }
}
