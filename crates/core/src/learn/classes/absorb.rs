//! One round: look, play, absorb in every class.

use std::hint::black_box;

use super::look::Norms;
use super::{Cells, Classes};
use crate::error::Result;
use crate::example::Example;
use crate::learn::frame::Boxes;
use crate::learn::lanes::coin::{COIN, clip};
use crate::learn::sound::{diverged, flushed, is_sound};
use crate::rule::coin::{Coin, Shared, WEALTH, next_reward, next_stake};
use crate::rule::{Dither, ExampleStats, Interval, Line, Rule};
use crate::simd::f64x8::F64x8;
use crate::simd::{LANES, PerLane};

/// The rule of the coin lane, and what its coordinates share.
#[derive(Clone, Copy)]
pub(super) struct Betting {
    pub rule: Coin,
    pub shared: Shared,
}

impl Default for Betting {
    fn default() -> Self {
        Betting::from(Shared::default())
    }
}

impl From<Shared> for Betting {
    fn from(shared: Shared) -> Self {
        let rule = Coin::new(WEALTH, Interval::EVERYWHERE).knowing(&shared);
        Betting { rule, shared }
    }
}

/// What is known of a round before it is learned.
#[derive(Clone, Copy)]
struct Seen {
    round: u64,
    norms: Norms,
    /// In every lane, over the classes: √Σ α² for a rule that descends, max |α| for coins.
    slope: PerLane,
    /// max |p| in every lane.
    margin: PerLane,
}

impl Seen {
    fn stats(&self, lane: usize) -> ExampleStats {
        ExampleStats {
            round: self.round,
            margin: self.margin[lane],
            slope: self.slope[lane],
            square_norm: self.norms.of_values,
            ..ExampleStats::default()
        }
    }
}

impl<R: Rule, B: Boxes, const AUTO: bool> Classes<R, B, AUTO> {
    /// Play one example, record the round and learn from it.
    #[inline(always)]
    pub(super) fn round<E: F64x8>(
        &mut self,
        simd: E,
        number: u64,
        example: &Example<'_>,
        positions: &[u32],
        features: usize,
        cells: &mut Cells,
    ) -> Result<()> {
        let (label, is_new) = self.class_of(example.label, number)?;
        let mut clipped = std::mem::take(&mut cells.clipped);
        let seen_by_rule = if AUTO { *example } else { example.played_by::<R>(&mut clipped) };
        let norms = self.look(simd, &seen_by_rule, positions, cells);
        let lost = self.lose(label, cells);
        self.play_round_of(label, &lost, cells);
        let importance = f64::from(example.importance);
        for slopes in &mut cells.slopes {
            for (lane, slope) in slopes.iter_mut().enumerate() {
                let of_coin = Self::HAS_COIN && lane == COIN;
                let norm = if of_coin { norms.of_coin } else { norms.of_values };
                *slope = flushed(importance * *slope, norm);
            }
        }
        let seen = self.seen(number, norms, cells);
        self.check(&seen_by_rule, &seen)?;
        let mut energies = [0.0; LANES];
        if self.prepare(&seen, &seen_by_rule, positions, cells) {
            energies = self.absorb(simd, &seen, &seen_by_rule, positions, cells);
        }
        self.record::<AUTO>(label, is_new, importance, features, &lost, &energies, cells);
        self.take_tangent(label, importance, &seen_by_rule, positions, cells);
        cells.clipped = clipped;
        Ok(())
    }

    /// The place of the class of a label, and whether it counts only from this round on.
    #[inline(always)]
    fn class_of(&mut self, label: f32, number: u64) -> Result<(usize, bool)> {
        match self.known.find(label) {
            Some(place) => Ok((place, false)),
            None => self.meet_class(label, number).map(|place| (place, true)),
        }
    }

    #[cold]
    #[inline(never)]
    fn meet_class(&mut self, label: f32, number: u64) -> Result<usize> {
        self.known.check_open(label, number)?;
        self.add_class(label as i32, true)
    }

    #[inline(always)]
    fn seen(&self, round: u64, norms: Norms, cells: &Cells) -> Seen {
        let (mut slope, mut margin) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        for (slopes, margins) in cells.slopes.iter().zip(&cells.margins) {
            for lane in 0..LANES {
                slope[lane] = match R::UNIT_VALUES {
                    true => slope[lane].max(slopes[lane].abs()),
                    false => slope[lane] + slopes[lane] * slopes[lane],
                };
                let size = margins[lane].abs();
                margin[lane] = if size > margin[lane] { size } else { margin[lane] };
            }
        }
        if !R::UNIT_VALUES {
            slope = slope.map(f64::sqrt);
        }
        Seen { round, norms, slope, margin }
    }

