//! The learner of many classes: a rule for every coordinate (feature, class).
//!
//! One round, for an example (x, y) with importance h, where y is a class:
//!
//! ```text
//! p_c      = Σ_i weight(slot_i,c, x_i) x_i                  look, for every class c
//! α        = h ∇ℓ(p, y)                                     the slopes, one for each class (`loss/classes.rs`)
//! slot_i,c ← absorb(slot_i,c, x_i, α_c x_i, step)           for every feature i and class c with α_c ≠ 0
//! ```
//!
//! At rate "auto" every coordinate has eight lanes, and what is played is their mixture (`mix.rs`). Lines hold eight
//! slots field by field, as those of two classes do: the eight lanes of one class at rate "auto", eight classes at one
//! rate (`table.rs`). So the kernels of the rules are the same, and vectorised over the same eight numbers.
//!
//! Sums over features have one accumulator for each class and lane. Many are added to in turn, so none waits for the
//! latency of its last addition, and the order is that of the features: a lane is bit-identical to a learner at its
//! rate, and no division into batches changes a bit.
//!
//! The twin is `python/lessregret/learners/readable_classes.py`.

mod absorb;
mod known;
mod look;
mod merge;
mod mix;
mod model;
mod table;

use std::ops::Range;

use crate::error::Result;
use crate::example::{Example, Ordered, Scaled, Scales};
use crate::learn::dispatch::{Batch, PlayKernel};
use crate::learn::frame::{Boxes, Frame, Plan};
use crate::learn::lanes::mixture::rates;
use crate::learn::rounds::{RoundKernel, Upcoming};
use crate::rule::{Rule, Slot, Step};
use crate::simd::f64x8::F64x8;
use crate::simd::{InstructionSet, LANES, PerLane};
use crate::spec::ManyClasses;
use absorb::Betting;
pub use known::Codes;
use known::KnownClasses;
use mix::Observer;
use table::ClassTable;

type LineOf<R> = <<R as Rule>::Slot as Slot>::Line;

/// A rule run on every coordinate (feature, class): in eight lanes if AUTO, else at its own rate.
pub struct Classes<R: Rule, B: Boxes, const AUTO: bool> {
    frame: Frame<R, B>,
    known: KnownClasses,
    /// The number of classes that a block has lines for.
    capacity: usize,
    table: ClassTable<LineOf<R>>,
    coupling: Coupling<R::Shared>,
    /// The coin lane; not used by a rule without one.
    coin: Betting,
    /// G of `learn/certificate.rs`: for each block so many sums as there are places for classes.
    gradient_sums: Option<Vec<f64>>,
    observer: Observer,
    /// The number of classes of the rows of margins so far.
    width: usize,
}

/// The state that the coordinates of each lane share. At one rate only the first is used.
#[derive(Clone, Copy, Default)]
struct Coupling<S> {
    state: [S; LANES],
    step: [Step; LANES],
}

/// Scratch memory of one round.
#[derive(Default)]
pub(crate) struct Cells {
    /// The margin of each class, in every lane; at one rate in the first.
    margins: Vec<PerLane>,
    /// The slope of each class, in every lane; at one rate in the first.
    slopes: Vec<PerLane>,
    /// The probability of each class, in every lane.
    chances: Vec<PerLane>,
    /// Sums over the features, for each line of a block.
    sums: Vec<PerLane>,
    /// The slopes as the lines hold them, for each line of a block.
    line_slopes: Vec<PerLane>,
    /// The lines of a block that learn in this round.
    active: Vec<u32>,
    /// What the stack plays, in the first lane, and its slopes.
    stacked: [Vec<PerLane>; 2],
    /// The margins that were played, and their slopes.
    mixed: Vec<f64>,
    tangent: Vec<f64>,
    clipped: Vec<f32>,
}

/// Scratch memory, reused from example to example.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The positions of the blocks of the batch's features, and how many of them are learned.
    positions: Vec<u32>,
    learned: usize,
    cells: Cells,
    /// The margins of the rounds that are not recorded yet, and the number of classes of each.
    rows: Vec<f64>,
    widths: Vec<usize>,
}

impl<R: Rule, B: Boxes, const AUTO: bool> Classes<R, B, AUTO> {
    const RATES: [f32; LANES] = rates(R::COIN_LANE);
    const HAS_COIN: bool = AUTO && R::COIN_LANE;

    /// A learner in its initial state. If AUTO, the rule's own rate is not used.
    pub fn new(mut plan: Plan, classes: &ManyClasses, rule: R, boxes: B) -> Result<Self> {
        let Plan { loss, fixed_share, slots, certify, .. } = plan;
        let known = KnownClasses::new(classes);
        let capacity = known.len();
        let table = ClassTable::new(slots, Self::stride_of(capacity))?;
        plan.scales.share(table.index());
        let mut learner = Classes {
            frame: Frame::new(plan, rule, boxes),
            known,
            capacity,
            table,
            coupling: Coupling::default(),
            coin: Betting::default(),
            gradient_sums: certify.then(Vec::new),
            observer: Observer::new(loss, fixed_share),
            width: capacity,
        };
        learner.commit_sums();
        Ok(learner)
    }

    /// The number of lines of a block with places for so many classes.
    fn stride_of(classes: usize) -> usize {
        let eights = classes.div_ceil(LANES);
        match (AUTO, Self::HAS_COIN) {
            (false, _) => eights,
            (true, false) => classes,
            (true, true) => classes + eights,
        }
    }

