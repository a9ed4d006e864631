//! A learner that many threads share: any number of them look at it while one learns.
//!
//! ```text
//! predict     look ─ look ─ look ─        ─ look ─ look ─
//! learn       read chunk ─────────▶ change        read chunk ──▶ …
//! save        queue ─▶ look ──────────────
//! ```
//!
//! Two locks. `learner` is fair: who wants to look waits for at most one change, and who wants to change it for
//! those who look already. `queue` is for all that take long: learners, and whoever copies the slots. They wait for
//! each other here, so that a change never waits for a copy: those who come to look later would wait with it.
//! Nobody who holds a lock of these waits for Python.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{self, PoisonError};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

use super::access::{Change, Look};
use super::learner::Learner;
use super::outcomes::{Explained, Outcomes};
use super::source::{Checked, Source};
use super::{learning, predicting};
use crate::error::Result;
use crate::example::{Chunk, Ordered, Requirements};
use crate::learn::many;
use crate::metrics::Metrics;

/// A learner for many threads.
pub struct SharedLearner {
    learner: RwLock<Learner>,
    requirements: Requirements,
    plain_bits: Option<u32>,
    queue: Mutex<()>,
    /// How many more batches are to be short, because somebody who wanted to look had to wait.
    short: AtomicU32,
}

/// For how many batches learning stays polite after somebody had to wait: some tenths of a second. Who looks once
/// looks again, and should not find a long batch then.
const POLITE: u32 = 4096;

impl SharedLearner {
    /// Play and absorb the examples, as [`Learner::learn`] does.
    pub fn learn(&self, source: Source<'_>) -> Result<Outcomes> {
        learning::learn(self, source)
    }

    /// Predict the examples and learn nothing.
    pub fn predict(&self, source: Source<'_>) -> Result<Outcomes> {
        predicting::predict(self, source)
    }

    /// What each feature of the examples gives to their predictions. Learns nothing.
    pub fn explain(&self, source: Source<'_>) -> Result<Explained> {
        predicting::explain(self, source)
    }

    /// Call a function that is over soon with the learner.
    pub fn look<T>(&self, look: impl FnOnce(&Learner) -> T) -> T {
        let learner = self.learner.try_read().unwrap_or_else(|| {
            self.short.store(POLITE, Ordering::Relaxed);
            self.learner.read()
        });
        look(&learner)
    }

    /// Call a function that is over soon with the learner, unless that would mean to wait.
    pub fn try_look<T>(&self, look: impl FnOnce(&Learner) -> T) -> Option<T> {
        self.learner.try_read().map(|learner| look(&learner))
    }

    /// Call a function that takes long with the learner. Learning waits for it, predicting does not.
    pub fn examine<T>(&self, examine: impl FnOnce(&Learner) -> T) -> T {
        let queue = self.queue.lock();
        let examined = self.look(examine);
        MutexGuard::unlock_fair(queue);
        examined
    }

    /// Call a function that takes long with many learners, of which some may be the same.
    pub fn examine_all<T>(learners: &[&Self], examine: impl FnOnce(&[&Learner]) -> T) -> T {
        // In the order of their addresses: two calls with the same learners cannot wait for each other.
        let mut different: Vec<&Self> = learners.to_vec();
        different.sort_by_key(|learner| std::ptr::from_ref(*learner) as usize);
        different.dedup_by_key(|learner| std::ptr::from_ref(*learner) as usize);
        let _queues: Vec<_> = different.iter().map(|learner| learner.queue.lock()).collect();
        // Nobody can want to change them now, so the same lock may be read twice.
        let guards: Vec<_> = learners.iter().map(|learner| learner.learner.read()).collect();
        let seen: Vec<&Learner> = guards.iter().map(|guard| &**guard).collect();
        examine(&seen)
    }

    /// What the learner requires of examples, without an index. It never changes.
    pub fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// The bits of the table, if a name is hashed as it is: no columns, no namespaces.
    pub fn plain_bits(&self) -> Option<u32> {
        self.plain_bits
    }

    /// Call a function with the learner alone, unless that would mean to wait.
    pub fn try_change<T>(&self, change: impl FnOnce(&mut Learner) -> T) -> Option<T> {
        let (queue, mut learner) = (self.queue.try_lock()?, self.learner.try_write()?);
        let changed = change(&mut learner);
        RwLockWriteGuard::unlock_fair(learner);
        MutexGuard::unlock_fair(queue);
        Some(changed)
    }

