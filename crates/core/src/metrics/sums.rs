//! Sums over rounds, from which the metrics are computed that are means.
//!
//! Sums of two parts of a run can be joined, so slices add up to the whole. The labels have their mean and their
//! squared distance from it, since a sum of squares would lose the digits of labels that are far from 0.

use super::Played;
use crate::loss::{Labels, Loss};

/// Sums over rounds of importance h > 0, margin p, prediction q and label y.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The number of rounds.
    pub examples: u64,
    /// Σh.
    pub importance: f64,
    /// Σh ℓ(p, y).
    pub loss: f64,
    /// Σh over the rounds with yp ≤ 0.
    pub mistakes: f64,
    /// Σhq.
    pub predicted: f64,
    /// Σhy/Σh.
    pub label_mean: f64,
    /// Σh(y − mean)².
    pub label_squares: f64,
    /// Σh(q − y)²; 0 for two classes.
    pub squared_error: f64,
    /// Σh|q − y|; 0 for two classes.
    pub absolute_error: f64,
}

impl Sums {
    /// Add rounds.
    pub fn add_all(&mut self, loss: Loss, played: Played<'_>) {
        for (margin, label, importance) in played.rounds() {
            self.add(loss, margin, label, importance);
        }
    }

    /// Add one round (West 1979).
    #[inline(always)]
    pub fn add(&mut self, loss: Loss, margin: f64, label: f64, importance: f64) {
        let prediction = loss.link().prediction(margin);
        self.examples += 1;
        self.importance += importance;
        self.loss += importance * loss.value(margin, label);
        self.predicted += importance * prediction;
        let distance = label - self.label_mean;
        self.label_mean += distance * importance / self.importance;
        self.label_squares += importance * distance * (label - self.label_mean);
        if loss.labels() == Labels::Binary {
            self.mistakes += if label * margin <= 0.0 { importance } else { 0.0 };
        } else {
            self.squared_error += importance * (prediction - label).powi(2);
            self.absolute_error += importance * (prediction - label).abs();
        }
    }

    /// The sums over these rounds and others (Chan, Golub & LeVeque 1979).
    pub fn joined(self, others: Sums) -> Sums {
        let importance = self.importance + others.importance;
        if others.importance == 0.0 {
            return self;
        }
        let (share, way) = (others.importance / importance, others.label_mean - self.label_mean);
        Sums {
            examples: self.examples + others.examples,
            importance,
            loss: self.loss + others.loss,
            mistakes: self.mistakes + others.mistakes,
            predicted: self.predicted + others.predicted,
            // Exact if there is nothing to join with.
            label_mean: if share == 1.0 {
                others.label_mean
            } else {
                self.label_mean + share * way
            },
            label_squares: self.label_squares
                + others.label_squares
                + way * way * share * self.importance,
            squared_error: self.squared_error + others.squared_error,
            absolute_error: self.absolute_error + others.absolute_error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYED: Played<'_> = Played {
        margins: &[1.0, -2.0, 0.0, 9.0, 9.0],
        labels: &[1.0, 1.0, -1.0, 1.0, f32::NAN],
        importances: &[2.0, 1.0, 1.0, 0.0, 1.0],
    };

    fn sums_of(loss: Loss, played: Played<'_>) -> Sums {
        let mut sums = Sums::default();
        sums.add_all(loss, played);
        sums
    }

    #[test]
    fn rounds_without_label_or_importance_do_not_count() {
        let sums = sums_of(Loss::Hinge, PLAYED);
        assert_eq!((sums.examples, sums.importance, sums.loss), (3, 4.0, 3.0 + 1.0));
        assert_eq!((sums.mistakes, sums.label_mean, sums.label_squares), (2.0, 0.5, 3.0));
    }

    #[test]
    fn numbers_have_errors() {
        let sums = sums_of(Loss::Squared, PLAYED);
        assert_eq!((sums.squared_error, sums.absolute_error, sums.predicted), (10.0, 4.0, 0.0));
        assert_eq!((sums.loss, sums.mistakes), (10.0, 0.0));
    }

    #[test]
    fn probabilities_are_added_up() {
        let sums = sums_of(Loss::Logistic, PLAYED);
        let expected = 2.0 / (1.0 + (-1f64).exp()) + 1.0 / (1.0 + 2f64.exp()) + 0.5;
        assert!((sums.predicted - expected).abs() < 1e-12);
    }

    #[test]
    fn joined_sums_are_those_of_all_rounds() {
        let half = |range: std::ops::Range<usize>| {
            let Played { margins, labels, importances } = PLAYED;
            let (margins, labels) = (&margins[range.clone()], &labels[range.clone()]);
            sums_of(Loss::Squared, Played { margins, labels, importances: &importances[range] })
        };
        let (joined, all) = (half(0..2).joined(half(2..5)), sums_of(Loss::Squared, PLAYED));
        assert!((joined.label_squares - all.label_squares).abs() < 1e-12);
        assert_eq!(Sums { label_squares: all.label_squares, ..joined }, all);
        assert_eq!(Sums::default().joined(Sums::default()), Sums::default());
    }
}
