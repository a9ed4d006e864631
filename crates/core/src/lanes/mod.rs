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
//! and holds the bits that a [`Learner`](crate::learner::Learner) at its rate would hold. A
//! coordinate's lanes lie on one cache line, field by field, so a feature costs one miss as with one
//! lane, and the loop over the lanes is vector instructions. With L2 (`penalty.rs`) each lane has its
//! own penalty, and the mixture's is their mean by the shares. Importance-aware updates
//! (`importance.rs`) are each lane's own, in a third walk.

mod model;
mod round;

use std::ops::Range;

use crate::audience::{Audience, Round, Rounds};
use crate::eights::Eights;
use crate::error::Result;
use crate::example::{Chunk, Course, Example};
use crate::faces::Tails;
use crate::lesson::Pupil;
use crate::loss::Loss;
use crate::memory::zeroed;
use crate::mixture::{LANES, PerLane, RATES};
use crate::model::{Boxes, Plan};
use crate::penalty::{Penalty, Whole};
use crate::rule::{Rule, Slot, Step};
use crate::scale::Scales;
use crate::shelf::Shelf;
use crate::tally::BATCH;
use crate::vectors::Portable;

type LineOf<R> = <<R as Rule>::Slot as Slot>::Line;

/// A rule run on every coordinate in all lanes.
pub struct Lanes<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    rule: R,
    boxes: B,
    shelf: Shelf<LineOf<R>>,
    scales: Scales,
    gradient_sums: Option<Vec<PerLane>>,
    coupling: Coupling<R::Shared>,
    audience: Audience,
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
            shelf: Shelf::new(slots)?,
            scales,
            gradient_sums: sums,
            coupling: Coupling::default(),
            audience: Audience::new(loss, penalty.l2 > 0.0).fixed_share(fixed_share),
        })
    }

    /// The rule of a slot in a lane.
    #[inline]
    fn rule_at(&self, slot: usize, lane: usize) -> R {
        self.boxes.rule(self.rule, slot).at(RATES[lane])
    }

    #[inline(always)]
    fn teach_batch<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        course: Course<'_>,
        batch: Range<usize>,
        room: &mut Room,
    ) -> Result<()> {
        let Room { values, places, rounds } = room;
        self.place(course, batch.clone(), places);
        let (mut places, last) = (&places[..], batch.end - 1);
        let all_plain = self.scales.leave_all(&course);
        let before = self.audience.tally.rounds + 1 - batch.start as u64;
        for k in batch {
            let Example { label, importance, slots, values: mut scaled } = course.example(k);
            let (own, others) = places.split_at(slots.len());
            if k < last {
                self.shelf.ask_for(&others[..course.example(k + 1).slots.len()]);
            }
            places = others;
            let plain = all_plain || self.scales.leave(&course.example(k));
            if !plain {
                scaled = self.scales.prepare(&course.example(k), values)?.values;
            }
            let seen = Example { label, importance, slots, values: scaled };
            rounds.push(self.round::<E, PENALISED>(eights, before + k as u64, &seen, own)?);
            if !plain {
                self.scales.remember(&course.example(k));
            }
        }
        Ok(())
    }

    /// Find the lines of some examples, and have those of the first brought near.
    #[inline(always)]
    fn place(&mut self, course: Course<'_>, batch: Range<usize>, places: &mut Vec<u32>) {
        places.clear();
        let known = self.shelf.places();
        for k in batch.clone() {
            match course.places(k, known) {
                Some(found) => places.extend_from_slice(found),
                None => known.meet_all(course.example(k).slots, places),
            }
        }
        self.shelf.have_memory();
        self.shelf.ask_for(&places[..course.example(batch.start).slots.len()]);
    }
}

impl<R: Rule, B: Boxes> Pupil for Lanes<R, B> {
    #[inline(always)]
    fn learn_each<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let mut room = Room::default();
        for start in (0..course.len()).step_by(BATCH) {
            let batch = start..course.len().min(start + BATCH);
            let taught = self.teach_batch::<E, PENALISED>(eights, course, batch, &mut room);
            self.audience.watch(&mut room.rounds, margins);
            taught?;
        }
        Ok(())
    }

    #[inline(never)]
    fn learn_whole(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut room) = (Whole::default(), Room::default());
        for example in course.examples() {
            let seen = self.scales.prepare(&example, &mut room.values)?;
            let touched = self.touched().map(|slot| slot as u32);
            let completed = whole.complete(&seen, touched);
            let number = self.audience.tally.rounds + 1;
            room.places.clear();
            self.shelf.places().meet_all(completed.slots, &mut room.places);
            self.shelf.have_memory();
            let round = self.round::<_, true>(Portable, number, &completed, &room.places)?;
            self.scales.remember(&example);
            room.rounds.push(Round { features: example.slots.len(), ..round });
            self.audience.watch(&mut room.rounds, margins);
        }
        Ok(())
    }

    #[inline(always)]
    fn play_each<E: Eights>(&self, eights: E, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (mut room, mut places) = (Vec::new(), Vec::new());
        let (loss, mixture) = (self.loss, &self.audience.mixture);
        let shares = mixture.shares(loss);
        for k in 0..chunk.len() {
            let example = chunk.example(k);
            places.clear();
            // No closure here: it would be compiled for any machine.
            for &slot in example.slots {
                places.push(self.shelf.places().find(slot));
            }
            let seen = self.scales.normalise(&example, &mut room);
            let look = self.look::<_, false, false>(eights, &seen, &places);
            let tails = Tails::of(loss, &look.margins);
            margins.push(mixture.margin(loss, &shares, &look.margins, &tails));
        }
    }
}

/// Memory that is used again from example to example.
#[derive(Default)]
struct Room {
    values: Vec<f32>,
    places: Vec<u32>,
    rounds: Rounds,
}
