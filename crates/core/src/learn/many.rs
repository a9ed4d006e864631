//! Many learners on the same examples: parse once, learn many.
//!
//! The learners do not talk, so they may run in any order on any thread; each gives the bits it
//! would give alone. Cost: the learners' own, divided by the threads.

use std::thread::ScopedJoinHandle;

use crate::error::Result;
use crate::example::Ordered;
use crate::learn::model::Model;

/// Let every model learn from the examples.
pub fn learn_many(models: &mut [&mut dyn Model], examples: Ordered<'_>) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let share = models.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = models
            .chunks_mut(share)
            .map(|models| scope.spawn(|| learn_one_after_another(models, examples)))
            .collect();
        // A worker's panic is ours: a learner taught by half must not count as done.
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
