//! One round of the learner with one rate: compute the margin, play, absorb.

use std::hint::black_box;

use lessregret_prefetch::prefetch;

use super::Single;
use crate::error::Result;
use crate::example::Example;
use crate::learn::frame::Boxes;
use crate::learn::model::Inspect;
use crate::learn::single::gather::{Gathered, Group, WIDTH, words};
use crate::learn::sound::{diverged, flushed, is_sound};
use crate::learn::tally::Round;
use crate::loss::push::push;
use crate::rule::{Dither, ExampleStats, Line, Rule, Slot};
use crate::simd::f64x8::F64x8;
use crate::simd::sums::Sum;

/// The results of the first loop over an example's features.
pub(super) struct Look {
    pub margin: f64,
    stats: ExampleStats,
    square_weights: f64,
}

impl<R: Rule, B: Boxes> Single<R, B> {
    /// The first loop over the features: the margin and, for learning, the stats that coupled rules need.
    ///
    /// Each loop over the groups handles one number type and works on copies, so that it vectorises.
    #[inline(always)]
    pub(super) fn look<E: F64x8, const LEARN: bool, const PENALISED: bool>(
        &self,
        simd: E,
        example: &Example<'_>,
        gathered: &mut Gathered<R::Slot>,
    ) -> Look {
        let (slots, values) = (example.slots.as_chunks().0, example.values.as_chunks().0);
        // Borrowed once per example: otherwise pointer and length of the table are reloaded after every
        // store.
        let table = &self.slots[..];
        let ((full, rest), words) = (gathered.open(example), words(table));
        let mut sum = simd.splat(0.0);
        for (group, (slots, values)) in full.iter_mut().zip(slots.iter().zip(values)) {
            // Without this the compiler vectorises across groups: the first features of eight groups, then
            // the second.
            black_box(());
            group.gather(simd, table, words, slots, values);
            sum = self.play(simd, group, sum);
        }
        if let Some(group) = rest {
            group.gather_rest(simd, table, words, example);
            sum = self.play(simd, group, sum);
        }
        let margin = Sum::of(simd.to_array(sum)).total();
        let mut stats = ExampleStats::default();
        if LEARN && R::COUPLED {
            for group in gathered.groups() {
                for k in 0..group.count {
                    let rule = self.frame.rule_at(group.slots[k] as usize);
                    rule.look(&group.before.get(k), group.values[k], &mut stats);
                }
            }
        }
        let square_weights = if PENALISED { gathered.square_weights() } else { 0.0 };
        Look { margin, stats, square_weights }
    }

    /// Play a group: add its Σ w x to the accumulator.
    #[inline(always)]
    fn play<E: F64x8>(&self, simd: E, group: &mut Group<R::Slot>, sum: E::Eight) -> E::Eight {
        let Group { before, values, slots, mut played, .. } = *group;
        for k in 0..WIDTH {
            let rule = self.frame.rule_at(slots[k] as usize);
            played[k] = rule.weight(&before.get(k), values[k]);
        }
        group.played = played;
        simd.add(sum, simd.multiply(simd.widen(played), simd.widen(values)))
    }

    /// The second loop, over the gathered slots: the gradient is `slope · value + shrink · weight` in every
    /// coordinate. With STAY everything but the weights moves.
    #[inline(always)]
    fn absorb<E: F64x8, const PENALISED: bool, const STAY: bool>(
        &mut self,
        simd: E,
        gathered: &mut Gathered<R::Slot>,
        stats: &ExampleStats,
    ) {
        let (step, slopes) = (self.step, simd.splat(stats.slope));
        let dither = Dither::new(stats.round);
        // Separate loops: in a single loop each group waits for its square root and its division, and the
        // reorder buffer does not hold enough groups to hide that latency.
        for group in gathered.groups_mut() {
            let mut gradients = simd.narrow(simd.multiply(slopes, simd.widen(group.values)));
            if PENALISED {
                add_penalty(group, stats, &mut gradients);
            }
            group.gradients = gradients;
        }
        for group in gathered.groups_mut() {
            let Group { before, values, gradients, played, slots, .. } = *group;
            let (mut after, mut rates) = (before, gradients);
            for k in 0..WIDTH {
                let rule = self.frame.rule_at(slots[k] as usize);
                let mut state = before.get(k);
                rates[k] = rule.absorb(&mut state, values[k], gradients[k], step, dither);
                if STAY && gradients[k] != 0.0 {
                    rule.place(&mut state, f64::from(played[k]), dither);
                }
                // Coordinate rules expect a nonzero gradient; with L2 a single coordinate may have none.
                if PENALISED && !R::COUPLED && gradients[k] == 0.0 {
                    state = before.get(k);
                }
                after.put(k, state);
            }
            (group.after, group.rates) = (after, rates);
        }
        if self.gradient_sums.is_some() {
            self.sum_gradients(gathered, stats);
        }
    }

