//! Gradient descent with a rate for each coordinate, for gradients that come late.
//!
//! ```text
//! Plays     w ← clip(w − η g + (η_old − η) b),   η = rate/√z',  b = ḡ − ḡ_old, what was absorbed since the play
//! Slot      weight, energy, largest, sum
//!           z = (offset x)² + Σ g (g + 2b),  z' the largest z so far,  ḡ = Σ g
//! Regret    with no delay that of per-coordinate; with delays see the paper
//! Source    McMahan & Streeter 2014, AdaptiveRevision
//! Departs   clips to an interval; the offset of per-coordinate in place of a first z of 1
//! ```
//!
//! Where every gradient is absorbed at once, b is 0, and the rule plays what per-coordinate plays, bit for bit.
//! Late gradients come through `learn/single/late.rs`.
//!
//! There is no rate "auto": lanes are mixed by the losses of their margins, and no proof is known of a mixture
//! whose losses come late.

use serde::{Deserialize, Serialize};

use super::{
    Dither, Ends, Interval, Parameters, Rate, RateSpec, Rule, Step, interval, not_negative, slot,
    square,
};
use crate::error::{Error, Result};

slot! {
    /// The weight, the energy and its largest value, and the sum of the gradients.
    Slot {
        /// w
        weight,
        /// z = (offset x)² + Σ g (g + 2b)
        energy,
        /// z', the largest z so far
        largest,
        /// ḡ = Σ g
        sum
    }
}

/// Gradient descent with a rate for each coordinate, for gradients that come late.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveRevision {
    rate: Rate,
    number: f32,
    offset: f32,
    interval: Interval,
}

impl AdaptiveRevision {
    /// The rule on `[low, high]`.
    pub fn new(rate: Rate, offset: f32, interval: Interval) -> Self {
        AdaptiveRevision { rate, number: rate.number(interval), offset, interval }
    }

    /// η = rate/√z'; 0 if z' is 0.
    #[inline]
    fn rate_at(&self, largest: f32) -> f32 {
        let rate = self.number / largest.sqrt();
        if largest > 0.0 { rate } else { 0.0 }
    }

    /// Absorb the gradient of a round since which the gradients `late` were absorbed; returns the rate η.
    #[inline]
    fn absorb_late(
        &self,
        slot: &mut Slot,
        value: f32,
        gradient: f32,
        late: f32,
        dither: Dither,
    ) -> f32 {
        if gradient == 0.0 {
            return self.rate_at(slot.largest);
        }
        let start = self.offset * value;
        let (energy, largest) = match slot.largest > 0.0 {
            true => (slot.energy, slot.largest),
            false => (start * start, start * start),
        };
        let energy = match late == 0.0 {
            true => dither.grow(energy, square(gradient)),
            false => revised(energy, gradient, late, dither),
        };
        let raised = if energy > largest { energy } else { largest };
        let (before, rate) = (self.rate_at(largest), self.rate_at(raised));
        let mut weight =
            self.interval.descend(self.interval.clip(slot.weight), rate, gradient, dither);
        let back = (before - rate) * late;
        if back != 0.0 {
            weight = self.interval.clip(dither.add(weight, back));
        }
        // Finite, so that no difference of two sums is NaN.
        let sum = dither.add(slot.sum, gradient).clamp(f32::MIN, f32::MAX);
        *slot = Slot { weight, energy, largest: raised, sum };
        rate
    }
}

/// z + g (g + 2b), which stays finite.
#[inline]
fn revised(energy: f32, gradient: f32, late: f32, dither: Dither) -> f32 {
    let term = square(gradient) + 2.0 * gradient * late;
    let sum = if term != 0.0 { dither.add(energy, term) } else { energy };
    sum.clamp(f32::MIN, f32::MAX)
}

/// The parameters of [`AdaptiveRevision`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveRevisionParameters {
    /// The rate: a number or "theory".
    pub rate: RateSpec,
    /// The first z, as a multiple of the first value, squared.
    pub offset: f64,
    /// R of the box `[-R, R]`.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

