//! Coin betting on every coordinate: no rate at all.
//!
//! ```text
//! Plays     w = (ε/G) tanh(θ/(A + 2G)) F,   F = exp(θ²/(2G(G + A)))/√(1 + A/G),   ε = wealth/N
//! Slot      reward θ = −Σ g,  stake A = Σ |g|
//! Shared    G = max(1, |g| so far),  N = max(1, the largest mean so far of Σ z² over the examples)
//! Values    z, from −1 to 1, the unit values, so that |g| ≤ G
//! Regret    Σ_i [ε_i + |u_i| √(α ln(1 + α u_i²/β²)) − β],  α = G(G + A),  β = ε/√(1 + A/G), for every u;
//!           ε_i is ε when the feature was met. Proved while no |g| is above 1, so that G = 1
//! Source    Orabona & Pál 2016 (potentials, Lemma 18); Orabona & Tommasi 2017, Algorithm 1 (the bet)
//! Departs   the wealth is replaced by ε F, which it is never below, so that two floats are enough; ε falls
//!           as N rises; G may grow (squared loss, importances above 1), and then no bound is reported
//! ```
//!
//! A gambler with the wealth ε bets a part tanh(…) of it on the sign of every next gradient. F is a potential:
//! F(θ − g, A + |g|) ≤ F(θ, A) (1 − g/G tanh(θ/(A + 2G))) for |g| ≤ G, so the wealth stays above ε F, also when
//! ε falls. The wealth that the gambler won is the loss that the weight saved.
//!
//! N divides the wealth by the number of coordinates that move together. The radius is only that of the points
//! that the bound compares with; weights are not clipped to it.
//!
//! Merging: A is a sum, and θ the reward at which the coordinate plays the merged weight, as in `rule/merging.rs`. Rewards
//! are not added up: every shard makes up for what the start was short of, the weight is exponential in θ, and so the
//! sum of K moves overshoots by a factor that is exponential in K. Around a weight the coin is descent with the rate
//! c/√S, S = G(G + A), c = √S ∂w/∂θ. For calibrated log loss on values of 1, E|g| = 2p(1 − p) = 2 E g², so half of
//! G·A is about Σ g², and half of c enters f in place of c. c changes on the way; the largest of all shards and
//! of the start is taken, which errs towards the mean. f is concave and 0 at 0, so no move counts more than once: the
//! merged weight is within Σ|Δw_k| of the start's. |θ| ≤ A is kept, without which the potential proves nothing, so
//! that the gambler, who goes on with the wealth εF of the new slot, is never in debt. G and N are
//! maxima, the sum and the number of the Σ z² a sum and a count.

use serde::{Deserialize, Serialize};

use super::{
    Dither, Ends, ExampleStats, Heavy, Interval, Merges, Merging, NewUnit, Parameters, Rule, Step,
    interval, merging::merged_count, merging::merged_sum, merging::only_moved, narrowed,
    narrowed_sum, positive, slot,
};
use crate::error::Result;
use crate::simd::exp_tanh::{MOST_EXPONENT, exp, tanh_parts};

slot! {
    /// The reward θ and the stake A.
    Slot {
        /// θ = −Σ g
        reward,
        /// A = Σ |g|
        stake
    }
}

/// Coin betting on every coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Coin {
    wealth: f64,
    interval: Interval,
    /// G
    largest: f32,
    /// ε/G
    bet: f32,
    /// 1/G
    inverse: f32,
}

/// The state that all coordinates share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The largest |g| so far; G is this, and at least 1.
    largest: f64,
    /// The number of examples.
    examples: u64,
    /// Σ z² over all examples.
    squares: f64,
    /// The largest mean of Σ z² so far; N is this, and at least 1.
    size: f64,
    /// Σ_i ε_i over the coordinates that were met.
    granted: f64,
}

impl Shared {
    fn size(&self) -> f64 {
        self.size.max(1.0)
    }

    /// The state of one learner, from those of shards that went on from one.
    pub fn merged(start: &Shared, shards: &[Shared]) -> Shared {
        if let Some(only) = only_moved(start, shards) {
            return *only;
        }
        let sum = |field: fn(&Shared) -> f64| merged_sum(field(start), shards.iter().map(field));
        let most =
            |field: fn(&Shared) -> f64| shards.iter().map(field).fold(field(start), f64::max);
        Shared {
            largest: most(|shared| shared.largest),
            examples: merged_count(start.examples, shards.iter().map(|shared| shared.examples)),
            squares: sum(|shared| shared.squares),
            size: most(|shared| shared.size),
            granted: sum(|shared| shared.granted),
        }
    }

