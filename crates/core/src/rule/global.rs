//! Gradient descent with one adaptive rate for all coordinates.
//!
//! ```text
//! Plays     w ← clip(w − η_t g),  η_t = √(Σ rate_i²)/√E,  the sum over coordinates met so far
//! Slot      weight, seen            seen = 1 once the feature was met
//! Shared    E = Σ|g|², Σ rate_i², and what the bound needs
//! Regret    D √(2E) with rate_i = D_i/√2 and all coordinates known: the paper, Theorem 2
//! Source    the paper, Theorem 2; D estimated from the attributes seen, §5.1
//! Departs   the bound reported holds though D grows (see below)
//! ```
//!
//! As new coordinates appear D grows and η may rise, and Theorem 2 needs it not to (erratum E15).
//! For any rates at all, Zinkevich's argument gives Σ_i D_i²/2 · [1/η at i's first round + all the
//! later rises of 1/η] + ½ Σ η|g|²; where η never rises that is D²/(2η_T) again.

use serde::{Deserialize, Serialize};

use super::constant::Slot;
use super::{
    Dither, Ends, ExampleStats, Interval, Parameters, Rate, RateSpec, Rule, Step, interval,
};
use crate::error::Result;

/// Gradient descent with one adaptive rate for all coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Global {
    rate: Rate,
    interval: Interval,
}

/// The state that all coordinates share.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// E = Σ|g|².
    energy: f64,
    /// Σ rate_i² over the coordinates met.
    rates: f64,
    /// Σ D_i² over the coordinates met.
    widths: f64,
    /// 1/η of the last round with a step, 0 before.
    inverse: f64,
    /// The sum of all increases of 1/η.
    climb: f64,
    /// Σ_i D_i² (1/η − climb) at i's first round.
    entry: f64,
}

/// The parameters of [`Global`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalParameters {
    /// The rate: a number, "theory" or "auto".
    pub rate: RateSpec,
    /// R of the box `[-R, R]`.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

impl Parameters for GlobalParameters {
    type Rule = Global;
    const CAN_BE_AUTO: bool = true;

    fn rule(&self) -> Result<Global> {
        Ok(Global { rate: self.rate.rate()?, interval: interval(self.radius, self.r#box)? })
    }

    fn is_auto(&self) -> bool {
        self.rate.is_auto()
    }
}

impl Rule for Global {
    type Slot = Slot;
    type Shared = Shared;
    const COUPLED: bool = true;
    const DESCENDS: bool = true;
    const IS_COMMON: bool = true;

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        Global { interval, ..self }
    }

    #[inline]
    fn at(self, rate: f32) -> Self {
        Global { rate: Rate::Number(rate), ..self }
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
        let weight = self.weight(slot, value);
        let moved = self.interval.descend(weight, step.rate, gradient, dither);
        slot.weight = if gradient != 0.0 { moved } else { weight };
        slot.seen = 1.0;
        step.rate
    }

    #[inline]
    fn place(&self, slot: &mut Slot, weight: f64, dither: Dither) {
        slot.weight = self.interval.narrowed(weight, dither);
    }

    #[inline]
    fn look(&self, slot: &Slot, _value: f32, stats: &mut ExampleStats) {
        if slot.seen == 0.0 {
            stats.newcomer_rates += f64::from(self.rate.number(self.interval)).powi(2);
            stats.newcomer_widths += self.interval.width().powi(2);
        }
    }

    fn step(&self, shared: &mut Shared, stats: &ExampleStats) -> Step {
        shared.energy += stats.square_gradient();
        shared.rates += stats.newcomer_rates;
        shared.widths += stats.newcomer_widths;
        if shared.energy == 0.0 {
            return Step::default();
        }
        // A rate that is 0 in float32 would have an infinite inverse, which no model file can hold.
        let rate = (shared.rates / shared.energy).sqrt().max(f64::from(f32::MIN_POSITIVE));
        let step = Step::new(rate, 0.0);
        let inverse = 1.0 / f64::from(step.rate);
        shared.climb += (inverse - shared.inverse).max(0.0);
        shared.inverse = inverse;
        shared.entry += stats.newcomer_widths * (inverse - shared.climb);
        step
    }

    fn spread(&self, _slot: &Slot, _step: Step) -> f64 {
        0.0
    }

    fn shared_spread(&self, shared: &Shared) -> f64 {
        (shared.entry + shared.widths * shared.climb) / 2.0
    }

    fn shared_theorem(&self, shared: &Shared) -> Option<f64> {
        Some((2.0 * shared.widths * shared.energy).sqrt())
    }
}
