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
//! For regression L = max(0, |y − w·x| − ε) and the sign of y − w·x stands for y. |x|² counts the
//! intercept; without it PA would overshoot its own constraint.

use super::{Interval, Rule, Sight, Step, slot};

slot! {
    /// weight w.
    Slot {
        /// w
        weight
    }
}

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    /// Meets the margin at any price.
    Pa,
    /// Steps of at most C.
    PaI {
        /// C
        aggressiveness: f64,
    },
    /// Pays for the square of its step.
    PaII {
        /// C
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
    /// The rule; `epsilon` is how far off a regression may be for free.
    pub fn new(variant: Variant, epsilon: f64) -> Self {
        PassiveAggressive { variant, epsilon }
    }

    /// How much of the margin is missing, and in which direction.
    fn shortfall(&self, sight: &Sight) -> (f64, f64) {
        if sight.regression {
            let residual = sight.label - sight.margin;
            return ((residual.abs() - self.epsilon).max(0.0), residual.signum());
        }
        ((1.0 - sight.label * sight.margin).max(0.0), sight.label)
    }
}

impl Rule for PassiveAggressive {
    type Slot = Slot;
    type Shared = ();
    const COUPLED: bool = true;
    const BOUNDED: bool = false;

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        slot.weight
    }

    #[inline]
    fn absorb(&self, slot: &mut Slot, value: f32, _gradient: f32, step: Step) {
        slot.weight = Interval::EVERYWHERE.clip(slot.weight + step.rate * value);
    }

    fn step(&self, _shared: &mut (), sight: &Sight) -> Step {
        let (missing, direction) = self.shortfall(sight);
        if missing == 0.0 || sight.square_norm == 0.0 || sight.importance == 0.0 {
            return Step::default();
        }
        let size = match self.variant {
            Variant::Pa => missing / sight.square_norm,
            Variant::PaI { aggressiveness } => {
                (missing / sight.square_norm).min(aggressiveness * sight.importance)
            }
            Variant::PaII { aggressiveness } => {
                missing / (sight.square_norm + 0.5 / (aggressiveness * sight.importance))
            }
        };
        Step::new(direction * size, 0.0)
    }
}
