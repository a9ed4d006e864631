//! The scale of the labels: numbers are standardised, so that their unit and their level do not matter.
//!
//! ```text
//! n, μ, M2      Σ h, the mean and Σ h (y − μ)² of the labels so far, h the importance
//! σ² = M2/n     σ = 0 means σ² ≤ 1e-24 μ²
//! [A, B]        the range of the labels so far
//!
//! Each label    n' = n + h,  μ' = μ + (y − μ) h/n',  M2' = M2 + h (y − μ)(y − μ')      West (1979)
//! Learns from   ŷ = (y − μ')/σ', and 0 if σ' = 0       the statistics with this label
//! Predicts      P = clip(μ + σ m, A, B), and 0 before the first label       those without it
//! Counts        ŷ = y/μ', at most 2^24, and 0 if μ' = 0
//!               ln P = clip(ln μ + m, ln A, ln B), and 0 before the first label
//! ```
//!
//! m is the margin of the learner, in standardised units. The label that a learner sees is scaled by statistics
//! that include it: with those of the past, the second label would be infinitely far from the first, and one
//! such gradient ends the steps of every rate that divides by the gradients so far. It is a float32, as the
//! scaled values are. A round of importance 0 changes nothing, and ŷ is 0 in it.
//!
//! A base margin b is in the user's units. The labels y above are then y − b, so that the statistics are those of
//! what is left to predict, and P is added to b. Counts have no base margins.
//!
//! Labels are standardised exactly if the scale is `standard` and the labels are numbers or counts. Regret and
//! bounds are those of the game ℓ(m, ŷ); predictions and losses are in the user's units, u^d times as large: the
//! unit u is σ, or μ of counts, and d the degree of the loss. A count has no other unit than its mean, since it
//! is predicted by e^p: the logarithms of A and B are taken to be −24 ln 2 at least.
//!
//! Two parts of a stream can be merged: n is a sum, μ and M2 follow by the formula of Chan, Golub & LeVeque
//! (1979), and `[A, B]` is a minimum and a maximum. The twin is `python/lessregret/learners/labels.py`.

use serde::{Deserialize, Serialize};

use crate::example::Example;
use crate::loss::Labels;
use crate::rule::Interval;

/// σ²/μ² up to which labels count as equal.
const EQUAL: f64 = 1e-24;

/// The least logarithm of a count: −24 ln 2.
const LEAST_LOG: f64 = -24.0 * std::f64::consts::LN_2;

/// The statistics of the labels so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelStatistics {
    /// n, the sum of the importances.
    pub importance: f64,
    /// μ, the mean.
    pub mean: f64,
    /// M2, the sum of the squares of the distances to the mean, weighted by importance.
    pub squares: f64,
    /// `[A, B]`; none before the first label.
    pub range: Option<[f64; 2]>,
}

impl LabelStatistics {
    /// The statistics with one more label.
    fn with(self, label: f64, importance: f64) -> Self {
        if importance == 0.0 {
            return self;
        }
        let (total, distance) = (self.importance + importance, label - self.mean);
        let mean = self.mean + distance * (importance / total);
        // The product of the distances is not negative; rounding of the mean could make it so.
        let squares = self.squares + importance * (distance * (label - mean)).max(0.0);
        let [low, high] = self.range.unwrap_or([label; 2]);
        let range = Some([low.min(label), high.max(label)]);
        LabelStatistics { importance: total, mean, squares, range }
    }

    /// σ.
    fn deviation(&self) -> f64 {
        let variance = self.squares / self.importance;
        if variance > EQUAL * self.mean * self.mean { variance.sqrt() } else { 0.0 }
    }

    /// How margins become predictions of labels of this kind.
    pub fn units(&self, kind: Labels) -> Units {
        let (mean, deviation) = (self.mean, self.deviation());
        if kind != Labels::Count {
            let range = self.range.unwrap_or_default();
            return Units { mean, deviation, range, unit: deviation };
        }
        let log = |count: f64| count.ln().max(LEAST_LOG);
        let range = self.range.map(|range| range.map(log)).unwrap_or_default();
        Units { mean: self.range.map_or(0.0, |_| log(mean)), deviation: 1.0, range, unit: mean }
    }

    /// ŷ of a label of this kind, by statistics that contain it.
    fn standardised(&self, kind: Labels, label: f64) -> f64 {
        let deviation = self.deviation();
        match kind {
            Labels::Count if self.mean > 0.0 => (label / self.mean).min(f64::from(Labels::MOST)),
            Labels::Count => 0.0,
            _ if deviation > 0.0 => (label - self.mean) / deviation,
            _ => 0.0,
        }
    }
}

/// How margins in standardised units become predictions in the user's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Units {
    /// μ, or ln μ of counts.
    pub mean: f64,
    /// σ, or 1 of counts.
    pub deviation: f64,
    /// u, the unit of the labels: σ, or μ of counts.
    pub unit: f64,
    range: [f64; 2],
}

impl Units {
    /// μ + σ m.
    #[inline(always)]
    pub fn of(&self, margin: f64) -> f64 {
        self.mean + self.deviation * margin
    }

    /// P, the prediction of a margin, or ln P of counts: μ + σ m within the range of the labels.
    #[inline(always)]
    pub fn prediction(&self, margin: f64) -> f64 {
        self.of(margin).max(self.range[0]).min(self.range[1])
    }

    /// (P − μ)/σ, the margin of a prediction; none if σ = 0.
    pub fn margin(&self, prediction: f64) -> Option<f64> {
        (self.deviation > 0.0).then(|| (prediction - self.mean) / self.deviation)
    }
}