impl Parameters for AdaptiveRevisionParameters {
    type Rule = AdaptiveRevision;

    fn rule(&self) -> Result<AdaptiveRevision> {
        if self.rate.is_auto() {
            let cure = "give a number or \"theory\"";
            return Err(Error::Spec(format!(
                "rule 'adaptive-revision' has no rate \"auto\"; {cure}"
            )));
        }
        let offset = not_negative("offset", self.offset)? as f32;
        let interval = interval(self.radius, self.r#box)?;
        Ok(AdaptiveRevision::new(self.rate.rate()?, offset, interval))
    }
}

impl Rule for AdaptiveRevision {
    type Slot = Slot;
    type Shared = ();
    const DESCENDS: bool = true;
    const REVISES: bool = true;

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        AdaptiveRevision::new(self.rate, self.offset, interval)
    }

    #[inline]
    fn at(self, rate: f32) -> Self {
        AdaptiveRevision { rate: Rate::Number(rate), number: rate, ..self }
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
        self.absorb_late(slot, value, gradient, 0.0, dither)
    }

    #[inline]
    fn reading(&self, slot: &Slot) -> f32 {
        slot.sum
    }

    #[inline]
    fn revise(
        &self,
        slot: &mut Slot,
        value: f32,
        gradient: f32,
        reading: f32,
        dither: Dither,
    ) -> f32 {
        self.absorb_late(slot, value, gradient, slot.sum - reading, dither)
    }

    #[inline]
    fn place(&self, slot: &mut Slot, weight: f64, dither: Dither) {
        let weight = self.interval.narrowed(weight, dither);
        slot.weight = if slot.largest > 0.0 { weight } else { slot.weight };
    }

    #[inline]
    fn spread(&self, slot: &Slot, _step: Step) -> f64 {
        self.interval.spread(self.rate_at(slot.largest))
    }

    fn theorem(&self, slot: &Slot) -> Option<f64> {
        let closed = self.interval.width() * (2.0 * f64::from(slot.largest)).sqrt();
        (self.offset == 0.0).then_some(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::per_coordinate::PerCoordinate;

    const BOX: Interval = Interval { low: -2.0, high: 2.0 };

    #[test]
    fn without_delay_it_is_per_coordinate_bit_for_bit() {
        let late = AdaptiveRevision::new(Rate::Number(0.3), 0.5, BOX);
        let plain = PerCoordinate::new(Rate::Number(0.3), 0.5, BOX);
        let (mut slot, mut other) = (Slot::default(), Default::default());
        for round in 1..1000 {
            let gradient = (round as f32 * 0.7).sin() - 0.2;
            let dither = Dither::new(round);
            let rates = (
                late.absorb(&mut slot, 1.5, gradient, Step::default(), dither),
                plain.absorb(&mut other, 1.5, gradient, Step::default(), dither),
            );
            assert_eq!(rates.0.to_bits(), rates.1.to_bits());
            let weights = (late.weight(&slot, 1.5), plain.weight(&other, 1.5));
            assert_eq!(weights.0.to_bits(), weights.1.to_bits());
            assert_eq!(slot.energy.to_bits(), other.energy.to_bits());
        }
    }

    /// The numbers are those of `tests/laws/test_adaptive_revision.py`, computed by the readable twin.
    #[test]
    fn a_late_gradient_is_that_of_the_readable_twin() {
        let rule = AdaptiveRevision::new(Rate::Number(0.5), 0.0, BOX);
        let mut slot = Slot::default();
        for (round, (gradient, reading)) in
            [(1.0, 0.0), (0.5, 0.0), (-0.75, 0.0), (0.25, 1.5)].into_iter().enumerate()
        {
            rule.revise(&mut slot, 1.0, gradient, reading, Dither::new(round as u64 + 1));
        }
        let found = [slot.weight, slot.energy, slot.largest, slot.sum];
        let expected = [-1.0 / 3.0, 0.25, 2.25, 1.0];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{slot:?}");
        }
    }
}
