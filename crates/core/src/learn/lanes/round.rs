//! One round of all lanes: compute the margins, play, absorb.

use std::hint::black_box;

use super::coin::{Bets, COIN, Play};
use super::{Lanes, LineOf};
use crate::error::Result;
use crate::example::Example;
use crate::learn::frame::Boxes;
use crate::learn::lanes::observe::Round;
use crate::learn::sound::{diverged, flushed, is_sound};
use crate::loss::push::push;
use crate::loss::wide::{Tails, slopes};
use crate::rule::{Dither, ExampleStats, Line, Rule, Slot};
use crate::simd::f64x8::F64x8;
use crate::simd::sums::{LaneSum, Sum};
use crate::simd::{LANES, PerLane};

/// The results of the first loop over an example's features.
pub(super) struct Look {
    pub margins: PerLane,
    /// For coupled rules only. Other rules do not pay for initialising so many numbers.
    lane_stats: Option<[ExampleStats; LANES]>,
    square_norm: f64,
    square_weights: PerLane,
    /// What the coin lane plays, if there is one.
    coin: Play,
}

/// What is known of a round before the lanes learn from it.
struct Seen {
    round: u64,
    regression: bool,
    label: f64,
    importance: f64,
    base: f64,
    shrink: f64,
    look: Look,
    /// importance · slope in each lane.
    slopes: PerLane,
}

