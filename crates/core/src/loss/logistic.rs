//! Logistic loss: the negative log likelihood of the label, for probabilities of two classes.
//!
//! ```text
//! Loss      log(1 + e^(−yp))
//! Slope     −y/(1 + e^(yp))
//! Link      probability of +1:  1/(1 + e^−p)
//! Labels    −1, +1
//! Push      u = y δ/k,  δ + e^m (e^δ − 1) = hk,  m = yp: Karampatziakis & Langford 2011
//! Mixing    log odds of the mean probability; the loss is 1-mixable: Vovk 1998
//! Dual      −ℓ*(−yα) = −α log α − (1 − α) log(1 − α),  α in [0, 1]
//! Source    the paper, sections 1.1, which prints the negative of the loss (erratum E1), and 5.2
//! ```
//!
//! Value and slope are computed from e^−|p|, which is computed once for both ([`Tail`]).

use super::{Labels, Link, LossFunction, Mixing, Point, Tail, Target};

/// log(1 + e^(−yp)).
#[derive(Clone, Copy)]
pub struct Logistic;

impl LossFunction for Logistic {
    const LABELS: Labels = Labels::Binary;
    const LINK: Link = Link::Probability;
    const MIXING: Mixing = Mixing::LogOdds;
    const DEGREE: i32 = 0;
    const MERGES_LABELS: bool = true;

    #[inline(always)]
    fn in_units(self, _unit: f64) -> Self {
        self
    }

    #[inline(always)]
    fn tail(self, margin: f64) -> Tail {
        Tail::of(margin)
    }

    #[inline(always)]
    fn value(self, tail: Tail, margin: f64, label: f64) -> f64 {
        tail.log_loss(margin, label)
    }

    #[inline(always)]
    fn slope(self, tail: Tail, margin: f64, label: f64) -> f64 {
        let unsure = tail.tail * tail.sure;
        -label * if label * margin <= 0.0 { tail.sure } else { unsure }
    }

    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        label * rise(label * margin, importance * response) / response
    }

    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
        target.add_class(label, importance)
    }

    #[inline]
    fn point(self, target: &Target, margin: f64, _temperature: f64) -> Point {
        let [up, down] = target.classes();
        let positive = sigmoid(margin);
        let tail = (-margin.abs()).exp().ln_1p();
        let loss = up * (tail + (-margin).max(0.0)) + down * (tail + margin.max(0.0));
        let slope = down * positive - up * (1.0 - positive);
        Point {
            loss,
            smooth: loss,
            dual: loss - slope * margin,
            slope,
            curvature: (up + down) * positive * (1.0 - positive),
        }
    }
}

/// Beyond this margin e^m overflows, and the rest of the loss moves nothing.
const SURE: f64 = 700.0;

/// δ with δ + e^m (e^δ − 1) = weight: the increase of a margin of the right sign.
///
/// Newton's method from above on a convex function, so it decreases to the root without overshooting. In this
/// form nothing cancels, for small δ and for small e^m.
fn rise(m: f64, weight: f64) -> f64 {
    if m > SURE {
        return 0.0;
    }
    // Above the root, since e^δ − 1 ≥ δ.
    let mut delta = weight / (1.0 + m.exp());
    if delta > 1.0 {
        // Also above the root, since the second term is at most the sum; and e^(m + δ) does not overflow.
        delta = delta.min(softplus(weight.ln() - m));
    }
    loop {
        let peak = (m + delta).exp();
        let step = (delta - peak * (-delta).exp_m1() - weight) / (1.0 + peak);
        delta -= step;
        // Quadratic convergence: the next step would be below the last digit.
        if step <= 1e-9 * delta {
            return delta;
        }
    }
}

fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// 1/(1 + e⁻ᶻ); e⁻ᶻ may be infinite.
fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

#[cfg(test)]
mod tests {
    use crate::loss::Loss;

    #[test]
    fn logistic_survives_huge_margins() {
        assert_eq!(Loss::Logistic.value(1e300, -1.0), 1e300);
        assert_eq!(Loss::Logistic.value(1e300, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(1e300, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(-1e300, 1.0), -1.0);
    }

    #[test]
    fn both_labels_are_as_likely_at_0() {
        assert_eq!(Loss::Logistic.slope(0.0, 1.0), -0.5);
        assert_eq!(Loss::Logistic.slope(0.0, -1.0), 0.5);
        assert_eq!(Loss::Logistic.value(0.0, 1.0), 2f64.ln());
    }
}
