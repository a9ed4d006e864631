//! Poisson loss: half the deviance of a count, for counts with a logarithmic link.
//!
//! ```text
//! Loss      e^p − yp + y ln y − y, which is 0 at e^p = y; beyond p = c = 24 ln 2 it is its tangent
//! Slope     e^min(p, c) − y
//! Link      count: e^p is the expected count
//! Labels    numbers from 0 to 2^24 = e^c; where labels are standardised, the learner learns from
//!           y/μ, μ the mean count so far, and ln μ is added to its margin
//! Push      u = −(1/k) ln(e^−a + e^p (1 − e^−a)/y),  a = yhk; −(1/k) ln(1 + e^p hk) if y = 0:
//!           Karampatziakis & Langford 2011; beyond c the slope is constant
//! Mixing    mean of the margins by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
//! Dual      −ℓ*(s) = (s + y)(1 − ln(s + y)) + y ln y − y,  −y ≤ s ≤ e^c − y
//! Source    McCullagh & Nelder 1989, "Generalized Linear Models", chapter 6
//! Departs   the tangent beyond c: e^p would overflow, and no label is larger than e^c
//! ```

use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// e^p − yp + y ln y − y.
#[derive(Clone, Copy)]
pub struct Poisson;

/// c = 24 ln 2, the margin of the largest count.
const LAST: f64 = 24.0 * std::f64::consts::LN_2;

/// y ln y, 0 at 0.
fn y_ln_y(y: f64) -> f64 {
    if y > 0.0 { y * y.ln() } else { 0.0 }
}

impl LossFunction for Poisson {
    const LABELS: Labels = Labels::Count;
    const LINK: Link = Link::Count;
    const MIXING: Mixing = Mixing::AdaHedge;
    const DEGREE: i32 = 1;
    const MERGES_LABELS: bool = true;

    #[inline(always)]
    fn in_units(self, _unit: f64) -> Self {
        self
    }

    /// The tail of this loss is e^min(p, c).
    #[inline(always)]
    fn tail(self, margin: f64) -> Tail {
        Tail { tail: margin.min(LAST).exp(), sure: 0.0 }
    }

    #[inline(always)]
    fn value(self, tail: Tail, margin: f64, label: f64) -> f64 {
        let rise = tail.tail * (1.0 + (margin - LAST).max(0.0));
        // Rounding could make the least value negative.
        (rise - label * margin + (y_ln_y(label) - label)).max(0.0)
    }

    #[inline(always)]
    fn slope(self, tail: Tail, _margin: f64, label: f64) -> f64 {
        tail.tail - label
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        let excess = margin - LAST;
        if excess <= 0.0 {
            return curved(margin, label, importance, response);
        }
        let slope = LAST.exp() - label;
        // The importance with which the margin comes down to c.
        let spent = excess / (slope.max(0.0) * response);
        if spent >= importance {
            return -slope * importance;
        }
        curved(LAST, label, importance - spent, response) - excess / response
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        let sum = |target: &Target| target.mean().0 * y_ln_y(target.mean().1);
        let before = sum(target);
        target.add_number(label, importance);
        importance * y_ln_y(label) + before - sum(target)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, _temperature: f64) -> Point {
        let (importance, label) = target.mean();
        let tail = self.tail(margin);
        let loss = importance * self.value(tail, margin, label);
        let slope = importance * self.slope(tail, margin, label);
        let is_curved = margin <= LAST;
        Point {
            loss,
            smooth: loss,
            dual: loss - slope * margin,
            slope,
            curvature: if is_curved { importance * tail.tail } else { 0.0 },
        }
    }
}

/// The push of a margin up to c: with z = e^−p the flow is dz/dh = k(1 − yz), which is linear.
fn curved(margin: f64, label: f64, importance: f64, response: f64) -> f64 {
    let fall = label * importance * response;
    // ln((1 − e^−a)/y), which is ln(hk) where a is 0.
    let risen = if fall > 0.0 {
        (-(-fall).exp_m1()).ln() - label.ln()
    } else {
        (importance * response).ln()
    };
    let shrunk = (-fall).exp_m1() + (margin + risen).exp();
    if shrunk > -0.5 {
        return -shrunk.ln_1p() / response;
    }
    // Both terms may be too small for a float: their logarithms are added.
    let (one, other) = (-fall, margin + risen);
    let (most, least) = (one.max(other), one.min(other));
    -(most + (least - most).exp().ln_1p()) / response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::loss::push::push;

    #[test]
    fn the_loss_is_half_the_deviance() {
        assert_eq!(Loss::Poisson.value(0.0, 1.0), 0.0);
        assert_eq!(Loss::Poisson.value(-1e4, 0.0), 0.0);
        let half = 5.0 * (5.0_f64 / 3.0).ln() - (5.0 - 3.0);
        assert!((Loss::Poisson.value(3f64.ln(), 5.0) - half).abs() < 1e-14);
    }

    #[test]
    fn beyond_the_largest_count_the_loss_is_linear() {
        let slope = Loss::Poisson.slope(LAST, 2.0);
        assert!((slope - (f64::from(Labels::MOST) - 2.0)).abs() < 1e-6);
        assert_eq!(Loss::Poisson.slope(1e300, 2.0), slope);
        let rise = Loss::Poisson.value(LAST + 10.0, 2.0) - Loss::Poisson.value(LAST, 2.0);
        assert!((rise / (10.0 * slope) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_importance_pushes_beyond_the_label() {
        let way = push(Loss::Poisson, 1.0, 7.0, 1e30, 0.5);
        assert!((1.0 + 0.5 * way - 7f64.ln()).abs() < 1e-12);
        let down = push(Loss::Poisson, 40.0, 7.0, 1e30, 0.5);
        assert!((40.0 + 0.5 * down - 7f64.ln()).abs() < 1e-12);
    }
}