impl Seen {
    /// The stats of one lane. Built on demand, so that unused fields are optimised away.
    #[inline(always)]
    fn stats(&self, lane: usize) -> ExampleStats {
        let gathered = self
            .look
            .lane_stats
            .as_ref()
            .map_or(ExampleStats::default(), |lane_stats| lane_stats[lane]);
        ExampleStats {
            round: self.round,
            regression: self.regression,
            label: self.label,
            margin: self.look.margins[lane],
            base: self.base,
            importance: self.importance,
            slope: self.slopes[lane],
            square_norm: self.look.square_norm,
            shrink: self.shrink,
            square_weights: self.look.square_weights[lane],
            ..gathered
        }
    }
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// Play one example and learn from it, in every lane.
    #[inline(always)]
    pub(super) fn round<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        number: u64,
        example: &Example<'_>,
        positions: &[u32],
        bets: &mut Bets,
    ) -> Result<Round> {
        let base = f64::from(example.base);
        let mut look = self.look::<E, true, PENALISED>(simd, example, positions, bets);
        add_base(&mut look.margins, base);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let tails = Tails::of(self.frame.loss, &look.margins);
        let mut slopes = times(importance, slopes(self.frame.loss, &look.margins, label, &tails));
        for (lane, slope) in slopes.iter_mut().enumerate() {
            let of_coin = R::COIN_LANE && lane == COIN;
            let norm = if of_coin { look.coin.square_norm } else { look.square_norm };
            *slope = flushed(*slope, norm);
        }
        let seen = Seen {
            round: number,
            regression: !self.frame.loss.is_classification(),
            label,
            importance,
            base,
            shrink: if PENALISED { self.shrink(example) } else { 0.0 },
            slopes,
            look,
        };
        self.check(example, &seen)?;
        let mut played = [0.0; LANES];
        for (lane, played) in played.iter_mut().enumerate() {
            *played = seen.stats(lane).played();
        }
        Ok(Round {
            label,
            importance,
            base,
            features: example.slots.len(),
            margins: seen.look.margins,
            tails,
            penalties: if PENALISED { self.penalties(&seen.look) } else { [0.0; LANES] },
            played,
            energies: self.absorb_all::<E, PENALISED>(simd, example, positions, &seen, bets),
        })
    }

    #[inline(always)]
    pub(super) fn look<E: F64x8, const LEARN: bool, const PENALISED: bool>(
        &self,
        simd: E,
        example: &Example<'_>,
        positions: &[u32],
        bets: &mut Bets,
    ) -> Look {
        let mut coin = Play::default();
        if R::COIN_LANE {
            coin = self.coin.look(simd, self.table.lines(), positions, example, bets);
        }
        let (mut margins, mut square_weights) = (LaneSum::new(simd), LaneSum::new(simd));
        let mut lane_stats = (LEARN && R::COUPLED).then(|| [ExampleStats::default(); LANES]);
        let (mut square_norm, lines) = (Sum::default(), self.table.lines());
        let features = example.slots.iter().zip(example.values).zip(positions);
        for (k, ((&slot, &value), &position)) in features.enumerate() {
            let wide = f64::from(value);
            square_norm.add_one(k, wide * wide);
            let (rule, line) = (self.frame.rule_at(slot as usize), &lines[position as usize]);
            let weights = Self::weights(rule, line, value);
            margins.add(k, simd.multiply(simd.widen(weights), simd.splat(wide)));
            if PENALISED {
                let mut weights = weights;
                for (lane, weight) in weights.iter_mut().enumerate() {
                    *weight = penalised(&line.get(lane), value, *weight);
                }
                let weights = simd.widen(weights);
                square_weights.add(k, simd.multiply(weights, weights));
            }
            for (lane, stats) in lane_stats.iter_mut().flatten().enumerate() {
                rule.at(Self::RATES[lane]).look(&line.get(lane), value, stats);
            }
        }
        // The code below needs many registers. `black_box` keeps the accumulators of the loop from being
        // spilled.
        let mut margins = black_box(margins.totals());
        let (square_norm, mut square_weights) = (square_norm.total(), square_weights.totals());
        if R::COIN_LANE {
            margins[COIN] = coin.margin;
            square_weights[COIN] = if PENALISED { coin.square_weights } else { 0.0 };
        }
        Look { margins, lane_stats, square_norm, square_weights, coin }
    }

    /// The weights that a line plays on a value. That of the coin lane is not used.
    #[inline(always)]
    pub(super) fn weights(rule: R, line: &LineOf<R>, value: f32) -> [f32; LANES] {
        let mut weights = [0.0; LANES];
        for (lane, weight) in weights.iter_mut().enumerate() {
            *weight = rule.at(Self::RATES[lane]).weight(&line.get(lane), value);
        }
        weights
    }

    #[inline(always)]
    fn check(&self, example: &Example<'_>, seen: &Seen) -> Result<()> {
        let mut largest = [0; LANES];
        for (lane, largest) in largest.iter_mut().enumerate() {
            let square = if R::BOUNDED { seen.stats(lane).square_gradient() } else { 0.0 };
            *largest = size_bits(seen.look.margins[lane]).max(size_bits(square));
        }
        // Checks all lanes at once; equivalent to `is_sound` for each lane.
        let all_sound = largest.into_iter().max() < Some(f32::INFINITY.to_bits());
        if all_sound { Ok(()) } else { self.refuse(example, seen) }
    }

    /// The error for the first lane whose round is not sound.
    #[cold]
    #[inline(always)]
    fn refuse(&self, example: &Example<'_>, seen: &Seen) -> Result<()> {
        // A plain loop: closures would make every round store `seen` to memory.
        for lane in 0..LANES {
            if !is_sound::<R>(&seen.stats(lane)) {
                return Err(diverged(example, seen.stats(lane), |slot| {
                    self.rule_at(slot, lane).weight(&self.table.line(slot).get(lane), 1.0)
                }));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn absorb_all<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        example: &Example<'_>,
        positions: &[u32],
        seen: &Seen,
        bets: &mut Bets,
    ) -> PerLane {
        if R::COIN_LANE {
            let stats =
                ExampleStats { square_norm: seen.look.coin.square_norm, ..seen.stats(COIN) };
            self.coin.absorb::<E, PENALISED>(simd, &stats, bets);
        }
        if R::COUPLED {
            for (lane, &rate) in Self::RATES.iter().enumerate() {
                let shared = &mut self.coupling.state[lane];
                self.coupling.step[lane] = self.frame.rule.at(rate).step(shared, &seen.stats(lane));
            }
        } else if !PENALISED && seen.slopes.iter().all(|&slope| slope == 0.0) {
            return [0.0; LANES];
        }
        if R::DESCENDS && self.frame.importance_aware {
            self.follow(simd, example, positions, seen, bets);
            return [0.0; LANES];
        }
        let none = &mut Vec::new();
        let mut energies =
            self.absorb::<E, false, PENALISED>(simd, example, positions, seen, bets, none);
        if R::COIN_LANE {
            energies[COIN] = 0.0;
        }
        energies
    }

    /// The second loop over the features; returns ½ Σ g² η of every lane. With STAY the weights do not move
    /// yet: it returns Σ x² η and stores the rates.
    #[inline(always)]
    fn absorb<E: F64x8, const STAY: bool, const PENALISED: bool>(
        &mut self,
        simd: E,
        example: &Example<'_>,
        positions: &[u32],
        seen: &Seen,
        bets: &Bets,
        kept_rates: &mut Vec<[f32; LANES]>,
    ) -> PerLane {
        // Local copies, here and of the line, and loops over one number type, so that the loops vectorise.
        let (rule, boxes, steps, slopes) =
            (self.frame.rule, &self.frame.boxes, self.coupling.step, seen.slopes);
        let dither = Dither::new(seen.round);
        let (shrink, wide_slopes) = (self.shrink(example), simd.load(&slopes));
        let (mut sum, lines) = (LaneSum::new(simd), self.table.lines_mut());
        // If the compiler could prove that each line is stored to its own address, it would use masked stores
        // of only the lanes that changed: 5 nanoseconds a feature more on an AMD EPYC.
        let (positions_again, values) = (black_box(positions), example.values);
        let (rewards, stakes) = if R::COIN_LANE { bets.next() } else { (values, values) };
        let features = example.slots.iter().zip(values).zip(positions.iter().zip(positions_again));
        let features = features.zip(rewards.iter().zip(stakes));
        for (k, (((&slot, &value), (&position, &position_again)), (&reward, &stake))) in
            features.enumerate()
        {
            let (rule, wide) = (boxes.rule(rule, slot as usize), f64::from(value));
            let mut line = lines[position as usize];
            let mut gradients = simd.narrow(simd.multiply(wide_slopes, simd.splat(wide)));
            let mut rates = [0.0; LANES];
            for lane in 0..LANES {
                let (rule, step) = (rule.at(Self::RATES[lane]), steps[lane]);
                let mut state = line.get(lane);
                let played = rule.weight(&state, value);
                if PENALISED {
                    let pull = shrink * f64::from(penalised(&state, value, played));
                    gradients[lane] = (slopes[lane] * wide + pull) as f32;
                }
                rates[lane] = rule.absorb(&mut state, value, gradients[lane], step, dither);
                if STAY {
                    rule.place(&mut state, f64::from(played), dither);
                }
                line.put(lane, state);
            }
            if R::COIN_LANE {
                (line.field_mut(0)[COIN], line.field_mut(1)[COIN]) = (reward, stake);
            }
            lines[position_again as usize] = line;
            if STAY {
                kept_rates.push(rates);
            }
            let squares = if PENALISED {
                let gradients = simd.widen(gradients);
                simd.multiply(gradients, gradients)
            } else {
                simd.splat(wide * wide)
            };
            sum.add(k, simd.multiply(squares, simd.widen(rates)));
        }
        let mut totals = sum.totals();
        for (total, slope) in totals.iter_mut().zip(slopes) {
            *total *= match (STAY, PENALISED) {
                (true, _) => 1.0,
                (false, true) => 0.5,
                // All gradients of the lane are multiples of its slope.
                (false, false) => 0.5 * slope * slope,
            };
        }
        totals
    }

    /// importance · λ, the factor of the weight in the gradient.
    #[inline(always)]
    fn shrink(&self, example: &Example<'_>) -> f64 {
        f64::from(example.importance) * self.frame.penalty.l2
    }

    /// Importance-aware update: absorb, then move every weight by the push in a third loop. Not inlined, so
    /// that the ordinary path is compiled as if this one did not exist.
    #[inline(never)]
    fn follow<E: F64x8>(
        &mut self,
        simd: E,
        example: &Example<'_>,
        positions: &[u32],
        seen: &Seen,
        bets: &Bets,
    ) {
        let mut rates = std::mem::take(&mut self.rates);
        rates.clear();
        let responses =
            self.absorb::<E, true, false>(simd, example, positions, seen, bets, &mut rates);
        let Seen { label, importance, look: Look { margins, .. }, .. } = seen;
        let dither = Dither::new(seen.round);
        let pushes: PerLane = std::array::from_fn(|lane| {
            push(self.frame.loss, margins[lane], *label, *importance, responses[lane])
        });
        let features = example.slots.iter().zip(example.values).zip(positions).zip(&rates);
        for (((&slot, &value), &position), rates) in features {
            let rule = self.frame.rule_at(slot as usize);
            let line = &mut self.table.lines_mut()[position as usize];
            for lane in 0..rate_lanes::<R>() {
                let (rule, mut state) = (rule.at(Self::RATES[lane]), line.get(lane));
                let weight = f64::from(rule.weight(&state, value));
                let way = pushes[lane] * f64::from(rates[lane]) * f64::from(value);
                rule.place(&mut state, weight + way, dither);
                line.put(lane, state);
            }
        }
        self.rates = rates;
    }

    #[inline(always)]
    fn penalties(&self, look: &Look) -> PerLane {
        look.square_weights.map(|squares| self.frame.penalty.of(squares))
    }
}

/// The number of lanes that have a rate.
pub(super) const fn rate_lanes<R: Rule>() -> usize {
    if R::COIN_LANE { COIN } else { LANES }
}

/// The weight that the regulariser acts on. It is 0 for a slot that only other lanes have touched and that is
/// not in the example, as it would be in a learner with one lane.
#[inline]
fn penalised<S: Slot>(state: &S, value: f32, weight: f32) -> f32 {
    if value == 0.0 && state.is_untouched() { 0.0 } else { weight }
}

/// The absolute value of a number in float32, as bits, which have the same order. Infinities and NaN give the
/// largest bits.
#[inline(always)]
fn size_bits(number: f64) -> u32 {
    (number as f32).abs().to_bits()
}

/// Add the base margin to the margin of every lane.
#[inline(always)]
pub(super) fn add_base(margins: &mut PerLane, base: f64) {
    for margin in margins {
        *margin += base;
    }
}

#[inline(always)]
fn times(factor: f64, mut numbers: PerLane) -> PerLane {
    for number in &mut numbers {
        *number *= factor;
    }
    numbers
}
