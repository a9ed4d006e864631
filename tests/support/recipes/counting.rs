//! Gradient descent with a rate that falls with the number of gradients.
//!
//! ```text
//! Plays     w ← clip(w − η g),  η = rate/steps
//! Slot      weight, steps           steps of the gradients, this round's included
//! Regret    none stated
//! Source    a toy, to show how a rule is added
//! Departs   nowhere
//! ```

use serde::{Deserialize, Serialize};

use super::{Dither, Ends, Interval, Parameters, Rule, Step, interval, positive, slot};
use crate::error::Result;

slot! {
    /// weight w, and how many gradients came.
    Slot {
        /// w
        weight,
        /// how many gradients came
        steps
    }
}

/// Gradient descent with a rate that falls with the number of gradients.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    rate: f32,
    interval: Interval,
}

/// The parameters of [`Counting`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountingParameters {
    /// The rate of the first gradient.
    pub rate: f64,
    /// R of the box [-R, R].
    pub radius: f64,
    /// Another box in its place.
    pub r#box: Ends,
}

impl Parameters for CountingParameters {
    type Rule = Counting;

    fn rule(&self) -> Result<Counting> {
        let rate = positive("rate", self.rate)?;
        Ok(Counting { rate, interval: interval(self.radius, self.r#box)? })
    }
}

impl Rule for Counting {
    type Slot = Slot;
    type Shared = ();

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        Counting { interval, ..self }
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
        let steps = dither.grow(slot.steps, 1.0);
        let rate = self.rate / steps;
        let weight = self.interval.descend(self.weight(slot, value), rate, gradient, dither);
        *slot = Slot { weight, steps };
        rate
    }

    fn spread(&self, slot: &Slot, _step: Step) -> f64 {
        self.interval.spread(self.rate / slot.steps)
    }
}
