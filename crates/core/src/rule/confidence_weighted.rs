//! Confidence-weighted learning with a diagonal covariance.
//!
//! ```text
//! Plays     the mean μ of weights ~ N(μ, diag σ²)
//!           μ_i ← μ_i + α y σ_i² x_i,   1/σ_i² ← 1/σ_i² + k x_i²
//!           with M = y μ·x, V = Σ σ_i² x_i²
//!           variance   α = max(0, (−(1 + 2φM) + √((1 − 2φM)² + 8φ²V)) / (4φV)),  k = 2αφ
//!           stdev      α = max(0, (−Mψ + √(M²φ⁴/4 + Vφ²ζ)) / (Vζ)),  k = αφ/r
//!                      ψ = 1 + φ²/2, ζ = 1 + φ², r = (−αVφ + √(α²V²φ² + 4V))/2
//! Slot      weight μ, precision         1/σ² = 1/a + precision
//! Regret    none stated
//! Source    variance: Dredze, Crammer & Pereira 2008; stdev: Crammer, Dredze & Pereira 2008
//! Departs   diagonal by precision (off-diagonals of Σ⁻¹ dropped); an importance of 0 is not
//!           learned from and no other importance is known
//! ```

use serde::{Deserialize, Serialize};

use super::merging::{How, merged_sum};
use super::{
    Dither, ExampleStats, Interval, Merges, Merging, NewUnit, Parameters, Rule, Step, narrowed,
    narrowed_sum, positive, slot,
};
use crate::error::Result;

slot! {
    /// The mean μ, and the precision gained since the start.
    Slot {
        /// μ
        weight,
        /// 1/σ² − 1/a
        precision
    }
}

impl Slot {
    /// σ² of a coordinate whose initial variance is `start`.
    #[inline]
    pub(super) fn variance(&self, start: f64) -> f64 {
        1.0 / (1.0 / start + f64::from(self.precision))
    }

    /// The slot in another unit of the values.
    pub(super) fn in_unit(&self, unit: NewUnit) -> Self {
        let precision = f64::from(self.precision) * unit.gradient.powi(2);
        let weight = narrowed(f64::from(self.weight) * unit.weight, Interval::EVERYWHERE);
        Slot { weight, precision: narrowed_sum(precision) }
    }

    /// Add `shift` to the mean and `added_precision` to the precision.
    #[inline]
    pub(super) fn learn(&mut self, shift: f64, added_precision: f64, dither: Dither) {
        let anywhere = Interval::EVERYWHERE;
        self.weight = anywhere.narrowed(f64::from(self.weight) + shift, dither);
        let precision = f64::from(self.precision) + added_precision;
        self.precision = anywhere.narrowed(precision, dither).max(self.precision);
    }
}

/// One Gaussian of many that went on from one: precisions add up, and means are weighted by them.
pub(super) fn merged(start: &Slot, shards: &[Slot], variance: f64, merging: &Merging) -> Slot {
    let precision = |slot: &Slot| 1.0 / slot.variance(variance);
    let held = |slot: &Slot| precision(slot) * f64::from(slot.weight);
    let total = merged_sum(precision(start), shards.iter().map(precision));
    let weight = match merging.how {
        How::Average => {
            merging.sum_or_mean(start.weight.into(), shards.iter().map(|slot| slot.weight.into()))
        }
        _ => merged_sum(held(start), shards.iter().map(held)) / total,
    };
    Slot {
        weight: narrowed(weight, Interval::EVERYWHERE),
        precision: narrowed_sum(total - 1.0 / variance),
    }
}

/// The quantity that the constraint compares with the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// y μ·x ≥ φ V.
    Variance,
    /// y μ·x ≥ φ √V.
    Stdev,
}

/// Confidence-weighted learning.
#[derive(Clone, Copy, Debug)]
pub struct ConfidenceWeighted {
    constraint: Constraint,
    confidence: f64,
    variance: f64,
}

impl ConfidenceWeighted {
    fn checked(constraint: Constraint, confidence: f64, variance: f64) -> Result<Self> {
        let confidence = positive("confidence", confidence)?.into();
        let variance = positive("variance", variance)?.into();
        Ok(ConfidenceWeighted { constraint, confidence, variance })
    }

    fn by_variance(&self, margin: f64, variance: f64) -> (f64, f64) {
        let phi = self.confidence;
        // This form of the radicand cannot become negative by rounding.
        let root = ((1.0 - 2.0 * phi * margin).powi(2) + 8.0 * phi * phi * variance).sqrt();
        let alpha = ((root - (1.0 + 2.0 * phi * margin)) / (4.0 * phi * variance)).max(0.0);
        (alpha, 2.0 * alpha * phi)
    }

    fn by_stdev(&self, margin: f64, variance: f64) -> (f64, f64) {
        let phi = self.confidence;
        let square = phi * phi;
        let (psi, zeta) = (1.0 + square / 2.0, 1.0 + square);
        let root = (margin * margin * square * square / 4.0 + variance * square * zeta).sqrt();
        let alpha = ((root - margin * psi) / (variance * zeta)).max(0.0);
        let pull = alpha * variance * phi;
        let deviation = ((pull * pull + 4.0 * variance).sqrt() - pull) / 2.0;
        (alpha, alpha * phi / deviation)
    }
}

/// The parameters of confidence-weighted learning by variance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CwParameters {
    /// φ, the confidence.
    pub confidence: f64,
    /// a, the initial variance.
    pub variance: f64,
}

impl Parameters for CwParameters {
    type Rule = ConfidenceWeighted;
    const CLASSIFIES: bool = true;

    fn rule(&self) -> Result<ConfidenceWeighted> {
        ConfidenceWeighted::checked(Constraint::Variance, self.confidence, self.variance)
    }
}

/// The parameters of confidence-weighted learning by standard deviation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CwStdevParameters {
    /// φ, the confidence.
    pub confidence: f64,
    /// a, the initial variance.
    pub variance: f64,
}

impl Parameters for CwStdevParameters {
    type Rule = ConfidenceWeighted;
    const CLASSIFIES: bool = true;

    fn rule(&self) -> Result<ConfidenceWeighted> {
        ConfidenceWeighted::checked(Constraint::Stdev, self.confidence, self.variance)
    }
}

impl Rule for ConfidenceWeighted {
    type Slot = Slot;
    type Shared = ();
    const COUPLED: bool = true;
    const BOUNDED: bool = false;
    const MERGES: Merges = Merges::Always;

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        slot.weight
    }

    #[inline]
    fn absorb(
        &self,
        slot: &mut Slot,
        value: f32,
        _gradient: f32,
        step: Step,
        dither: Dither,
    ) -> f32 {
        let (value, variance) = (f64::from(value), slot.variance(self.variance));
        let shift = f64::from(step.rate) * variance * value;
        slot.learn(shift, f64::from(step.tighten) * value * value, dither);
        0.0
    }

    #[inline]
    fn look(&self, slot: &Slot, value: f32, stats: &mut ExampleStats) {
        stats.variance += slot.variance(self.variance) * f64::from(value) * f64::from(value);
    }

    fn step(&self, _shared: &mut (), stats: &ExampleStats) -> Step {
        if stats.variance == 0.0 || stats.importance == 0.0 {
            return Step::default();
        }
        let margin = stats.label * stats.margin;
        let (alpha, tighten) = match self.constraint {
            Constraint::Variance => self.by_variance(margin, stats.variance),
            Constraint::Stdev => self.by_stdev(margin, stats.variance),
        };
        Step::new(alpha * stats.label, tighten)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        merged(start, shards, self.variance, merging)
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        slot.in_unit(unit)
    }
}
