//! The coin lane: the last lane of the default learner plays the rule `coin`.
//!
//! The lines of the table have two floats a lane (`rule/per_coordinate.rs`): in the last lane the first holds
//! the reward θ and the second the stake A. The loops over the lanes compute a rate's numbers there, which are
//! replaced. Its own work is done for eight features at a time, because its functions are costly:
//!
//! ```text
//! look     gather θ and A, compute the weights, margin = Σ w z     before the loop over lanes
//! absorb   θ' and A', which the loop over lanes stores             before the loop over lanes
//! ```
//!
//! State and margins are bit-identical to those of a [`Single`](crate::learn::single::Single) with the rule.

use crate::example::Example;
use crate::rule::coin::{Coin, Shared, WEALTH, next_reward, next_stake};
use crate::rule::{Dither, ExampleStats, Interval, Line, Rule};
use crate::simd::LANES;
use crate::simd::f64x8::F64x8;
use crate::simd::sums::Sum;

/// The lane that plays the coin.
pub const COIN: usize = LANES - 1;
const WIDTH: usize = LANES;

/// Scratch memory: the features of one example, padded to a multiple of eight with values of 0.
#[derive(Default)]
pub struct Bets {
    values: Vec<[f32; WIDTH]>,
    rewards: Vec<[f32; WIDTH]>,
    stakes: Vec<[f32; WIDTH]>,
    weights: Vec<[f32; WIDTH]>,
    next_rewards: Vec<[f32; WIDTH]>,
    next_stakes: Vec<[f32; WIDTH]>,
}

impl Bets {
    /// θ' and A' of every feature, after [`CoinLane::absorb`].
    #[inline(always)]
    pub fn next(&self) -> (&[f32], &[f32]) {
        (self.next_rewards.as_flattened(), self.next_stakes.as_flattened())
    }

    /// w z of a feature, after [`CoinLane::look`].
    pub fn part(&self, k: usize) -> f64 {
        let (weights, values) = (self.weights.as_flattened(), self.values.as_flattened());
        f64::from(weights[k]) * f64::from(values[k])
    }

    /// Gather the slots of an example from the lines of the table.
    #[inline(always)]
    fn gather<S, L: Line<S>>(&mut self, lines: &[L], positions: &[u32], example: &Example<'_>) {
        let Bets { values, rewards, stakes, .. } = self;
        for list in [&mut *values, &mut *rewards, &mut *stakes] {
            list.clear();
        }
        let (slots, rest) = positions.as_chunks::<WIDTH>();
        for slots in slots {
            let (mut own_rewards, mut own_stakes) = ([0.0; WIDTH], [0.0; WIDTH]);
            for k in 0..WIDTH {
                let line = &lines[slots[k] as usize];
                (own_rewards[k], own_stakes[k]) = (line.field(0)[COIN], line.field(1)[COIN]);
            }
            rewards.push(own_rewards);
            stakes.push(own_stakes);
        }
        let (full, last) = example.unit_values.as_chunks::<WIDTH>();
        values.extend_from_slice(full);
        if !rest.is_empty() {
            let (mut own_values, mut own_rewards, mut own_stakes) =
                ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
            for (k, &position) in rest.iter().enumerate() {
                let line = &lines[position as usize];
                (own_rewards[k], own_stakes[k]) = (line.field(0)[COIN], line.field(1)[COIN]);
                own_values[k] = last[k];
            }
            values.push(own_values);
            rewards.push(own_rewards);
            stakes.push(own_stakes);
        }
    }
}

/// The value within [−1, 1] that is nearest.
#[inline(always)]
pub fn clip(value: f32) -> f32 {
    let value = if value < 1.0 { value } else { 1.0 };
    if value > -1.0 { value } else { -1.0 }
}

/// What the coin lane plays in a round.
#[derive(Clone, Copy, Default)]
pub struct Play {
    pub margin: f64,
    pub square_norm: f64,
    pub square_weights: f64,
}