    /// Call a function with the learner, which nobody else sees meanwhile.
    pub fn change<T>(&self, change: impl FnOnce(&mut Learner) -> T) -> T {
        let queue = self.queue.lock();
        let mut learner = self.learner.write();
        let changed = change(&mut learner);
        // Those who wait come first, although this thread is awake and they are not.
        RwLockWriteGuard::unlock_fair(learner);
        MutexGuard::unlock_fair(queue);
        changed
    }
}

impl From<Learner> for SharedLearner {
    fn from(learner: Learner) -> Self {
        let (requirements, space) = (learner.requirements(), learner.space());
        let has_names = space.namespaces.is_none() && space.schema.is_none();
        // One by one, a learner returns one margin.
        let has_names = has_names && learner.classes().is_none();
        let plain_bits = if has_names { space.bits().ok() } else { None };
        let (learner, queue) = (RwLock::new(learner), Mutex::new(()));
        let short = AtomicU32::new(0);
        SharedLearner { learner, requirements, plain_bits, queue, short }
    }
}

impl Look for SharedLearner {
    fn look<T>(&self, look: impl FnOnce(&Learner) -> T) -> T {
        self.look(look)
    }
}

impl Change for SharedLearner {
    fn change<T>(&self, change: impl FnOnce(&mut Learner) -> T) -> T {
        self.change(change)
    }

    fn is_waited_for(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.short.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// Let many learners learn from the same examples; returns the number of examples.
///
/// Examples are read once. The state of each learner is bit-identical to that of a run alone. No learner may be
/// given twice. The rounds of each learner are added to its metrics, if there are any.
pub fn learn_many(
    learners: &[&SharedLearner],
    metrics: &[&sync::Mutex<Metrics>],
    source: Source<'_>,
) -> Result<usize> {
    let Some(first) = learners.first() else {
        return Ok(0);
    };
    let space = first.look(|learner| learner.space().clone());
    for learner in learners {
        learner.change(|learner| learner.model.learner().map(|_| ()))?;
        learner.look(|learner| source.check_space(learner.space()))?;
    }
    let zeros = learners.iter().any(|learner| requires_zeros(learner));
    let requirements = Requirements { intercept: space.intercept_slot(), zeros, index: None };
    let mut chunk = Chunk::for_requirements(requirements);
    match source.check_learnable(&space)? {
        Checked::Stream(stream, limit) => {
            let mut count = 0;
            while stream.fill(&mut chunk, limit.unwrap_or(usize::MAX))? > 0 {
                count += learn_chunk(learners, metrics, &chunk)?;
                stream.check_interrupt()?;
                if limit.is_some() {
                    break;
                }
            }
            Ok(count)
        }
        Checked::Memory(examples, order) => {
            let ordered = |zeros| examples.ordered(order, zeros);
            learn_all(learners, metrics, ordered(true)?, ordered(false)?)
        }
        Checked::Rows(rows) => {
            rows.chunks(0..rows.len(), &mut chunk, |chunk| {
                learn_chunk(learners, metrics, chunk).map(|_| ())
            })?;
            Ok(rows.len())
        }
    }
}

fn requires_zeros(learner: &SharedLearner) -> bool {
    learner.look(|learner| learner.requirements().zeros)
}

fn learn_chunk(
    learners: &[&SharedLearner],
    metrics: &[&sync::Mutex<Metrics>],
    chunk: &Chunk,
) -> Result<usize> {
    let differ = learners.iter().any(|learner| !requires_zeros(learner));
    if !(chunk.is_any_zero() && differ) {
        return learn_all(learners, metrics, chunk.into(), chunk.into());
    }
    let mut without = chunk.clone();
    without.drop_all_zeros();
    learn_all(learners, metrics, chunk.into(), (&without).into())
}

/// Let every learner learn from the examples with zeros or without, as it requires.
fn learn_all(
    learners: &[&SharedLearner],
    metrics: &[&sync::Mutex<Metrics>],
    with_zeros: Ordered<'_>,
    without: Ordered<'_>,
) -> Result<usize> {
    let numbered: Vec<_> = learners.iter().enumerate().collect();
    many::in_parallel(&numbered, |&(k, learner)| {
        let examples = if requires_zeros(learner) { with_zeros } else { without };
        let mut outcomes = Outcomes::default();
        learner
            .change(|learner| learner.model.learner()?.learn(examples, &mut outcomes.margins))?;
        if let Some(metrics) = metrics.get(k) {
            outcomes.note(examples);
            let metrics = metrics.lock();
            metrics.unwrap_or_else(PoisonError::into_inner).add(outcomes.played());
        }
        Ok(())
    })?;
    Ok(without.len())
}