    /// Add one example: its Σ z², its largest |g|, and the number of coordinates that were met in it first.
    pub fn add(&mut self, squares: f64, largest: f64, newcomers: f64, wealth: f64) {
        self.examples += 1;
        self.squares += squares;
        self.size = self.size.max(self.squares / self.examples as f64);
        self.largest = self.largest.max(largest);
        self.granted += newcomers * wealth / self.size();
    }
}

/// The parameters of [`Coin`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoinParameters {
    /// ε N, the wealth of a coordinate before it is divided.
    pub wealth: f64,
    /// R of the box `[-R, R]` that the bound is about.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

/// A reward whose square is nothing beside 1.
const TINY: f32 = 1e-12;

/// The default wealth: 4 to 64 lose the same on 60 data sets, within half a percent (decision 27).
pub const WEALTH: f64 = 16.0;

impl Coin {
    /// The rule before the first round.
    pub fn new(wealth: f64, interval: Interval) -> Self {
        Coin { wealth, interval, largest: 1.0, bet: wealth as f32, inverse: 1.0 }
    }

    /// The weights of these slots. A loop without branches, so that it vectorises.
    #[inline(always)]
    pub fn weigh(&self, reward: f32, stake: f32) -> f32 {
        let (largest, total) = (self.largest, self.largest + stake);
        // At least so large that no product below is subnormal, which would be slow. e^0 does not notice.
        let size = if reward.abs() > TINY { reward.abs() } else { TINY };
        let exponent = (size / total) * (size * (0.5 * self.inverse));
        let exponent = if exponent < MOST_EXPONENT { exponent } else { MOST_EXPONENT };
        let [above, below] = tanh_parts(reward / (total + largest));
        self.bet * above * exp(exponent) / (below * (total * self.inverse).sqrt())
    }

    /// The functions of a slot in float64.
    fn wide(&self) -> Wide {
        let largest = f64::from(self.largest);
        Wide { largest, wealth: f64::from(self.bet) * largest }
    }

    /// What the bound says of a coordinate beside ε_i.
    fn price(&self, slot: &Slot) -> f64 {
        let (largest, stake) = (f64::from(self.largest), f64::from(slot.stake));
        let Interval { low, high } = self.interval;
        let reach = f64::from(low.abs().max(high.abs()));
        let (alpha, epsilon) = (largest * (largest + stake), f64::from(self.bet) * largest);
        let beta = epsilon / (1.0 + stake / largest).sqrt();
        reach * (alpha * (alpha * (reach / beta).powi(2)).ln_1p()).sqrt() - beta
    }
}

/// The functions of a slot in float64, for merging.
#[derive(Clone, Copy, Debug)]
struct Wide {
    /// G
    largest: f64,
    /// ε
    wealth: f64,
}

/// The most steps of the search for a reward; halving alone needs as many for all digits.
const STEPS: usize = 64;

impl Wide {
    /// S = G(G + A)
    fn energy(&self, stake: f64) -> f64 {
        self.largest * (self.largest + stake)
    }

    /// √S εF/G, and the tangent hyperbolic: their product is √S w.
    fn parts(&self, slot: &Slot) -> [f64; 2] {
        let (reward, stake) = (f64::from(slot.reward), f64::from(slot.stake));
        let exponent = (reward * reward / (2.0 * self.energy(stake))).min(MOST_EXPONENT.into());
        [self.wealth * exponent.exp(), (reward / (stake + 2.0 * self.largest)).tanh()]
    }

    /// The weight and S.
    fn heavy(&self, slot: &Slot) -> Heavy {
        let (energy, [potential, part]) = (self.energy(slot.stake.into()), self.parts(slot));
        Heavy { weight: potential * part / energy.sqrt(), energy }
    }

