//! The learner with lanes: one rule in several lanes, each at its own rate, mixed with a stack of them, so that no
//! rate has to be chosen.
//!
//! One round, for an example (x, y) with importance h:
//!
//! ```text
//! p_k      = b + Σ_i weight(slot_i,k, x_i) x_i        look, in every lane; b the base margin
//! p        = mixture of the p_k                       play
//! slot_i,k ← absorb(slot_i,k, x_i, h ℓ'(p_k, y) x_i)  for every feature, in every lane
//! ```
//!
//! The lanes share nothing but the example: each plays its own margin and absorbs its own gradient. Its state
//! is bit-identical to that of a [`Single`](crate::learn::single::Single) at its rate. The lanes of a
//! coordinate lie on one cache line, field by field, so a feature costs one cache miss, as with one lane, and
//! the loop over the lanes is vectorised. With L2 (`learn/penalty.rs`) each lane has its own penalty, and the
//! mixture's penalty is the experts' mean, weighted by the shares. Importance-aware updates (`loss/push.rs`) are
//! computed for each lane, in a third loop over the features.

mod certify;
pub(super) mod coin;
pub(super) mod experts;
mod explain;
pub(in crate::learn) mod merge;
pub(super) mod mixture;
pub(in crate::learn) mod model;
mod observe;
mod pipeline;
mod round;
pub(super) mod stack;
mod standardised;
pub(super) mod tallies;

use std::ops::Range;

use crate::alloc::zeroed;
use crate::error::Result;
use crate::example::{Example, Ordered, Scaled, Scales};
use crate::learn::dispatch::{Batch, PlayKernel};
use crate::learn::frame::{Boxes, Frame, Plan};
use crate::learn::lanes::coin::{Bets, CoinLane};
use crate::learn::lanes::experts::Plays;
use crate::learn::lanes::observe::{Observe, Observer, Round, Rounds};
use crate::learn::lanes::pipeline::Spare;
use crate::learn::lanes::round::add_base;
use crate::learn::rounds::{RoundKernel, Upcoming};
use crate::learn::table::compact::CompactTable;
use crate::loss::wide::Tails;
use crate::rule::{Rule, Slot, Step};
use crate::simd::f64x8::F64x8;
use crate::simd::{InstructionSet, LANES};
use mixture::rates;

type LineOf<R> = <<R as Rule>::Slot as Slot>::Line;

/// A rule run on every coordinate in all lanes.
pub struct Lanes<R: Rule, B: Boxes> {
    frame: Frame<R, B>,
    table: CompactTable<LineOf<R>>,
    coupling: Coupling<R::Shared>,
    /// The coin lane; not used by a rule without one.
    coin: CoinLane,
    /// Scratch of importance-aware rounds: the rates of every feature, from the second loop to the third.
    rates: Vec<[f32; LANES]>,
    /// Whether the gradient sums of the certificate are kept.
    certify: bool,
    observer: Observer,
    spare: Spare,
}

/// The state that the coordinates of each lane share.
#[derive(Clone, Copy, Default)]
struct Coupling<S> {
    state: [S; LANES],
    step: [Step; LANES],
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    const RATES: [f32; LANES] = rates(R::COIN_LANE);

    /// A learner in its initial state. The rule's own rate is not used.
    pub fn new(mut plan: Plan, rule: R, boxes: B) -> Result<Self> {
        let Plan { loss, penalty, fixed_share, slots, certify, .. } = plan;
        // The lines need the most memory, so a failure is reported for them.
        let table = CompactTable::new(slots)?;
        let sums = if certify { Some(zeroed(slots + 1)?) } else { None };
        plan.scales.share(table.index());
        Ok(Lanes {
            frame: Frame::new(plan, rule, boxes),
            table,
            coupling: Coupling::default(),
            coin: CoinLane::default(),
            rates: Vec::new(),
            certify,
            observer: Observer::new(loss, penalty.l2 > 0.0, fixed_share, sums),
            spare: Spare::default(),
        })
    }

    /// The rule with the interval of a slot and the rate of a lane.
    #[inline]
    fn rule_at(&self, slot: usize, lane: usize) -> R {
        self.frame.rule_at(slot).at(Self::RATES[lane])
    }

    /// Look up the lines of a batch of examples.
    #[inline(always)]
    fn find_lines(&mut self, examples: Ordered<'_>, batch: Range<usize>, positions: &mut Vec<u32>) {
        positions.clear();
        let index = self.table.index();
        for k in batch {
            match examples.positions(k, index) {
                Some(found) => positions.extend_from_slice(found),
                None => index.meet_all(examples.example(k).slots, positions),
            }
        }
        self.table.commit_memory();
    }
}

/// Scratch memory, reused from example to example.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The positions of the lines of the batch's features, and how many of them are learned.
    positions: Vec<u32>,
    learned: usize,
    rounds: Rounds,
    bets: Bets,
}