    /// Return an error before learning if margins or gradients would not fit into a float32 slot.
    #[inline(always)]
    fn check(&self, example: &Example<'_>, seen: &Seen) -> Result<()> {
        for lane in 0..if AUTO { LANES } else { 1 } {
            if !is_sound::<R>(&seen.stats(lane)) {
                return Err(diverged(example, seen.stats(lane), |slot| {
                    self.weight_in(slot, 0, lane)
                }));
            }
        }
        Ok(())
    }

    /// Compute the steps of a coupled rule, and the slopes of every line. Says whether there is anything to learn.
    #[inline(always)]
    fn prepare(
        &mut self,
        seen: &Seen,
        example: &Example<'_>,
        positions: &[u32],
        cells: &mut Cells,
    ) -> bool {
        self.line_slopes(cells);
        if R::COUPLED {
            self.couple(seen, example, positions, cells);
        }
        let Cells { line_slopes, active, .. } = cells;
        let lines = line_slopes.len() - self.coin_lines();
        active.clear();
        for (line, slopes) in line_slopes[..lines].iter().enumerate() {
            if slopes.iter().any(|&slope| slope != 0.0) {
                active.push(line as u32);
            }
        }
        Self::HAS_COIN || !active.is_empty()
    }

    /// The number of lines of the coin lane.
    fn coin_lines(&self) -> usize {
        if Self::HAS_COIN { self.known.len().div_ceil(LANES) } else { 0 }
    }

    /// The slopes in the order of the lines: class by class if AUTO, then those of the coin.
    #[inline(always)]
    fn line_slopes(&self, cells: &mut Cells) {
        let Cells { slopes, line_slopes, .. } = cells;
        line_slopes.clear();
        if AUTO {
            line_slopes.extend_from_slice(slopes);
        }
        let in_eights = if AUTO { COIN } else { 0 };
        if Self::HAS_COIN || !AUTO {
            for classes in slopes.chunks(LANES) {
                let mut eight = [0.0; LANES];
                for (own, slopes) in eight.iter_mut().zip(classes) {
                    *own = slopes[in_eights];
                }
                line_slopes.push(eight);
            }
        }
        if Self::HAS_COIN {
            for slopes in &mut line_slopes[..slopes.len()] {
                slopes[COIN] = 0.0;
            }
        }
    }

    /// The steps of a rule whose coordinates share a state. Only coordinates with a gradient are looked at.
    #[inline(never)]
    fn couple(&mut self, seen: &Seen, example: &Example<'_>, positions: &[u32], cells: &Cells) {
        let mut stats: [ExampleStats; LANES] = std::array::from_fn(|lane| seen.stats(lane));
        let lines = cells.line_slopes.len() - self.coin_lines();
        let features = example.slots.iter().zip(example.values).zip(positions);
        for ((&slot, &value), &position) in features {
            let rule = self.frame.rule_at(slot as usize);
            let block = self.table.block(position).iter().zip(&cells.line_slopes[..lines]);
            for (line, slopes) in block {
                for lane in (0..LANES).filter(|&lane| slopes[lane] != 0.0) {
                    let own = &mut stats[if AUTO { lane } else { 0 }];
                    Self::of_lane(rule, lane).look(&line.get(lane), value, own);
                }
            }
        }
        for (lane, own) in stats.iter().enumerate().take(if AUTO { LANES } else { 1 }) {
            let shared = &mut self.coupling.state[lane];
            let rule = Self::of_lane(self.frame.rule, lane);
            self.coupling.step[lane] = rule.step(shared, own);
        }
        if !AUTO {
            self.frame.rule = self.frame.rule.knowing(&self.coupling.state[0]);
        }
    }