    #[inline(never)]
    fn sum_gradients(&mut self, gathered: &Gathered<R::Slot>, stats: &ExampleStats) {
        let Some(sums) = &mut self.gradient_sums else { return };
        for group in gathered.groups() {
            for k in 0..group.count {
                // In float64: the gradients of the slots are rounded to float32.
                let of_penalty = stats.shrink * f64::from(group.played[k]);
                let gradient = stats.slope * f64::from(group.values[k]) + of_penalty;
                sums[group.slots[k] as usize] += gradient;
            }
        }
    }

    /// Absorb the gathered slots in place; returns ½ Σ g² η.
    #[inline(always)]
    fn descend<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        gathered: &mut Gathered<R::Slot>,
        stats: &ExampleStats,
    ) -> f64 {
        self.absorb::<E, PENALISED, false>(simd, gathered, stats);
        gathered.scatter(simd, &mut self.slots);
        match (R::BOUNDED, PENALISED) {
            (false, _) => 0.0,
            (true, true) => 0.5 * gathered.square_sum::<E, false>(simd),
            // All gradients are multiples of the slope.
            (true, false) => 0.5 * stats.slope * stats.slope * gathered.square_sum::<E, true>(simd),
        }
    }

    /// Importance-aware update: absorb, then move every weight by the push in a third loop. Not inlined, so
    /// that the ordinary path is compiled as if this one did not exist.
    #[inline(never)]
    fn follow<E: F64x8>(
        &mut self,
        simd: E,
        gathered: &mut Gathered<R::Slot>,
        stats: &ExampleStats,
    ) {
        self.absorb::<E, false, true>(simd, gathered, stats);
        let ExampleStats { margin, label, importance, slope, .. } = *stats;
        if slope != 0.0 {
            let response = gathered.square_sum::<E, true>(simd);
            let push = push(self.frame.loss, margin, label, importance, response);
            let dither = Dither::new(stats.round);
            for group in gathered.groups_mut() {
                for k in 0..group.count {
                    let rule = self.frame.rule_at(group.slots[k] as usize);
                    let (mut state, value) = (group.after.get(k), group.values[k]);
                    let weight = f64::from(rule.weight(&state, value));
                    let way = push * f64::from(group.rates[k]) * f64::from(value);
                    rule.place(&mut state, weight + way, dither);
                    group.after.put(k, state);
                }
            }
        }
        gathered.scatter(simd, &mut self.slots);
    }

    #[inline(always)]
    pub(super) fn round<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        number: u64,
        example: &Example<'_>,
        next: &[u32],
        gathered: &mut Gathered<R::Slot>,
    ) -> Result<Round> {
        let look = self.look::<E, true, PENALISED>(simd, example, gathered);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let base = f64::from(example.base);
        let margin = look.margin + base;
        let slope = importance * self.frame.loss.slope(margin, label);
        // Work that does not depend on the slope comes here, to overlap with the slope's latency.
        let square_norm = gathered.square_norm(simd);
        let slope = flushed(slope, square_norm);
        if gathered.is_any_new(simd) {
            self.met.meet_all(example.slots);
        }
        self.prefetch_all(next);
        let stats = ExampleStats {
            round: number,
            regression: !self.frame.loss.is_classification(),
            label,
            margin,
            base,
            importance,
            slope,
            square_norm,
            shrink: if PENALISED { importance * self.frame.penalty.l2 } else { 0.0 },
            square_weights: look.square_weights,
            ..look.stats
        };
        self.check(example, &stats)?;
        if R::COUPLED {
            self.step = self.frame.rule.step(&mut self.shared, &stats);
            self.frame.rule = self.frame.rule.knowing(&self.shared);
        }
        let energy = if !R::COUPLED && !PENALISED && slope == 0.0 {
            0.0
        } else if R::DESCENDS && self.frame.importance_aware {
            self.follow(simd, gathered, &stats);
            0.0
        } else {
            self.descend::<E, PENALISED>(simd, gathered, &stats)
        };
        Ok(Round {
            label,
            margin,
            importance,
            penalty: if PENALISED { self.frame.penalty.of(stats.square_weights) } else { 0.0 },
            played: stats.played(),
            energy,
            features: example.slots.len(),
        })
    }

    /// Return an error before learning if the gradient of the round would not fit into a float32 slot.
    #[inline]
    fn check(&self, example: &Example<'_>, stats: &ExampleStats) -> Result<()> {
        if is_sound::<R>(stats) {
            return Ok(());
        }
        Err(diverged(example, *stats, |slot| self.scaled_weight(slot)))
    }

    /// Prefetch the slots of an example while another one is learned.
    #[inline]
    fn prefetch_all(&self, slots: &[u32]) {
        for &slot in slots {
            prefetch(&self.slots, slot as usize);
        }
    }
}

/// Recompute the gradients, with that of the regulariser added.
#[inline(always)]
fn add_penalty<S: Slot>(group: &Group<S>, stats: &ExampleStats, gradients: &mut [f32; WIDTH]) {
    for (k, gradient) in gradients.iter_mut().enumerate().take(group.count) {
        let of_loss = stats.slope * f64::from(group.values[k]);
        *gradient = (of_loss + stats.shrink * f64::from(group.played[k])) as f32;
    }
}
