//! The losses of merged examples as functions of their one margin, with what a search needs.
//!
//! The search wants a second derivative and hinge has none. Hinge is max(0, l) = max over α in [0, 1]
//! of α l, with l = 1 − yp; it is searched with a barrier that keeps α off its ends,
//!
//! ```text
//! max over α of α l + ε [log α + log(1 − α)]   at α = ½ (2ε + √(l² + 4ε²) + l)/(2ε + √(l² + 4ε²))
//! ```
//!
//! whose slope α is a subgradient of hinge at the kink, so a dual point of hinge itself: the value
//! and the lower bound reported are always those of hinge. (A softplus has slopes in [0, 1] too, but
//! is flat away from the kink, so that Newton steps jump over it: measured, 12,000 passes for 500.)

use crate::loss::Loss;

/// What all examples with the same features say of their margin.
///
/// Classification: the importance of those labelled +1 and of those labelled −1. Regression: the
/// importance of all and their mean label, since Σ h (p − y)² = H (p − ȳ)² + Σ h (y − ȳ)².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    first: f64,
    second: f64,
}

impl Target {
    /// Add an example; the part of the loss that no margin changes is returned.
    pub fn add(&mut self, loss: Loss, label: f64, importance: f64) -> f64 {
        match loss {
            Loss::Squared => return self.add_number(label, importance),
            _ if label > 0.0 => self.first += importance,
            _ => self.second += importance,
        }
        0.0
    }

    fn add_number(&mut self, label: f64, importance: f64) -> f64 {
        if importance == 0.0 {
            return 0.0;
        }
        let before = self.first;
        let away = label - self.second;
        self.first += importance;
        self.second += away * importance / self.first;
        away * away * before * importance / self.first
    }

    /// The target seen from a margin; `temperature` is ε of hinge's barrier, above 0.
    #[inline]
    pub fn at(&self, loss: Loss, margin: f64, temperature: f64) -> Point {
        match loss {
            Loss::Logistic => self.logistic(margin),
            Loss::Hinge => self.hinge(margin, temperature),
            Loss::Squared => self.squared(margin),
        }
    }

    #[inline]
    fn logistic(&self, margin: f64) -> Point {
        let Target { first: up, second: down } = *self;
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

    #[inline]
    fn hinge(&self, margin: f64, temperature: f64) -> Point {
        let mut point = Point::default();
        for (label, importance) in [(1.0, self.first), (-1.0, self.second)] {
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

    #[inline]
    fn squared(&self, margin: f64) -> Point {
        let Target { first: importance, second: label } = *self;
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

/// The value, dual value, slope and curvature of a target at a margin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Σ h ℓ(p, y).
    pub loss: f64,
    /// The same of the smooth loss that is searched where ℓ has a kink.
    pub smooth: f64,
    /// The greatest c with Σ h ℓ(q, y) ≥ c + slope · q for all q: the negative conjugate.
    pub dual: f64,
    /// The slope of `smooth` in the margin.
    pub slope: f64,
    /// The second derivative of `smooth`.
    pub curvature: f64,
}

/// α and 1 − α of hinge's barrier, both without cancellation.
fn shares(lack: f64, temperature: f64) -> (f64, f64) {
    let root = lack.hypot(2.0 * temperature);
    let long = root + lack.abs();
    let short = 4.0 * temperature * temperature / long;
    let (up, down) = if lack > 0.0 { (long, short) } else { (short, long) };
    let whole = 2.0 * (2.0 * temperature + root);
    ((2.0 * temperature + up) / whole, (2.0 * temperature + down) / whole)
}

/// 1/(1 + e⁻ᶻ); e⁻ᶻ may be infinite.
fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLES: [(f64, f64); 4] = [(1.0, 2.0), (-1.0, 0.5), (1.0, 0.25), (-1.0, 0.0)];
    const MARGINS: [f64; 6] = [-700.0, -1.0, -0.1, 0.0, 0.9, 30.0];

    fn merged(loss: Loss) -> (Target, f64) {
        let mut target = Target::default();
        let constant = EXAMPLES.iter().map(|&(label, h)| target.add(loss, label, h)).sum();
        (target, constant)
    }

    #[test]
    fn merged_examples_have_the_sum_of_their_losses() {
        for loss in [Loss::Logistic, Loss::Hinge, Loss::Squared] {
            let (target, constant) = merged(loss);
            for margin in MARGINS {
                let sum: f64 = EXAMPLES.iter().map(|&(y, h)| h * loss.value(margin, y)).sum();
                let found = target.at(loss, margin, 0.1).loss + constant;
                assert!((found - sum).abs() <= 1e-12 * (1.0 + sum), "{loss:?} {margin}");
            }
        }
    }

    #[test]
    fn the_dual_line_is_below_the_loss_everywhere() {
        for loss in [Loss::Logistic, Loss::Hinge, Loss::Squared] {
            let (target, _) = merged(loss);
            for (margin, other) in MARGINS.iter().flat_map(|&p| MARGINS.map(|q| (p, q))) {
                let point = target.at(loss, margin, 0.1);
                let line = point.dual + point.slope * other;
                let above = target.at(loss, other, 0.1).loss;
                assert!(line <= above + 1e-9 * (1.0 + above), "{loss:?} {margin} {other}");
            }
        }
    }

    #[test]
    fn slope_and_curvature_are_finite_differences_of_smooth() {
        for loss in [Loss::Logistic, Loss::Hinge, Loss::Squared] {
            let (target, _) = merged(loss);
            for margin in [-2.0, -1.0, -0.1, 0.0, 0.9, 1.0, 3.0] {
                let step = 1e-5;
                let [low, high] = [-step, step].map(|d| target.at(loss, margin + d, 0.1));
                let point = target.at(loss, margin, 0.1);
                assert!(((high.smooth - low.smooth) / (2.0 * step) - point.slope).abs() < 1e-6);
                assert!(((high.slope - low.slope) / (2.0 * step) - point.curvature).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn a_cold_barrier_is_hinge() {
        let (target, _) = merged(Loss::Hinge);
        for margin in MARGINS {
            let point = target.at(Loss::Hinge, margin, 1e-9);
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