    /// Where a line of a block of so many classes stands in a block with places for more.
    fn place_in(more: usize, classes: usize, line: usize) -> usize {
        if Self::HAS_COIN && line >= classes { line - classes + more } else { line }
    }

    /// Give a class a place, and let it count if it is to; returns its place.
    fn add_class(&mut self, code: i32, counts: bool) -> Result<usize> {
        let is_new = !self.known.codes().contains(&code);
        if is_new && self.known.len() == self.capacity {
            // In eights, because then a line is added only for every eighth class.
            self.widen((self.capacity + 1).next_multiple_of(LANES))?;
        }
        Ok(self.known.add(code, counts))
    }

    /// Make place for more classes in every block.
    fn widen(&mut self, classes: usize) -> Result<()> {
        let before = self.capacity;
        let place = |line: usize| Self::place_in(classes, before, line);
        self.table.widen(Self::stride_of(classes), place)?;
        if let Some(sums) = &mut self.gradient_sums {
            let mut wider = vec![0.0; self.table.blocks() * classes];
            for (block, own) in sums.chunks(before.max(1)).enumerate().filter(|_| before > 0) {
                wider[block * classes..][..before].copy_from_slice(own);
            }
            *sums = wider;
        }
        self.capacity = classes;
        Ok(())
    }

    /// Get memory for all features that were met.
    fn commit_memory(&mut self) -> Result<()> {
        self.table.commit_memory()?;
        self.commit_sums();
        Ok(())
    }

    fn commit_sums(&mut self) {
        if let Some(sums) = &mut self.gradient_sums {
            sums.resize(self.table.blocks() * self.capacity, 0.0);
        }
    }

    /// Make place in the margins so far for the classes that were met since.
    fn widen_rows(&mut self, margins: &mut Vec<f64>) {
        let width = self.known.len();
        if self.width != width {
            *margins = widened(margins, self.width, width);
            self.width = width;
        }
    }

    /// Look up the blocks of a batch of examples.
    #[inline(always)]
    fn find_blocks(&self, examples: Ordered<'_>, batch: Range<usize>, positions: &mut Vec<u32>) {
        positions.clear();
        let index = self.table.index();
        for k in batch {
            match examples.positions(k, index) {
                Some(found) => positions.extend_from_slice(found),
                None => index.meet_all(examples.example(k).slots, positions),
            }
        }
    }
}

impl<R: Rule, B: Boxes, const AUTO: bool> RoundKernel for Classes<R, B, AUTO> {
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
            Some(scaled) => std::mem::swap(&mut scratch.positions, &mut scaled.positions),
            None => {
                self.find_blocks(batch.examples, batch.range.clone(), &mut scratch.positions);
            }
        }
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
        let Scratch { positions, learned, cells, rows, widths } = scratch;
        let (own, others) = positions[*learned..].split_at(example.slots.len());
        *learned += own.len();
        // Readers may have met slots since the batch was started.
        self.commit_memory()?;
        // The last example of a batch has no next example to prefetch. Of a scaled one some features may be left
        // out.
        let next = upcoming.slots(0).len().min(others.len());
        self.table.prefetch_all(&others[..next]);
        self.round(simd, number, example, own, features, cells)?;
        rows.extend_from_slice(&cells.mixed);
        widths.push(cells.mixed.len());
        Ok(())
    }

    fn rounds_stored(scratch: &Scratch) -> usize {
        scratch.widths.len()
    }

    fn moved_slots(&self) -> impl Iterator<Item = u32> {
        self.moved().map(|slot| slot as u32)
    }

    fn count_rounds(&mut self, _: InstructionSet, scratch: &mut Scratch, margins: &mut Vec<f64>) {
        let Scratch { rows, widths, .. } = scratch;
        self.widen_rows(margins);
        let width = self.width;
        let mut start = 0;
        for own in widths.drain(..) {
            margins.extend_from_slice(&rows[start..start + own]);
            margins.resize(margins.len() + width - own, f64::NEG_INFINITY);
            start += own;
        }
        rows.clear();
    }
}

/// Rows of margins of more classes: those that were not known then were as unlikely as can be.
#[cold]
fn widened(margins: &[f64], before: usize, width: usize) -> Vec<f64> {
    let mut wider = Vec::new();
    for row in margins.chunks(before.max(1)).filter(|_| before > 0) {
        wider.extend_from_slice(row);
        wider.resize(wider.len() + width - before, f64::NEG_INFINITY);
    }
    wider
}

impl<R: Rule, B: Boxes, const AUTO: bool> PlayKernel for Classes<R, B, AUTO> {
    const VECTORISED: bool = B::VECTORISED;
    const WIDEST: bool = R::IS_COMMON;

    #[inline(always)]
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        if self.known.len() == 0 {
            return;
        }
        let (mut scratch, mut positions, mut cells) =
            (Scaled::default(), Vec::new(), Cells::default());
        let mut clipped = Vec::new();
        for k in 0..examples.len() {
            let example = examples.example(k);
            let seen = self.frame.scales.normalise(&example, &mut scratch);
            let seen = if AUTO { seen } else { seen.played_by::<R>(&mut clipped) };
            positions.clear();
            // No closure here: it would be compiled without the kernel's vector instructions.
            for &slot in seen.slots {
                positions.push(self.position(slot));
            }
            self.look(simd, &seen, &positions, &mut cells);
            self.play(&mut cells);
            margins.extend_from_slice(&cells.mixed);
        }
    }
}
