//! How long a random slot takes to change, and how long the learner takes for a feature there.
//!
//! ```text
//! random_update BITS FEATURES EXAMPLES REPEATS
//! ```
//!
//! The limit is the least that any learner must do: read, change and write one random slot for every
//! feature, in arrays laid out as the learner's, one lane (8 bytes) or eight (64 bytes). Nothing in its
//! loop waits for anything, so the processor may have many misses under way. Limit and learner take
//! turns on the same chunk; memory is touched before the clock starts.
//!
//! Prints one JSON document a line: lanes, what, nanoseconds for a feature.

mod seeded;

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use lessregret_core::Chunk;
use lessregret_core::rule::Line as _;
use lessregret_core::rule::per_coordinate::{Line, Slot};
use seeded::{Outcome, learner, random_chunk};

const SEED: u64 = 2;

fn main() -> Outcome<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let &[bits, features, examples, repeats] = arguments.as_slice() else {
        return Err("expected BITS FEATURES EXAMPLES REPEATS".into());
    };
    let chunk = random_chunk(bits as u32, examples, features, SEED);
    one_lane(bits as u32, &chunk, repeats)?;
    eight_lanes(bits as u32, &chunk, repeats)
}

fn one_lane(bits: u32, chunk: &Chunk, repeats: usize) -> Outcome<()> {
    let mut slots = vec![Slot { weight: 1.0, energy: 1.0 }; 1 << bits];
    compare(1, "0.1", bits, chunk, repeats, |slot| slots[slot].weight += 1.0)?;
    black_box(slots);
    Ok(())
}

fn eight_lanes(bits: u32, chunk: &Chunk, repeats: usize) -> Outcome<()> {
    let mut touched = Line::default();
    touched.put(0, Slot { weight: 1.0, energy: 1.0 });
    let mut lines = vec![touched; 1 << bits];
    let update = |slot: usize| {
        let mut state = lines[slot].get(0);
        state.weight += 1.0;
        lines[slot].put(0, state);
    };
    compare(8, "\"auto\"", bits, chunk, repeats, update)?;
    black_box(lines);
    Ok(())
}

/// Limit and learner by turns, once more than asked for: the first turn is not told.
fn compare(
    lanes: usize,
    rate: &str,
    bits: u32,
    chunk: &Chunk,
    repeats: usize,
    mut update: impl FnMut(usize),
) -> Outcome<()> {
    let mut model = learner(bits, rate)?;
    let mut margins = Vec::new();
    for turn in 0..=repeats {
        let limit = nanoseconds(chunk, || {
            for example in chunk.examples() {
                example.slots.iter().for_each(|&slot| update(slot as usize));
            }
            Ok(())
        })?;
        margins.clear();
        let learned = nanoseconds(chunk, || Ok(model.learn(chunk.into(), &mut margins)?))?;
        if turn > 0 {
            tell(lanes, "limit", limit)?;
            tell(lanes, "learn", learned)?;
        }
    }
    Ok(())
}

/// The time that `work` takes for each feature of the chunk.
fn nanoseconds(chunk: &Chunk, work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64() * 1e9 / chunk.features() as f64)
}

fn tell(lanes: usize, what: &str, nanoseconds: f64) -> Outcome<()> {
    let line =
        format!(r#"{{"lanes": {lanes}, "what": "{what}", "nanoseconds": {nanoseconds:.3}}}"#);
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
