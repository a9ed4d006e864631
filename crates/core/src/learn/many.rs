//! Many learners on the same examples: parse once, learn many times.
//!
//! The learners are independent, so they may run in any order on any thread. Each result is bit-identical to
//! that of the learner alone. Cost: that of the learners, divided by the number of threads.

use std::thread::ScopedJoinHandle;

use crate::error::Result;

/// Do the work of every learner, in parallel.
pub fn in_parallel<L: Sync>(learners: &[L], learn: impl Fn(&L) -> Result<()> + Sync) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let share = learners.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = learners
            .chunks(share)
            .map(|some| scope.spawn(|| some.iter().try_for_each(&learn)))
            .collect();
        // A panic in a worker is propagated: a learner that stopped halfway must not count as finished.
        let finished = |worker: ScopedJoinHandle<'_, Result<()>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().try_for_each(finished)
    })
}
