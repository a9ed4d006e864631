//! Access to a learner that threads share. Nobody waits for its lock with the GIL.

use lessregret_core as core;
use pyo3::prelude::*;

use crate::learner::Learner;

impl Learner {
    /// Call a function that is over soon with the learner.
    pub fn look<T: Send>(
        &self,
        py: Python<'_>,
        look: impl Fn(&core::Learner) -> T + Send + Sync,
    ) -> T {
        self.0.try_look(&look).unwrap_or_else(|| py.detach(|| self.0.look(&look)))
    }

    /// Call a function that takes long with the learner.
    pub fn examine<T: Send>(
        &self,
        py: Python<'_>,
        examine: impl FnOnce(&core::Learner) -> T + Send,
    ) -> T {
        py.detach(|| self.0.examine(examine))
    }

    /// Call a function with the learner, which nobody else sees meanwhile.
    pub fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut core::Learner) -> T + Send,
    ) -> T {
        py.detach(|| self.0.change(change))
    }
}

impl From<core::Learner> for Learner {
    fn from(learner: core::Learner) -> Self {
        Learner(learner.into())
    }
}
