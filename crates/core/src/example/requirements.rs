//! What a learner requires of the examples that it is given.

use std::ptr::addr_eq;
use std::sync::Arc;

use crate::spec::{FeatureSpace, Scale};

/// The properties that a learner requires of examples.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    /// The slot of a feature that every example has, with value 1.
    pub intercept: Option<u32>,
    /// Whether a feature whose value is 0 is a feature. Otherwise it is left out.
    pub zeros: bool,
    /// The index of the learner's lines, if the reader is to look up the positions.
    pub index: Option<Arc<dyn SlotLookup>>,
}

impl Requirements {
    /// What a learner with this feature space requires, without an index.
    pub fn of(space: &FeatureSpace) -> Self {
        let zeros = space.scale == Scale::Standard;
        Requirements { intercept: space.intercept_slot(), zeros, index: None }
    }

    /// Whether examples that satisfy the one also satisfy the other, whatever their index.
    pub fn are_alike(&self, other: &Requirements) -> bool {
        (self.intercept, self.zeros) == (other.intercept, other.zeros)
    }
}

/// The index from slots to the positions of their lines in a learner's table.
///
/// A reader does the lookups in its own thread, so that the learner does not wait for the random reads.
pub trait SlotLookup: std::fmt::Debug + Send + Sync {
    /// Append the position of every slot's line.
    fn look_up(&self, slots: &[u32], positions: &mut Vec<u32>);
}

/// Whether both sides have the same index, or both have none.
pub(super) fn is_same(
    one: Option<&Arc<dyn SlotLookup>>,
    other: Option<&Arc<dyn SlotLookup>>,
) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => addr_eq(Arc::as_ptr(one), Arc::as_ptr(other)),
        (one, other) => one.is_none() && other.is_none(),
    }
}