impl<R: Rule, B: Boxes> RoundKernel for Lanes<R, B> {
    type Scratch = Scratch;

    #[inline(always)]
    fn scales(&mut self) -> &mut Scales {
        &mut self.frame.scales
    }

    #[inline(always)]
    fn rounds_counted(&self) -> u64 {
        self.observer.tally.rounds
    }

    #[inline(always)]
    fn start_batch(&mut self, batch: &mut Batch<'_>, scratch: &mut Scratch) {
        match &mut batch.scaled {
            Some(scaled) => {
                std::mem::swap(&mut scratch.positions, &mut scaled.positions);
                self.table.commit_memory();
            }
            None => {
                self.find_lines(batch.examples, batch.range.clone(), &mut scratch.positions);
            }
        }
        let first = batch.examples.example(batch.range.start).slots.len();
        let first = first.min(scratch.positions.len());
        self.table.prefetch_all(&scratch.positions[..first]);
        scratch.learned = 0;
    }

    #[cold]
    fn keep_only(&mut self, slots: &[u32], kept: &[u32], scratch: &mut Scratch) {
        let Scratch { positions, learned, .. } = scratch;
        // From the end on, so that no position is overwritten before it is moved.
        let (end, mut left) = (*learned + slots.len(), kept.len());
        for (k, slot) in slots.iter().enumerate().rev() {
            if left > 0 && kept[left - 1] == *slot {
                positions[end - (kept.len() - left) - 1] = positions[*learned + k];
                left -= 1;
            }
        }
        *learned = end - kept.len();
    }

    fn start_example(&mut self, example: &Example<'_>, scratch: &mut Scratch) {
        scratch.positions.clear();
        self.table.index().meet_all(example.slots, &mut scratch.positions);
        self.table.commit_memory();
        scratch.learned = 0;
    }

    #[inline(always)]
    fn play_round<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        number: u64,
        example: &Example<'_>,
        upcoming: Upcoming<'_>,
        features: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { positions, learned, rounds, bets } = scratch;
        let (own, others) = positions[*learned..].split_at(example.slots.len());
        *learned += own.len();
        // The last example of a batch has no next example to prefetch. Of a scaled one some features may be left
        // out.
        let next = upcoming.slots(0).len().min(others.len());
        self.table.prefetch_all(&others[..next]);
        let round = self.round::<E, PENALISED>(simd, number, example, own, bets)?;
        if self.certify {
            rounds.terms.push(own, example.values);
        }
        rounds.push(Round { features, ..round });
        Ok(())
    }

    fn rounds_stored(scratch: &Scratch) -> usize {
        scratch.rounds.len()
    }

    fn moved_slots(&self) -> impl Iterator<Item = u32> {
        self.moved().map(|slot| slot as u32)
    }

    fn count_rounds(
        &mut self,
        path: InstructionSet,
        scratch: &mut Scratch,
        margins: &mut Vec<f64>,
    ) {
        if let Some(labels) = self.frame.scales.labels_mut() {
            labels.take_rounds(&mut scratch.rounds.given);
        }
        let (observer, rounds) = (&mut self.observer, &mut scratch.rounds);
        path.run(Observe { observer, rounds, margins });
    }
}

impl<R: Rule, B: Boxes> PlayKernel for Lanes<R, B> {
    const VECTORISED: bool = B::VECTORISED;
    const WIDEST: bool = R::IS_COMMON;

    #[inline(always)]
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        let (mut scratch, mut positions, mut bets) =
            (Scaled::default(), Vec::new(), Bets::default());
        let (loss, mixture, stack) =
            (self.frame.loss, &self.observer.mixture, &self.observer.stack);
        let shares = mixture.shares(loss);
        let units = self.frame.scales.labels().map(|labels| labels.units());
        for k in 0..examples.len() {
            let example = examples.example(k);
            let seen = self.frame.scales.normalise(&example, &mut scratch);
            positions.clear();
            // No closure here: it would be compiled without the kernel's vector instructions.
            for &slot in seen.slots {
                positions.push(self.table.index().find(slot));
            }
            let mut look = self.look::<_, false, false>(simd, &seen, &positions, &mut bets);
            // A base in the user's units is added to the prediction in the end.
            let base = f64::from(example.base);
            let (within, after) = if units.is_some() { (0.0, base) } else { (base, 0.0) };
            add_base(&mut look.margins, within);
            let tails = Tails::of(loss, &look.margins);
            let mut plays = Plays::new(loss, &look.margins, &tails, stack, within);
            if let Some(units) = units {
                plays.margins = plays.margins.map(|margin| units.prediction(margin));
            }
            margins.push(mixture.margin(loss, &shares, &plays) + after);
        }
    }
}
