//! The parts of one prediction: what each feature gave to it.
//!
//! ```text
//! one rate      p = b + Σ_i w_i x̂_i                         part of feature i: w_i x̂_i
//! mean          p = Σ_k π_k p_k                              part: Σ_k π_k c_i,k
//! log odds      p = logit Σ_k π_k σ(p_k)                     part: Σ_k a_k c_i,k
//!               a_k = π_k t(p_k)/t(p),  t(z) = (σ(z) − σ(b))/(z − b),  t(b) = σ'(b)
//! ```
//!
//! c_i,k is the part of feature i in expert k: w_i,k x̂_i in a lane with a rate, w_i z_i on unit values in the coin
//! lane, Σ_j v_j c_i,j in the stack. So p_k = b + Σ_i c_i,k with the base margin b, mostly 0. The logit of a mean is not linear in the experts, but its split is exact: since
//! Σ π_k = 1,
//!
//! ```text
//! Σ_k π_k t(p_k) (p_k − b) = Σ_k π_k (σ(p_k) − σ(b)) = σ(p) − σ(b) = t(p) (p − b),
//! so b + Σ_k a_k (p_k − b) = p;
//! t > 0 and π_k ≥ 0, so a_k ≥ 0: no expert counts against its own margin.
//! ```
//!
//! Three parts belong to no feature. The base is b, in the user's units. Clipping is what it took away: of a lane's margin beyond ±30 in the stack, and of
//! a prediction outside the labels so far. The mean label is the μ of standardised labels, for which the features
//! give σ times their part, in the user's units.
//!
//! The weights and the margins of the experts are those that a prediction is computed from, by the same code, so
//! the parts add up to the margin except for the rounding of float64. Cost: that of a prediction, and a sum over
//! the lanes for each feature. Nothing here is on the path of predicting or learning.

use crate::example::{Example, LabelUnits};

/// What one feature gave to a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeaturePart {
    /// The slot of the feature; the last one is that of the intercept.
    pub slot: u32,
    /// The value as it was given.
    pub value: f32,
    /// The value as it was played; 0 if the scale leaves the feature out.
    pub scaled: f32,
    /// What it gave to the margin, in the user's units.
    pub part: f64,
}

impl From<FeaturePart> for (u32, f32, f32, f64) {
    fn from(feature: FeaturePart) -> Self {
        (feature.slot, feature.value, feature.scaled, feature.part)
    }
}

/// The parts of one prediction, which add up to its margin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// A part for each feature of the example, in its order.
    pub features: Vec<FeaturePart>,
    /// The base margin of the example, mostly 0.
    pub base: f64,
    /// The mean label, if labels are standardised.
    pub mean_label: Option<f64>,
    /// What clipping added, mostly 0.
    pub clipping: f64,
}

impl Explanation {
    /// The features of an example with the parts of those that were seen, which are in the same order.
    pub(super) fn of(example: &Example<'_>, seen: &Example<'_>, parts: &[f64]) -> Self {
        let mut left = seen.slots.iter().zip(seen.values).zip(parts).peekable();
        let given = example.slots.iter().zip(example.values);
        let features = given.map(|(&slot, &value)| {
            let own = left.next_if(|((seen, _), _)| **seen == slot);
            let (scaled, part) = own.map_or((0.0, 0.0), |((_, &scaled), &part)| (scaled, part));
            FeaturePart { slot, value, scaled, part }
        });
        let base = f64::from(example.base);
        Explanation { features: features.collect(), base, ..Explanation::default() }
    }

    /// The parts of a prediction in the user's units, from those of a margin in standardised units.
    pub(super) fn in_units(mut self, units: Option<LabelUnits>) -> Self {
        let Some(units) = units else { return self };
        let margin: f64 = self.features.iter().map(|feature| feature.part).sum();
        for feature in &mut self.features {
            feature.part *= units.deviation;
        }
        self.mean_label = Some(units.mean);
        self.clipping = units.prediction(margin) - units.of(margin);
        self
    }
}
