//! Passive-aggressive learning: the least change that meets the margin.
//!
//! ```text
//! Plays     w ← w + τ y x       L = max(0, 1 − y w·x)
//!           PA     τ = L/|x|²
//!           PA-I   τ = min(C h, L/|x|²)
//!           PA-II  τ = L/(|x|² + 1/(2 C h))        h the importance
//! Slot      weight
//! Regret    none stated; mistake bounds in the source
//! Source    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, §3; regression §5
//! Departs   an importance of 0 is not learned from; plain PA knows no other importance
//! ```
//!
//! For regression L = max(0, |y − w·x| − ε) and the sign of y − w·x replaces y. |x|² includes the intercept;
//! without it PA would overshoot its own constraint.

use serde::{Deserialize, Serialize};

use super::{
    Dither, ExampleStats, Interval, Merges, Merging, NewUnit, Parameters, Rule, Step, narrowed,
    not_negative, positive, slot,
};
use crate::error::Result;

slot! {
    /// The weight w.
    Slot {
        /// w
        weight
    }
}

/// The three variants of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    /// PA: always meets the margin.
    Pa,
    /// PA-I: τ is at most C.
    PaI {
        /// C, the aggressiveness.
        aggressiveness: f64,
    },
    /// PA-II: penalises the square of its step.
    PaII {
        /// C, the aggressiveness.
        aggressiveness: f64,
    },
}

/// Passive-aggressive learning.
#[derive(Clone, Copy, Debug)]
pub struct PassiveAggressive {
    variant: Variant,
    epsilon: f64,
}

impl PassiveAggressive {
    fn checked(variant: Variant, epsilon: f64) -> Result<Self> {
        Ok(PassiveAggressive { variant, epsilon: not_negative("epsilon", epsilon)? })
    }

    /// The shortfall of the margin, and the sign of the correction.
    fn shortfall(&self, stats: &ExampleStats) -> (f64, f64) {
        if stats.regression {
            let residual = stats.label - stats.margin;
            return ((residual.abs() - self.epsilon).max(0.0), residual.signum());
        }
        ((1.0 - stats.label * stats.margin).max(0.0), stats.label)
    }
}

/// The parameters of plain PA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaParameters {
    /// ε: the error that a regression may have without a loss.
    pub epsilon: f64,
}

impl Parameters for PaParameters {
    type Rule = PassiveAggressive;
    const MEETS_LABELS: bool = true;

    fn rule(&self) -> Result<PassiveAggressive> {
        PassiveAggressive::checked(Variant::Pa, self.epsilon)
    }
}

/// The parameters of PA-I.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pa1Parameters {
    /// C, the aggressiveness.
    pub aggressiveness: f64,
    /// ε: the error that a regression may have without a loss.
    pub epsilon: f64,
}

impl Parameters for Pa1Parameters {
    type Rule = PassiveAggressive;
    const MEETS_LABELS: bool = true;

    fn rule(&self) -> Result<PassiveAggressive> {
        let aggressiveness = positive("aggressiveness", self.aggressiveness)?.into();
        PassiveAggressive::checked(Variant::PaI { aggressiveness }, self.epsilon)
    }
}

/// The parameters of PA-II.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pa2Parameters {
    /// C, the aggressiveness.
    pub aggressiveness: f64,
    /// ε: the error that a regression may have without a loss.
    pub epsilon: f64,
}

impl Parameters for Pa2Parameters {
    type Rule = PassiveAggressive;
    const MEETS_LABELS: bool = true;

    fn rule(&self) -> Result<PassiveAggressive> {
        let aggressiveness = positive("aggressiveness", self.aggressiveness)?.into();
        PassiveAggressive::checked(Variant::PaII { aggressiveness }, self.epsilon)
    }
}

impl Rule for PassiveAggressive {
    type Slot = Slot;
    type Shared = ();
    const COUPLED: bool = true;
    const BOUNDED: bool = false;
    const MERGES: Merges = Merges::Average;

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
        let shift = step.rate * value;
        if shift != 0.0 {
            slot.weight = Interval::EVERYWHERE.clip(dither.add(slot.weight, shift));
        }
        0.0
    }

    fn step(&self, _shared: &mut (), stats: &ExampleStats) -> Step {
        let (missing, direction) = self.shortfall(stats);
        if missing == 0.0 || stats.square_norm == 0.0 || stats.importance == 0.0 {
            return Step::default();
        }
        let size = match self.variant {
            Variant::Pa => missing / stats.square_norm,
            Variant::PaI { aggressiveness } => {
                (missing / stats.square_norm).min(aggressiveness * stats.importance)
            }
            Variant::PaII { aggressiveness } => {
                missing / (stats.square_norm + 0.5 / (aggressiveness * stats.importance))
            }
        };
        Step::new(direction * size, 0.0)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        let weights = shards.iter().map(|shard| f64::from(shard.weight));
        let weight = merging.sum_or_mean(start.weight.into(), weights);
        Slot { weight: narrowed(weight, Interval::EVERYWHERE) }
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        let weight = f64::from(slot.weight) * unit.weight;
        Slot { weight: narrowed(weight, Interval::EVERYWHERE) }
    }
}