/// The label of a round that was played, in the user's units.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// y − b, the label without the base margin.
    pub label: f64,
    /// b, the base margin.
    pub base: f64,
    /// The units before the round, by which its margin is a prediction.
    pub units: Units,
}

/// The statistics of the labels, and the rounds that were played with them.
#[derive(Clone, Debug)]
pub struct LabelScale {
    kind: Labels,
    statistics: LabelStatistics,
    next: LabelStatistics,
    rounds: Vec<Given>,
}

impl LabelScale {
    /// The scale of labels of this kind, before the first label.
    pub fn new(kind: Labels) -> Self {
        let (statistics, next, rounds) = Default::default();
        LabelScale { kind, statistics, next, rounds }
    }

    /// How margins become predictions.
    pub fn units(&self) -> Units {
        self.statistics.units(self.kind)
    }

    /// The statistics of the labels so far.
    pub fn statistics(&self) -> LabelStatistics {
        self.statistics
    }

    /// Restore what [`LabelScale::statistics`] returned.
    pub fn restore(&mut self, statistics: LabelStatistics) {
        self.statistics = statistics;
    }

    /// ŷ, what a round learns from, given its label without the base margin. The statistics are not updated.
    pub fn prepare(&mut self, label: f64, importance: f32) -> f32 {
        self.next = self.statistics.with(label, f64::from(importance));
        if importance == 0.0 {
            return 0.0;
        }
        // Beyond a float32 only if the importance is tiny, and the gradient is a multiple of it.
        Interval::EVERYWHERE.clip(self.next.standardised(self.kind, label) as f32)
    }

    /// Update the statistics by the label that was prepared.
    pub fn remember(&mut self) {
        self.statistics = self.next;
    }

    /// Update the statistics by the label that was prepared, and keep the round until it is recorded.
    pub fn remember_round(&mut self, example: &Example<'_>) {
        let (label, base) = (example.residual(), f64::from(example.base));
        self.rounds.push(Given { label, base, units: self.units() });
        self.remember();
    }

    /// Go back to these statistics, which were those before the last rounds, and drop the rounds, if they are
    /// still here.
    pub fn undo(&mut self, statistics: LabelStatistics, rounds: usize) {
        self.statistics = statistics;
        self.rounds.truncate(self.rounds.len().saturating_sub(rounds));
    }

    /// Move the rounds that were kept to `rounds`, which is empty.
    pub fn take_rounds(&mut self, rounds: &mut Vec<Given>) {
        std::mem::swap(&mut self.rounds, rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(labels: &[(f32, f32)]) -> (LabelScale, Vec<f32>) {
        let mut scale = LabelScale::new(Labels::Real);
        let seen = labels.iter().map(|&(label, importance)| {
            let seen = scale.prepare(f64::from(label), importance);
            scale.remember();
            seen
        });
        let seen = seen.collect();
        (scale, seen)
    }

    #[test]
    fn an_importance_is_a_number_of_repetitions() {
        let (once, _) = scaled(&[(290_000.0, 2.0), (310_000.0, 0.0), (250_000.0, 1.0)]);
        let (again, _) = scaled(&[(290_000.0, 1.0), (290_000.0, 1.0), (250_000.0, 1.0)]);
        let (one, other) = (once.statistics(), again.statistics());
        assert_eq!((one.importance, one.range), (3.0, Some([250_000.0, 290_000.0])));
        assert_eq!((one.importance, one.range), (other.importance, other.range));
        assert!((one.mean - other.mean).abs() < 1e-9);
        assert!((one.squares / other.squares - 1.0).abs() < 1e-12);
    }

    #[test]
    fn labels_are_standardised_with_themselves_and_predictions_without() {
        let (mut scale, seen) = scaled(&[(5.0, 1.0), (7.0, 1.0), (9.0, 0.0)]);
        assert_eq!(seen, [0.0, 1.0, 0.0]);
        assert_eq!(scale.units().prediction(0.5), 6.5);
        assert_eq!(scale.units().prediction(9.0), 7.0);
        assert_eq!(LabelStatistics::default().units(Labels::Real).prediction(3.0), 0.0);
        scale.prepare(9.0, 1.0);
        assert_eq!(scale.statistics().mean, 6.0);
        let (slots, values) = (&[][..], &[][..]);
        let (base, importance) = (2.0, 1.0);
        let values_again = values;
        scale.remember_round(&Example {
            label: 11.0,
            importance,
            base,
            slots,
            values,
            unit_values: values_again,
        });
        let mut rounds = Vec::new();
        scale.take_rounds(&mut rounds);
        assert_eq!((rounds[0].units.mean, scale.statistics().mean), (6.0, 7.0));
        assert_eq!((rounds[0].label, rounds[0].base), (9.0, 2.0));
    }

    #[test]
    fn equal_labels_have_no_spread_and_extreme_ones_stay_finite() {
        let (scale, seen) = scaled(&[(0.1, 0.3), (0.1, 1e-30), (0.1, 7.0)]);
        assert_eq!((seen, scale.units().deviation), (vec![0.0; 3], 0.0));
        let (scale, seen) = scaled(&[(-f32::MAX, f32::MAX), (f32::MAX, 1e-45), (1e-45, 1.0)]);
        assert!(seen.iter().all(|label| label.is_finite()), "{seen:?}");
        let LabelStatistics { mean, squares, .. } = scale.statistics();
        assert!(mean.is_finite() && squares.is_finite());
    }
}
