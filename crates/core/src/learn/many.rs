//! Many learners on the same examples: parse once, learn many times.
//!
//! The learners are independent, so they may run in any order on any thread. Each result is bit-identical to
//! that of the learner alone. Cost: that of the learners, divided by the number of threads.

use std::thread::ScopedJoinHandle;

use crate::error::Result;
use crate::example::Ordered;
use crate::learn::model::Model;

/// Let every model learn from the examples, in parallel.
pub fn learn_many(models: &mut [&mut dyn Model], examples: Ordered<'_>) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let share = models.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = models
            .chunks_mut(share)
            .map(|models| scope.spawn(|| learn_one_after_another(models, examples)))
            .collect();
        // A panic in a worker is propagated: a learner that stopped halfway must not count as finished.
        let finished = |worker: ScopedJoinHandle<'_, Result<()>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().try_for_each(finished)
    })
}

fn learn_one_after_another(models: &mut [&mut dyn Model], examples: Ordered<'_>) -> Result<()> {
    let mut margins = Vec::new();
    for model in models {
        margins.clear();
        model.learn(examples, &mut margins)?;
    }
    Ok(())
}
