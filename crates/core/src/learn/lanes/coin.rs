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
use crate::rule::coin::{Coin, Shared, Slot, WEALTH};
use crate::rule::{Dither, ExampleStats, Interval, Line, Rule, Step};
use crate::simd::LANES;
use crate::simd::f64x8::F64x8;
use crate::simd::sums::Sum;

/// The lane that plays the coin.
pub const COIN: usize = LANES - 1;
const WIDTH: usize = LANES;

/// Eight features, as the coin sees them.
#[derive(Clone, Copy, Default)]
struct Group {
    values: [f32; WIDTH],
    rewards: [f32; WIDTH],
    stakes: [f32; WIDTH],
    weights: [f32; WIDTH],
}

/// Scratch memory: the features of one example, padded with values of 0.
#[derive(Default)]
pub struct Bets {
    groups: Vec<Group>,
    used: usize,
}

impl Bets {
    /// θ' and A' of feature `k`, after [`CoinLane::absorb`].
    #[inline(always)]
    pub fn slot(&self, k: usize) -> (f32, f32) {
        let group = &self.groups[k / WIDTH];
        (group.rewards[k % WIDTH], group.stakes[k % WIDTH])
    }

    /// Gather the slots of an example from the lines of the table.
    #[inline(always)]
    fn gather<S, L: Line<S>>(&mut self, lines: &[L], positions: &[u32], example: &Example<'_>) {
        self.used = positions.len().div_ceil(WIDTH);
        if self.groups.len() < self.used {
            self.groups.resize(self.used, Group::default());
        }
        let features = positions.chunks(WIDTH).zip(example.unit_values.chunks(WIDTH));
        for (group, (positions, values)) in self.groups.iter_mut().zip(features) {
            if positions.len() < WIDTH {
                *group = Group::default();
            }
            for (k, (&position, &value)) in positions.iter().zip(values).enumerate() {
                let line = &lines[position as usize];
                group.rewards[k] = line.field(0)[COIN];
                group.stakes[k] = line.field(1)[COIN];
                group.values[k] = value;
            }
            for value in &mut group.values {
                *value = clip(*value);
            }
        }
    }

    #[inline(always)]
    fn groups(&mut self) -> &mut [Group] {
        &mut self.groups[..self.used]
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
        let rule = self.rule;
        for group in bets.groups() {
            let Group { values, rewards, stakes, mut weights } = *group;
            for k in 0..WIDTH {
                weights[k] = rule.weigh(rewards[k], stakes[k]);
            }
            group.weights = weights;
            let (weights, values) = (simd.widen(weights), simd.widen(values));
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
        let slopes = simd.splat(stats.slope);
        for group in bets.groups() {
            let Group { values, mut rewards, mut stakes, weights } = *group;
            let mut gradients = simd.narrow(simd.multiply(slopes, simd.widen(values)));
            if PENALISED {
                for k in 0..WIDTH {
                    let pull = stats.shrink * f64::from(weights[k]);
                    gradients[k] = (stats.slope * f64::from(values[k]) + pull) as f32;
                }
            }
            for k in 0..WIDTH {
                let newcomer = stakes[k] == 0.0 && values[k] != 0.0;
                stats.newcomers += if newcomer { 1.0 } else { 0.0 };
            }
            for k in 0..WIDTH {
                let mut slot = Slot { reward: rewards[k], stake: stakes[k] };
                rule.absorb(&mut slot, values[k], gradients[k], Step::default(), dither);
                (rewards[k], stakes[k]) = (slot.reward, slot.stake);
            }
            (group.rewards, group.stakes) = (rewards, stakes);
        }
        rule.step(&mut self.shared, &stats);
        self.rule = rule.knowing(&self.shared);
    }
}
