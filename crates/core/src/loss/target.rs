//! Merged examples for the comparator: a target, and its loss at a margin.

/// The labels and importances of all examples with the same features, merged.
///
/// Classification: the importance of those labelled +1 and of those labelled −1. Regression: the
/// importance of all and their mean label, since Σ h (p − y)² = H (p − ȳ)² + Σ h (y − ȳ)²; a loss of which
/// this cannot be said merges only examples with the same label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    first: f64,
    second: f64,
}

impl Target {
    /// Add an example of a class. Its whole loss depends on the margin, so 0 is returned.
    pub(super) fn add_class(&mut self, label: f64, importance: f64) -> f64 {
        if label > 0.0 {
            self.first += importance;
        } else {
            self.second += importance;
        }
        0.0
    }

    /// Add an example whose label is a number; returns the increase of Σ h (y − ȳ)².
    pub(super) fn add_number(&mut self, label: f64, importance: f64) -> f64 {
        if importance == 0.0 {
            return 0.0;
        }
        let before = self.first;
        let away = label - self.second;
        self.first += importance;
        self.second += away * importance / self.first;
        away * away * before * importance / self.first
    }

    /// Classification: the importance of the labels +1 and that of the labels −1.
    #[inline(always)]
    pub fn classes(&self) -> [f64; 2] {
        [self.first, self.second]
    }

    /// Regression: the importance H of all and their mean label ȳ.
    #[inline(always)]
    pub(crate) fn mean(&self) -> (f64, f64) {
        (self.first, self.second)
    }
}

/// The value, dual value, slope and curvature of a target at a margin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Σ h ℓ(p, y).
    pub loss: f64,
    /// The sum of the smoothed losses if ℓ has a kink; otherwise Σ h ℓ(p, y).
    pub smooth: f64,
    /// The greatest c with Σ h ℓ(q, y) ≥ c + slope · q for all q: the negative conjugate.
    pub dual: f64,
    /// The slope of `smooth` in the margin.
    pub slope: f64,
    /// The second derivative of `smooth`.
    pub curvature: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LOSSES, Labels, Loss};

    const MARGINS: [f64; 6] = [-700.0, -1.0, -0.1, 0.0, 0.9, 30.0];

    /// Labels and importances that the loss merges into one target.
    fn examples(loss: Loss) -> [(f64, f64); 4] {
        let (one, other) = match (loss.merges_labels(), loss.labels()) {
            (false, _) => (1.0, 1.0),
            (true, Labels::Count) => (3.0, 0.0),
            (true, _) => (1.0, -1.0),
        };
        [(one, 2.0), (other, 0.5), (one, 0.25), (other, 0.0)]
    }

    fn merged(loss: Loss) -> (Target, f64) {
        let mut target = Target::default();
        let merge = |(label, h)| loss.merge(&mut target, label, h);
        let constant = examples(loss).into_iter().map(merge).sum();
        (target, constant)
    }

    #[test]
    fn merged_examples_have_the_sum_of_their_losses() {
        for &loss in LOSSES {
            let (target, constant) = merged(loss);
            for margin in MARGINS {
                let sum: f64 = examples(loss).iter().map(|&(y, h)| h * loss.value(margin, y)).sum();
                let found = loss.point(&target, margin, 0.1).loss + constant;
                assert!((found - sum).abs() <= 1e-12 * (1.0 + sum), "{loss:?} {margin}");
            }
        }
    }

    #[test]
    fn the_dual_line_is_below_the_loss_everywhere() {
        for &loss in LOSSES {
            let (target, constant) = merged(loss);
            for (margin, other) in MARGINS.iter().flat_map(|&p| MARGINS.map(|q| (p, q))) {
                let point = loss.point(&target, margin, 0.1);
                let line = point.dual + point.slope * other;
                let above = loss.point(&target, other, 0.1).loss;
                assert!(line <= above + 1e-9 * (1.0 + above), "{loss:?} {margin} {other}");
                let sum: f64 = examples(loss).iter().map(|&(y, h)| h * loss.value(other, y)).sum();
                assert!(line + constant <= sum + 1e-9 * (1.0 + sum), "{loss:?} {margin} {other}");
            }
        }
    }

    #[test]
    fn slope_and_curvature_are_finite_differences_of_smooth() {
        for &loss in LOSSES {
            let (target, _) = merged(loss);
            for margin in [-2.0, -1.0, -0.1, 0.0, 0.9, 1.0, 3.0] {
                let step = 1e-5;
                let [low, high] = [-step, step].map(|d| loss.point(&target, margin + d, 0.1));
                let point = loss.point(&target, margin, 0.1);
                // The curvature of a loss made of pieces jumps where they meet.
                if (high.curvature - low.curvature).abs() > 0.1 {
                    continue;
                }
                let slope = (high.smooth - low.smooth) / (2.0 * step);
                assert!((slope - point.slope).abs() < 1e-6, "{loss:?} {margin}");
                let curvature = (high.slope - low.slope) / (2.0 * step);
                assert!((curvature - point.curvature).abs() < 1e-5, "{loss:?} {margin}");
            }
        }
    }
}