    /// c = √S ∂w/∂θ
    fn rate(&self, slot: &Slot) -> f64 {
        let (stake, [potential, part]) = (f64::from(slot.stake), self.parts(slot));
        let bent = (1.0 - part * part) / (stake + 2.0 * self.largest);
        potential * (part * f64::from(slot.reward) / self.energy(stake) + bent)
    }

    /// The reward within [−A, A] at which the weight is this one, or nearest to it: the root of
    /// ln tanh(θ/(A + 2G)) + θ²/2S = ln(√S w/ε), by Newton's method within a shrinking interval.
    fn reward(&self, weight: f64, stake: f64) -> f64 {
        if weight == 0.0 {
            return 0.0;
        }
        let (energy, width) = (self.energy(stake), stake + 2.0 * self.largest);
        let goal = (weight.abs() * energy.sqrt() / self.wealth).ln();
        let value =
            |reward: f64| (reward / width).tanh().ln() + reward * reward / (2.0 * energy) - goal;
        if value(stake) <= 0.0 {
            return stake.copysign(weight);
        }
        // tanh x is at most x and e^x at least 1, so this is near the root if the root is near 0.
        let [mut low, mut high, mut reward] = [0.0, stake, (goal.exp() * width).min(stake)];
        for _ in 0..STEPS {
            let off = value(reward);
            if off > 0.0 {
                high = reward
            } else {
                low = reward
            }
            let slope = 2.0 / (width * (2.0 * reward / width).sinh()) + reward / energy;
            let next = reward - off / slope;
            let inside = low < next && next < high;
            let next = if inside { next } else { 0.5 * (low + high) };
            if (next - reward).abs() <= f64::EPSILON * reward {
                break;
            }
            reward = next;
        }
        reward.copysign(weight)
    }
}

/// θ after a gradient. Two functions, each for a loop of its own: with one loop for both, the compiler branches
/// on the gradient, and does not vectorise.
#[inline(always)]
pub fn next_reward(reward: f32, gradient: f32, dither: Dither) -> f32 {
    let next = dither.subtract(reward, gradient);
    if gradient != 0.0 { next } else { reward }
}

/// A after a gradient.
#[inline(always)]
pub fn next_stake(stake: f32, gradient: f32, dither: Dither) -> f32 {
    let next = dither.grow(stake, gradient.abs());
    if gradient != 0.0 { next } else { stake }
}

impl Parameters for CoinParameters {
    type Rule = Coin;

