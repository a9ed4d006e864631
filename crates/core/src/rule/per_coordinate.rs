//! Gradient descent with a rate for each coordinate.
//!
//! ```text
//! Plays     w ← clip(w − η g),  η = rate/√S
//! Slot      weight, energy          S = (offset x)² + Σ g², x the first value, this round's g included
//! Regret    Σ_i D_i √(2 S_i) with rate = D_i/√2 and offset 0: the paper, Theorem 3
//! Source    the paper, Algorithm 1
//! Departs   rate D_i/√2 where the paper prints D_i (erratum E7); starts at clip(0), not 0 (E9);
//!           the offset, which the paper does not have
//! ```

use serde::{Deserialize, Serialize};

use super::{
    Dither, Ends, Heavy, Interval, Merges, Merging, NewUnit, Parameters, Rate, RateSpec, Rule,
    Step, interval, narrowed, narrowed_sum, not_negative, slot, square,
};
use crate::error::Result;

slot! {
    /// The weight w and the energy S.
    Slot {
        /// w
        weight,
        /// S = (offset x)² + Σ g²
        energy
    }
}

/// Gradient descent with a rate for each coordinate.
#[derive(Clone, Copy, Debug)]
pub struct PerCoordinate {
    rate: Rate,
    number: f32,
    offset: f32,
    interval: Interval,
}

impl PerCoordinate {
    /// The rule on `[low, high]`.
    pub fn new(rate: Rate, offset: f32, interval: Interval) -> Self {
        PerCoordinate { rate, number: rate.number(interval), offset, interval }
    }

    /// η = rate/√S; 0 if S is 0.
    #[inline]
    fn rate_at(&self, energy: f32) -> f32 {
        let rate = self.number / energy.sqrt();
        if energy > 0.0 { rate } else { 0.0 }
    }
}

/// The parameters of [`PerCoordinate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerCoordinateParameters {
    /// The rate: a number, "theory" or "auto".
    pub rate: RateSpec,
    /// β, as a multiple of the first value. Model files written before it existed do not contain it.
    #[serde(default)]
    pub offset: f64,
    /// R of the box `[-R, R]`.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

impl Parameters for PerCoordinateParameters {
    type Rule = PerCoordinate;
    const CAN_BE_AUTO: bool = true;

    fn rule(&self) -> Result<PerCoordinate> {
        let offset = not_negative("offset", self.offset)? as f32;
        Ok(PerCoordinate::new(self.rate.rate()?, offset, interval(self.radius, self.r#box)?))
    }

    fn is_auto(&self) -> bool {
        self.rate.is_auto()
    }
}

impl Rule for PerCoordinate {
    type Slot = Slot;
    type Shared = ();
    const DESCENDS: bool = true;
    const COIN_LANE: bool = true;
    const IS_COMMON: bool = true;
    const MERGES: Merges = Merges::Always;

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        PerCoordinate::new(self.rate, self.offset, interval)
    }

    #[inline]
    fn at(self, rate: f32) -> Self {
        PerCoordinate { rate: Rate::Number(rate), number: rate, ..self }
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
        let start = self.offset * value;
        let before = if slot.energy > 0.0 { slot.energy } else { start * start };
        // Without a gradient the energy does not change: a lane may have none when other lanes do. The energy
        // stays finite, because an infinite one would freeze the coordinate for good.
        let energy = dither.grow(before, square(gradient));
        let energy = if gradient != 0.0 { energy } else { slot.energy };
        let rate = self.rate_at(energy);
        let weight = self.interval.descend(self.weight(slot, value), rate, gradient, dither);
        // No early return: only branchless code is vectorised over the lanes.
        let weight = if gradient != 0.0 { weight } else { slot.weight };
        *slot = Slot { weight, energy };
        rate
    }

    #[inline]
    fn place(&self, slot: &mut Slot, weight: f64, dither: Dither) {
        let weight = self.interval.narrowed(weight, dither);
        slot.weight = if slot.energy > 0.0 { weight } else { slot.weight };
    }

    #[inline]
    fn spread(&self, slot: &Slot, _step: Step) -> f64 {
        self.interval.spread(self.rate_at(slot.energy))
    }

    fn theorem(&self, slot: &Slot) -> Option<f64> {
        let closed = self.interval.width() * (2.0 * f64::from(slot.energy)).sqrt();
        (self.offset == 0.0).then_some(closed)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        let energies = shards.iter().map(|shard| f64::from(shard.energy));
        let first = merging.first_energy(self.offset.into(), energies);
        let heavy = |slot: &Slot| Heavy {
            weight: self.weight(slot, 1.0).into(),
            energy: if slot.energy > 0.0 { slot.energy.into() } else { first },
        };
        let shards: Vec<_> = shards.iter().map(heavy).collect();
        let Heavy { weight, energy } = merging.heavy(heavy(start), &shards, self.number.into());
        Slot { weight: narrowed(weight, self.interval), energy: narrowed_sum(energy) }
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        Slot {
            weight: narrowed(f64::from(slot.weight) * unit.weight, Interval::EVERYWHERE),
            energy: narrowed_sum(f64::from(slot.energy) * unit.gradient.powi(2)),
        }
    }
}
