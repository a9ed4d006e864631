//! The learner in eight lanes: one rule at eight rates, mixed, so that nobody need choose one.
//!
//! One round, for an example (x, y) with importance h:
//!
//! ```text
//! p_k      = Σ_i weight(slot_i,k, x_i) x_i            look, in every lane
//! p        = mixture of the p_k                       play
//! slot_i,k ← absorb(slot_i,k, x_i, h ℓ'(p_k, y) x_i)  for every feature, in every lane
//! ```
//!
//! The lanes share nothing but the example: each plays its own margin and absorbs its own gradient,
//! and holds the bits that a [`Single`](crate::learn::single::Single) at its rate would hold. A
//! coordinate's lanes lie on one cache line, field by field, so a feature costs one miss as with one
//! lane, and the loop over the lanes is vector instructions. With L2 (`penalty.rs`) each lane has its
//! own penalty, and the mixture's is their mean by the shares. Importance-aware updates
//! (`importance.rs`) are each lane's own, in a third walk.

mod mixture;
mod model;
mod observe;
mod round;
mod tallies;

use std::ops::Range;

use crate::alloc::zeroed;
use crate::error::Result;
use crate::example::Scales;
use crate::example::{Example, Ordered};
use crate::learn::dispatch::{Kernel, PlayKernel};
use crate::learn::lanes::observe::{Observer, Round, Rounds};
use crate::learn::model::{Boxes, Plan};
use crate::learn::penalty::{Penalty, WithTouched};
use crate::learn::table::compact::CompactTable;
use crate::learn::tally::BATCH;
use crate::loss::Loss;
use crate::loss::wide::Tails;
use crate::rule::{Rule, Slot, Step};
use crate::simd::Portable;
use crate::simd::f64x8::F64x8;
use crate::simd::{LANES, PerLane};
use mixture::RATES;

type LineOf<R> = <<R as Rule>::Slot as Slot>::Line;

/// A rule run on every coordinate in all lanes.
pub struct Lanes<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    rule: R,
    boxes: B,
    table: CompactTable<LineOf<R>>,
    scales: Scales,
    gradient_sums: Option<Vec<PerLane>>,
    coupling: Coupling<R::Shared>,
    /// Scratch of importance-aware rounds: the rates of every feature, from the second walk to the third.
    rates: Vec<[f32; LANES]>,
    observer: Observer,
}

/// What the coordinates of each lane share.
#[derive(Clone, Copy, Default)]
struct Coupling<S> {
    state: [S; LANES],
    step: [Step; LANES],
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// A learner none of whose slots is touched; the rule's own rate is not used.
    pub fn new(plan: Plan, rule: R, boxes: B) -> Result<Self> {
        let Plan { loss, penalty, importance_aware, fixed_share, scales, slots, certify } = plan;
        let sums = if certify { Some(zeroed(slots)?) } else { None };
        Ok(Lanes {
            loss,
            penalty,
            importance_aware,
            rule,
            boxes,
            table: CompactTable::new(slots)?,
            scales,
            gradient_sums: sums,
            coupling: Coupling::default(),
            rates: Vec::new(),
            observer: Observer::new(loss, penalty.l2 > 0.0).fixed_share(fixed_share),
        })
    }

    /// The rule of a slot in a lane.
    #[inline]
    fn rule_at(&self, slot: usize, lane: usize) -> R {
        self.boxes.rule(self.rule, slot).at(RATES[lane])
    }

    #[inline(always)]
    fn learn_batch<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        examples: Ordered<'_>,
        batch: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { values, positions, rounds } = scratch;
        self.find_lines(examples, batch.clone(), positions);
        let (mut positions, last) = (&positions[..], batch.end - 1);
        let all_plain = self.scales.leave_all(&examples);
        let before = self.observer.tally.rounds + 1 - batch.start as u64;
        for k in batch {
            let Example { label, importance, slots, values: mut scaled } = examples.example(k);
            let (own, others) = positions.split_at(slots.len());
            if k < last {
                self.table.prefetch_all(&others[..examples.example(k + 1).slots.len()]);
            }
            positions = others;
            let plain = all_plain || self.scales.leave(&examples.example(k));
            if !plain {
                scaled = self.scales.prepare(&examples.example(k), values)?.values;
            }
            let seen = Example { label, importance, slots, values: scaled };
            rounds.push(self.round::<E, PENALISED>(simd, before + k as u64, &seen, own)?);
            if !plain {
                self.scales.remember(&examples.example(k));
            }
        }
        Ok(())
    }

    /// Find the lines of some examples, and have those of the first brought near.
    #[inline(always)]
    fn find_lines(&mut self, examples: Ordered<'_>, batch: Range<usize>, positions: &mut Vec<u32>) {
        positions.clear();
        let index = self.table.index();
        for k in batch.clone() {
            match examples.positions(k, index) {
                Some(found) => positions.extend_from_slice(found),
                None => index.meet_all(examples.example(k).slots, positions),
            }
        }
        self.table.commit_memory();
        self.table.prefetch_all(&positions[..examples.example(batch.start).slots.len()]);
    }
}

impl<R: Rule, B: Boxes> PlayKernel for Lanes<R, B> {
    #[inline(always)]
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        let (mut scratch, mut positions) = (Vec::new(), Vec::new());
        let (loss, mixture) = (self.loss, &self.observer.mixture);
        let shares = mixture.shares(loss);
        for k in 0..examples.len() {
            let example = examples.example(k);
            positions.clear();
            // No closure here: it would be compiled for any machine.
            for &slot in example.slots {
                positions.push(self.table.index().find(slot));
            }
            let seen = self.scales.normalise(&example, &mut scratch);
            let look = self.look::<_, false, false>(simd, &seen, &positions);
            let tails = Tails::of(loss, &look.margins);
            margins.push(mixture.margin(loss, &shares, &look.margins, &tails));
        }
    }
}

impl<R: Rule, B: Boxes> Kernel for Lanes<R, B> {
    #[inline(always)]
    fn learn_each<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        examples: Ordered<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        for start in (0..examples.len()).step_by(BATCH) {
            let batch = start..examples.len().min(start + BATCH);
            let taught = self.learn_batch::<E, PENALISED>(simd, examples, batch, &mut scratch);
            self.observer.observe(&mut scratch.rounds, margins);
            taught?;
        }
        Ok(())
    }

    #[inline(never)]
    fn learn_whole(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut scratch) = (WithTouched::default(), Scratch::default());
        for example in examples.examples() {
            let seen = self.scales.prepare(&example, &mut scratch.values)?;
            let touched = self.moved().map(|slot| slot as u32);
            let completed = whole.complete(&seen, touched);
            let number = self.observer.tally.rounds + 1;
            scratch.positions.clear();
            self.table.index().meet_all(completed.slots, &mut scratch.positions);
            self.table.commit_memory();
            let round = self.round::<_, true>(Portable, number, &completed, &scratch.positions)?;
            self.scales.remember(&example);
            scratch.rounds.push(Round { features: example.slots.len(), ..round });
            self.observer.observe(&mut scratch.rounds, margins);
        }
        Ok(())
    }
}

/// Memory that is used again from example to example.
#[derive(Default)]
struct Scratch {
    values: Vec<f32>,
    positions: Vec<u32>,
    rounds: Rounds,
}