    fn rule(&self) -> Result<Coin> {
        let wealth = f64::from(positive("wealth", self.wealth)?);
        Ok(Coin::new(wealth, interval(self.radius, self.r#box)?))
    }
}

impl Rule for Coin {
    type Slot = Slot;
    type Shared = Shared;
    const COUPLED: bool = true;
    const UNIT_VALUES: bool = true;
    const MERGES: Merges = Merges::Always;

    fn interval(&self) -> Interval {
        self.interval
    }

    #[inline]
    fn within(self, interval: Interval) -> Self {
        Coin { interval, ..self }
    }

    fn knowing(self, shared: &Shared) -> Self {
        let largest = shared.largest.max(1.0);
        let bet = self.wealth / shared.size() / largest;
        Coin { largest: largest as f32, bet: bet as f32, inverse: (1.0 / largest) as f32, ..self }
    }

    fn is_proved(&self, shared: &Shared) -> bool {
        shared.largest <= 1.0
    }

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        self.weigh(slot.reward, slot.stake)
    }

    #[inline]
    fn absorb(
        &self,
        slot: &mut Slot,
        _value: f32,
        gradient: f32,
        _step: Step,
        dither: Dither,
    ) -> f32 {
        *slot = Slot {
            reward: next_reward(slot.reward, gradient, dither),
            stake: next_stake(slot.stake, gradient, dither),
        };
        0.0
    }

    #[inline]
    fn look(&self, slot: &Slot, value: f32, stats: &mut ExampleStats) {
        if slot.stake == 0.0 && value != 0.0 {
            stats.newcomers += 1.0;
        }
    }

    fn step(&self, shared: &mut Shared, stats: &ExampleStats) -> Step {
        // With L2 a gradient is slope z + shrink w, and |w| is at most the length of all weights.
        let largest = stats.slope.abs() + stats.shrink * stats.square_weights.sqrt();
        let newcomers = if stats.slope != 0.0 { stats.newcomers } else { 0.0 };
        shared.add(stats.square_norm, largest, newcomers, self.wealth);
        Step::default()
    }

    fn spread(&self, slot: &Slot, _step: Step) -> f64 {
        self.price(slot)
    }

    fn shared_spread(&self, shared: &Shared) -> f64 {
        shared.granted
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        let wide = self.wide();
        let rates = shards.iter().chain([start]).map(|slot| wide.rate(slot));
        let rate = 0.5 * rates.fold(0.0, f64::max);
        let shards: Vec<_> = shards.iter().map(|slot| wide.heavy(slot)).collect();
        let merged = merging.heavy(wide.heavy(start), &shards, rate);
        let stake = narrowed_sum(merged.energy / wide.largest - wide.largest);
        let reward = wide.reward(merged.weight, stake.into());
        Slot { reward: narrowed(reward, Interval { low: -stake, high: stake }), stake }
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        let reward = f64::from(slot.reward) * unit.gradient;
        Slot {
            reward: narrowed(reward, Interval::EVERYWHERE),
            stake: narrowed_sum(f64::from(slot.stake) * unit.gradient),
        }
    }

    fn merge_shared(&self, start: &Shared, shards: &[Shared]) -> Shared {
        Shared::merged(start, shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::merging::How;

    const MERGING: Merging = Merging { how: How::Matched, curvature: 2.0, square: 1.0 };

    fn known(largest: f64, size: f64) -> Coin {
        let shared = Shared { largest, size, ..Shared::default() };
        Coin::new(WEALTH, Interval::EVERYWHERE).knowing(&shared)
    }

    #[test]
    fn a_reward_is_found_by_its_weight() {
        for (largest, size) in [(0.0, 0.0), (3.0, 40.0), (1e4, 1.0)] {
            let wide = known(largest, size).wide();
            for stake in [1e-9_f32, 0.3, 1.0, 77.0, 1e4, 1e9] {
                for part in [-1.0, -0.9, -0.01, -1e-7, 0.0, 1e-12, 1e-3, 0.3, 0.999] {
                    let slot = Slot { reward: part * stake, stake };
                    if f64::from(slot.reward).powi(2) > 2.0 * 80.0 * wide.energy(stake.into()) {
                        continue;
                    }
                    let found = wide.reward(wide.heavy(&slot).weight, stake.into());
                    let error = (found - f64::from(slot.reward)).abs();
                    assert!(error <= 1e-9 * f64::from(stake), "{slot:?} {found}");
                    assert!(error <= 1e-6 * f64::from(slot.reward).abs(), "{slot:?} {found}");
                }
                assert_eq!(wide.reward(f64::INFINITY, stake.into()), f64::from(stake));
                assert_eq!(wide.reward(f64::NEG_INFINITY, stake.into()), -f64::from(stake));
            }
            assert_eq!(wide.reward(0.5, 0.0), 0.0);
        }
    }

    #[test]
    fn wide_weights_and_rates_are_those_that_are_played() {
        let (rule, slot) = (known(2.0, 5.0), Slot { reward: 12.0, stake: 40.0 });
        let (wide, near) = (rule.wide(), Slot { reward: 12.01, ..slot });
        let weight = wide.heavy(&slot).weight;
        assert!((weight - f64::from(rule.weight(&slot, 1.0))).abs() < 1e-5 * weight);
        let slope = (wide.heavy(&near).weight - weight) / f64::from(near.reward - slot.reward);
        let rate = wide.energy(40.0).sqrt() * slope;
        assert!((wide.rate(&slot) / rate - 1.0).abs() < 1e-2, "{rate}");
    }

    #[test]
    fn shards_that_overshot_together_do_not_overshoot_again() {
        let (rule, start) = (known(1.0, 1.0), Slot { reward: 0.0, stake: 10.0 });
        // All shards found the same weight, which the sum of their rewards would exceed 10^30 times.
        let shards = [Slot { reward: 30.0, stake: 60.0 }; 16];
        let merged = rule.merge(&start, &shards, &MERGING);
        let (found, played) = (rule.weight(&merged, 1.0), rule.weight(&shards[0], 1.0));
        assert!((found / played - 1.0).abs() < 1e-3, "{found} {played}");
        assert_eq!(merged.stake, 10.0 + 16.0 * 50.0);
    }
}
