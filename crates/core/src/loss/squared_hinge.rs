//! Squared hinge loss: nothing beyond a margin of 1, the square of what lacks below it.
//!
//! ```text
//! Loss      max(0, 1 − yp)², not halved
//! Slope     −2y max(0, 1 − yp)
//! Link      sign of p, the likelier label
//! Labels    −1, +1
//! Push      u = y max(0, 1 − yp)(1 − e^(−2hk))/k: that of squared loss up to the margin 1
//! Mixing    mean of the margins by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
//! Dual      −ℓ*(−yα) = α − α²/4,  α ≥ 0
//! Source    Chang, Hsieh & Lin 2008, "Coordinate Descent Method for Large-scale L2-loss Linear SVM"
//! ```

use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// max(0, 1 − yp)².
#[derive(Clone, Copy)]
pub struct SquaredHinge;

/// max(0, 1 − yp): what the margin lacks.
#[inline(always)]
fn lack(margin: f64, label: f64) -> f64 {
    (1.0 - label * margin).max(0.0)
}

impl LossFunction for SquaredHinge {
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
        lack(margin, label).powi(2)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        -2.0 * label * lack(margin, label)
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        -label * lack(margin, label) * (-2.0 * (importance * response)).exp_m1() / response
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_class(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, _temperature: f64) -> Point {
        let mut point = Point::default();
        let [up, down] = target.classes();
        for (label, importance) in [(1.0, up), (-1.0, down)] {
            let lack = lack(margin, label);
            let (loss, slope) = (importance * lack * lack, -2.0 * importance * label * lack);
            point.loss += loss;
            point.smooth += loss;
            point.dual += loss - slope * margin;
            point.slope += slope;
            point.curvature += if lack > 0.0 { 2.0 * importance } else { 0.0 };
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::Loss;
    use crate::loss::push::push;

    #[test]
    fn it_is_the_square_of_hinge() {
        for (margin, label) in [(0.5, 1.0), (-3.0, 1.0), (1.0, 1.0), (2.0, -1.0), (-1.5, -1.0)] {
            let hinge = Loss::Hinge.value(margin, label);
            assert_eq!(Loss::SquaredHinge.value(margin, label), hinge * hinge);
            assert_eq!(Loss::SquaredHinge.slope(margin, label), -2.0 * label * hinge);
        }
    }

    #[test]
    fn no_importance_pushes_beyond_the_margin_1() {
        assert_eq!(push(Loss::SquaredHinge, -1.0, 1.0, 1e30, 0.5), 4.0);
        assert_eq!(push(Loss::SquaredHinge, 1.5, 1.0, 1e30, 0.5), 0.0);
    }
}
