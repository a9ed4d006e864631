//! Weights that do not learn, for slim models.
//!
//! ```text
//! Plays     w
//! Slot      weight
//! ```

use super::{Interval, Rule, Step, passive_aggressive::Slot};

/// Weights that do not learn.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

impl Rule for Fixed {
    type Slot = Slot;
    type Shared = ();
    const BOUNDED: bool = false;
    const LEARNS: bool = false;

    fn interval(&self) -> Interval {
        Interval::EVERYWHERE
    }

    fn within(self, _interval: Interval) -> Self {
        self
    }

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        slot.weight
    }

    fn absorb(&self, _slot: &mut Slot, _value: f32, _gradient: f32, _step: Step) {}
}
