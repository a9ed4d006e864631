//! Half the squared loss: for labels that are numbers.
//!
//! ```text
//! Loss      ½(p − y)²
//! Slope     p − y
//! Link      number: p is the prediction
//! Labels    any finite numbers
//! Push      u = (y − p)(1 − e^(−hk))/k
//! Mixing    mean of the predictions clipped to the labels so far
//! Dual      −ℓ*(s) = −s y − s²/2
//! Source    a toy, to show how a loss is added
//! ```

use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// ½(p − y)².
#[derive(Clone, Copy)]
pub struct HalfSquared;

impl LossFunction for HalfSquared {
    const LABELS: Labels = Labels::Real;
    const LINK: Link = Link::Number;
    const MIXING: Mixing = Mixing::ClippedMean;
    const DEGREE: i32 = 2;
    const MERGES_LABELS: bool = true;

    fn in_units(self, _unit: f64) -> Self {
        self
    }

    #[inline(always)]
    fn tail(self, _margin: f64) -> Tail {
        Tail::NONE
    }

    #[inline(always)]
    fn value(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        0.5 * (margin - label).powi(2)
    }

    #[inline(always)]
    fn slope(self, _tail: Tail, margin: f64, label: f64) -> f64 {
        margin - label
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        (margin - label) * (-(importance * response)).exp_m1() / response
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        0.5 * target.add_number(label, importance)
    }

    fn point(self, target: &Target, margin: f64, _temperature: f64) -> Point {
        let (importance, label) = target.mean();
        let away = margin - label;
        let (loss, slope) = (0.5 * importance * away * away, importance * away);
        let dual = loss - slope * margin;
        Point { loss, smooth: loss, dual, slope, curvature: importance }
    }
}
