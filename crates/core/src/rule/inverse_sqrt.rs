//! Gradient descent with a rate that falls with the square root of the round.
//!
//! ```text
//! Plays     w ← clip(w − η_t g),  η_t = rate/√t
//! Slot      weight, seen            seen = 1 once a gradient came
//! Regret    Σ_i [D_i²/(2η_T) + ½ Σ_t η_t g²]: Zinkevich 2003, the paper's equation (2)
//! Source    Zinkevich 2003, Theorem 1
//! Departs   nowhere; t counts all rounds, whichever coordinates they touch
//! ```

use serde::{Deserialize, Serialize};

use super::constant::{Slot, averaged};
use super::{
    Dither, Ends, ExampleStats, Interval, Merges, Merging, NewUnit, Parameters, Rule, Step,
    interval, positive,
};
use crate::error::Result;

/// Gradient descent with a rate that falls with the square root of the round.
#[derive(Clone, Copy, Debug)]
pub struct InverseSqrt {
    rate: f32,
    interval: Interval,
}

/// The parameters of [`InverseSqrt`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InverseSqrtParameters {
    /// The learning rate of the first round.
    pub rate: f64,
    /// R of the box `[-R, R]`.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

impl Parameters for InverseSqrtParameters {
    type Rule = InverseSqrt;

    fn rule(&self) -> Result<InverseSqrt> {
        let rate = positive("rate", self.rate)?;
        Ok(InverseSqrt { rate, interval: interval(self.radius, self.r#box)? })
    }
}

impl Rule for InverseSqrt {
    type Slot = Slot;
    type Shared = ();
    const COUPLED: bool = true;
    const DESCENDS: bool = true;
    const MERGES: Merges = Merges::Average;

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        InverseSqrt { interval, ..self }
    }

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        self.interval.clip(slot.weight)
    }

    #[inline]
    fn absorb(
        &self,
        slot: &mut Slot,
        value: f32,
        gradient: f32,
        step: Step,
        dither: Dither,
    ) -> f32 {
        if gradient == 0.0 {
            return step.rate;
        }
        let weight = self.weight(slot, value);
        slot.weight = self.interval.descend(weight, step.rate, gradient, dither);
        slot.seen = 1.0;
        step.rate
    }

    #[inline]
    fn place(&self, slot: &mut Slot, weight: f64, dither: Dither) {
        slot.weight = self.interval.narrowed(weight, dither);
    }

    #[inline]
    fn spread(&self, _slot: &Slot, step: Step) -> f64 {
        self.interval.spread(step.rate)
    }

    fn step(&self, _shared: &mut (), stats: &ExampleStats) -> Step {
        Step::new(f64::from(self.rate) / (stats.round as f64).sqrt(), 0.0)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        averaged(start, shards, merging, self.interval)
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        slot.in_unit(unit)
    }
}
