//! Gradient descent with one fixed rate.
//!
//! ```text
//! Plays     w ← clip(w − η g),  η = rate
//! Slot      weight, seen            seen = 1 once a gradient came
//! Regret    Σ_i [D_i²/(2η) + ½ η Σ g²]: Zinkevich 2003, the paper's equation (2)
//! Source    the paper, equation (1), §2.2
//! Departs   nowhere
//! ```

use serde::{Deserialize, Serialize};

use super::{
    Dither, Ends, Interval, Merges, Merging, NewUnit, Parameters, Rule, Step, interval, narrowed,
    positive, slot,
};
use crate::error::Result;

slot! {
    /// The weight w, and whether there was a gradient.
    Slot {
        /// w
        weight,
        /// 1 after the first gradient, 0 before
        seen
    }
}

impl Slot {
    /// The slot in another unit of the values.
    pub(super) fn in_unit(&self, unit: NewUnit) -> Self {
        let weight = f64::from(self.weight) * unit.weight;
        Slot { weight: narrowed(weight, Interval::EVERYWHERE), ..*self }
    }
}

/// The average of slots that went on from one.
pub(super) fn averaged(start: &Slot, shards: &[Slot], merging: &Merging, within: Interval) -> Slot {
    let weight = |slot: &Slot| f64::from(within.clip(slot.weight));
    let mean = merging.sum_or_mean(weight(start), shards.iter().map(weight));
    let seen = shards.iter().fold(start.seen, |seen, shard| seen.max(shard.seen));
    Slot { weight: narrowed(mean, within), seen }
}

/// Gradient descent with one fixed rate.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    rate: f32,
    interval: Interval,
}

/// The parameters of [`Constant`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantParameters {
    /// The learning rate.
    pub rate: f64,
    /// R of the box `[-R, R]`.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

impl Parameters for ConstantParameters {
    type Rule = Constant;

    fn rule(&self) -> Result<Constant> {
        let rate = positive("rate", self.rate)?;
        Ok(Constant { rate, interval: interval(self.radius, self.r#box)? })
    }
}

impl Rule for Constant {
    type Slot = Slot;
    type Shared = ();
    const DESCENDS: bool = true;
    const MERGES: Merges = Merges::Average;

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        Constant { interval, ..self }
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
        _step: Step,
        dither: Dither,
    ) -> f32 {
        let weight = self.weight(slot, value);
        slot.weight = self.interval.descend(weight, self.rate, gradient, dither);
        slot.seen = 1.0;
        self.rate
    }

    #[inline]
    fn place(&self, slot: &mut Slot, weight: f64, dither: Dither) {
        slot.weight = self.interval.narrowed(weight, dither);
    }

    #[inline]
    fn spread(&self, _slot: &Slot, _step: Step) -> f64 {
        self.interval.spread(self.rate)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        averaged(start, shards, merging, self.interval)
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        slot.in_unit(unit)
    }
}
