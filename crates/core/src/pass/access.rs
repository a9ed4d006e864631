//! Access to a learner that may be shared: to look at it, or to change it for the time of a batch.

use std::cell::RefCell;

use super::learner::Learner;
use crate::learn::tally::BATCH;

/// A learner to look at. What it looks like between two calls may differ.
pub(super) trait Look {
    /// Call a function with the learner, which does not change meanwhile.
    fn look<T>(&self, look: impl FnOnce(&Learner) -> T) -> T;
}

/// A learner to change.
pub(super) trait Change: Look {
    /// Call a function with the learner, which nobody else sees meanwhile.
    fn change<T>(&self, change: impl FnOnce(&mut Learner) -> T) -> T;

    /// Whether somebody may wait to look at the learner, so that the next change must not be long. Asked once for
    /// each change.
    fn is_waited_for(&self) -> bool;

    /// The most examples to learn in one call of [`Change::change`].
    fn most_rounds(&self) -> usize {
        if self.is_waited_for() { BATCH } else { usize::MAX }
    }
}

/// A learner that nobody else has.
pub(super) struct Alone<'a>(RefCell<&'a mut Learner>);

impl<'a> Alone<'a> {
    pub fn new(learner: &'a mut Learner) -> Self {
        Alone(RefCell::new(learner))
    }
}

impl Look for Alone<'_> {
    fn look<T>(&self, look: impl FnOnce(&Learner) -> T) -> T {
        look(&self.0.borrow())
    }
}

impl Change for Alone<'_> {
    fn change<T>(&self, change: impl FnOnce(&mut Learner) -> T) -> T {
        change(&mut self.0.borrow_mut())
    }

    fn is_waited_for(&self) -> bool {
        false
    }
}