/// The coin lane beside its slots.
#[derive(Clone, Copy)]
pub struct CoinLane {
    rule: Coin,
    shared: Shared,
}

impl Default for CoinLane {
    fn default() -> Self {
        CoinLane::from(Shared::default())
    }
}

impl From<Shared> for CoinLane {
    fn from(shared: Shared) -> Self {
        let rule = Coin::new(WEALTH, Interval::EVERYWHERE).knowing(&shared);
        CoinLane { rule, shared }
    }
}

impl CoinLane {
    /// The state as in the model file.
    pub fn shared(&self) -> Shared {
        self.shared
    }

    /// The rule of this lane, which knows its shared state.
    pub fn rule(&self) -> Coin {
        self.rule
    }

    /// Compute the weights of an example and what they play.
    #[inline(always)]
    pub fn look<E: F64x8, S, L: Line<S>>(
        &self,
        simd: E,
        lines: &[L],
        positions: &[u32],
        example: &Example<'_>,
        bets: &mut Bets,
    ) -> Play {
        bets.gather(lines, positions, example);
        let zeros = simd.splat(0.0);
        let (mut margin, mut square_norm, mut square_weights) = (zeros, zeros, zeros);
        let (rule, Bets { values, rewards, stakes, weights, .. }) = (self.rule, bets);
        weights.clear();
        for ((values, rewards), stakes) in values.iter_mut().zip(&*rewards).zip(&*stakes) {
            let mut own = [0.0; WIDTH];
            for k in 0..WIDTH {
                own[k] = rule.weigh(rewards[k], stakes[k]);
            }
            weights.push(own);
            let mut clipped = *values;
            for value in &mut clipped {
                *value = clip(*value);
            }
            *values = clipped;
            let (weights, values) = (simd.widen(own), simd.widen(clipped));
            margin = simd.add(margin, simd.multiply(weights, values));
            square_norm = simd.add(square_norm, simd.multiply(values, values));
            square_weights = simd.add(square_weights, simd.multiply(weights, weights));
        }
        Play {
            margin: Sum::of(simd.to_array(margin)).total(),
            square_norm: Sum::of(simd.to_array(square_norm)).total(),
            square_weights: Sum::of(simd.to_array(square_weights)).total(),
        }
    }

    /// Absorb the gradients slope · z + shrink · w of the example that was looked at last.
    #[inline(always)]
    pub fn absorb<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        stats: &ExampleStats,
        bets: &mut Bets,
    ) {
        let mut stats = *stats;
        let (rule, dither) = (self.rule, Dither::new(stats.round));
        let (slopes, mut newcomers) = (simd.splat(stats.slope), [0.0_f32; WIDTH]);
        let Bets { values, rewards, stakes, weights, next_rewards, next_stakes } = bets;
        next_rewards.clear();
        next_stakes.clear();
        let slots = values.iter().zip(&*rewards).zip(stakes.iter().zip(&*weights));
        for ((values, rewards), (stakes, weights)) in slots {
            let mut gradients = simd.narrow(simd.multiply(slopes, simd.widen(*values)));
            if PENALISED {
                for k in 0..WIDTH {
                    let pull = stats.shrink * f64::from(weights[k]);
                    gradients[k] = (stats.slope * f64::from(values[k]) + pull) as f32;
                }
            }
            let mut own = *rewards;
            for k in 0..WIDTH {
                own[k] = next_reward(own[k], gradients[k], dither);
            }
            next_rewards.push(own);
            let mut own = *stakes;
            for k in 0..WIDTH {
                own[k] = next_stake(own[k], gradients[k], dither);
            }
            next_stakes.push(own);
            for k in 0..WIDTH {
                let is_new = (stakes[k] == 0.0) & (values[k] != 0.0);
                newcomers[k] += if is_new { 1.0 } else { 0.0 };
            }
        }
        stats.newcomers = newcomers.iter().map(|&count| f64::from(count)).sum();
        rule.step(&mut self.shared, &stats);
        self.rule = rule.knowing(&self.shared);
    }
}