    /// The second loop over the features; returns ½ Σ g² η of every lane, at one rate in the first.
    #[inline(always)]
    fn absorb<E: F64x8>(
        &mut self,
        simd: E,
        seen: &Seen,
        example: &Example<'_>,
        positions: &[u32],
        cells: &mut Cells,
    ) -> PerLane {
        let Cells { sums, line_slopes, active, .. } = cells;
        sums.clear();
        sums.resize(line_slopes.len(), [0.0; LANES]);
        let (rule, boxes, steps) = (self.frame.rule, &self.frame.boxes, self.coupling.step);
        let (dither, stride) = (Dither::new(seen.round), self.table.stride());
        let (coin, mut newcomers) = (self.coin.rule, [0.0_f32; LANES]);
        let coin_lines = self.capacity..self.capacity + self.coin_lines();
        let of_coin = line_slopes.len() - coin_lines.len();
        let lines = self.table.lines_mut();
        // If the compiler could prove that each line is stored to its own address, it would use masked stores of only
        // the lanes that changed (`learn/lanes/round.rs`).
        let features = example.slots.iter().zip(example.values);
        let features = features.zip(positions.iter().zip(black_box(positions)));
        for (k, ((&slot, &value), (&position, &position_again))) in features.enumerate() {
            let (rule, wide) = (boxes.rule(rule, slot as usize), f64::from(value));
            let start = position as usize * stride;
            let start_again = position_again as usize * stride;
            let square = simd.splat(wide * wide);
            for &number in &*active {
                let number = number as usize;
                let mut line = lines[start + number];
                let slopes = simd.load(&line_slopes[number]);
                let gradients = simd.narrow(simd.multiply(slopes, simd.splat(wide)));
                let mut rates = [0.0; LANES];
                for lane in 0..LANES {
                    let step = if AUTO { steps[lane] } else { steps[0] };
                    let before = line.get(lane);
                    let mut state = before;
                    let rule = Self::of_lane(rule, lane);
                    rates[lane] = rule.absorb(&mut state, value, gradients[lane], step, dither);
                    // Of the eight classes of a line some may have no gradient; at rate "auto" the rules see to it.
                    if (!AUTO || R::COUPLED) && gradients[lane] == 0.0 {
                        state = before;
                    }
                    line.put(lane, state);
                }
                lines[start_again + number] = line;
                let terms = simd.multiply(square, simd.widen(rates));
                sums[number] = simd.to_array(simd.add(simd.load(&sums[number]), terms));
            }
            if Self::HAS_COIN {
                let value = f64::from(clip(example.unit_values[k]));
                for (place, number) in coin_lines.clone().enumerate() {
                    let mut line = lines[start + number];
                    let slopes = simd.load(&line_slopes[of_coin + place]);
                    let gradients = simd.narrow(simd.multiply(slopes, simd.splat(value)));
                    bet(&mut line, &gradients, dither, &mut newcomers);
                    lines[start_again + number] = line;
                }
            }
        }
        if Self::HAS_COIN {
            let largest =
                line_slopes[of_coin..].as_flattened().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            let newcomers = newcomers.iter().map(|&count| f64::from(count)).sum();
            let shared = &mut self.coin.shared;
            shared.add(seen.norms.of_coin, largest, newcomers, WEALTH);
            self.coin.rule = coin.knowing(shared);
        }
        energies::<AUTO>(&sums[..of_coin], &line_slopes[..of_coin])
    }
}

/// Let eight coordinates of the coin lane absorb their gradients, and count those that had none before.
#[inline(always)]
fn bet<S, L: Line<S>>(
    line: &mut L,
    gradients: &[f32; LANES],
    dither: Dither,
    newcomers: &mut [f32; LANES],
) {
    let (mut rewards, mut stakes) = (*line.field(0), *line.field(1));
    for k in 0..LANES {
        let is_new = (stakes[k] == 0.0) & (gradients[k] != 0.0);
        newcomers[k] += if is_new { 1.0 } else { 0.0 };
    }
    // Loops of their own, as in `learn/lanes/coin.rs`: one for both would not be vectorised.
    for k in 0..LANES {
        rewards[k] = next_reward(rewards[k], gradients[k], dither);
    }
    for k in 0..LANES {
        stakes[k] = next_stake(stakes[k], gradients[k], dither);
    }
    (*line.field_mut(0), *line.field_mut(1)) = (rewards, stakes);
}

/// ½ Σ g² η, from Σ x² η of every line: all gradients of a line are multiples of its slopes.
#[inline(always)]
fn energies<const AUTO: bool>(sums: &[PerLane], slopes: &[PerLane]) -> PerLane {
    let mut totals = [0.0; LANES];
    for (sums, slopes) in sums.iter().zip(slopes) {
        for lane in 0..LANES {
            totals[lane] += 0.5 * slopes[lane] * slopes[lane] * sums[lane];
        }
    }
    if !AUTO {
        totals[0] = totals.iter().sum();
    }
    totals
}
