//! Weights that do not learn, for slim models.
//!
//! ```text
//! Plays     w
//! Slot      weight
//! ```

use crate::rule::{Rule, Step, WeightOnly as Slot};

/// Weights that do not learn.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

impl Rule for Fixed {
    type Slot = Slot;
    type Shared = ();
    const BOUNDED: bool = false;
    const LEARNS: bool = false;

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        slot.weight
    }

    fn absorb(&self, _slot: &mut Slot, _value: f32, _gradient: f32, _step: Step) {}
}
