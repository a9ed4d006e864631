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
//! Merging: θ and A are sums, G and N maxima, the sum and the number of the Σ z² a sum and a count.

use serde::{Deserialize, Serialize};

use super::{
    Dither, Ends, ExampleStats, Interval, Parameters, Rule, Step, interval, positive, slot,
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

/// The default wealth: 4 to 64 lose the same on 60 data sets, within half a percent (decision 27).
pub const WEALTH: f64 = 16.0;

impl Coin {
    /// The rule before the first round.
    pub fn new(wealth: f64, interval: Interval) -> Self {
        Coin { wealth, interval, largest: 1.0, bet: wealth as f32 }
    }

    /// The weights of these slots. A loop without branches, so that it vectorises.
    #[inline(always)]
    pub fn weigh(&self, reward: f32, stake: f32) -> f32 {
        let (largest, total) = (self.largest, self.largest + stake);
        let exponent = (reward / total) * (reward / (largest + largest));
        let exponent = if exponent < MOST_EXPONENT { exponent } else { MOST_EXPONENT };
        let [above, below] = tanh_parts(reward / (total + largest));
        self.bet * above * exp(exponent) / (below * (total / largest).sqrt())
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
        Coin { largest: largest as f32, bet: bet as f32, ..self }
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
        let reward = dither.subtract(slot.reward, gradient);
        let stake = dither.grow(slot.stake, gradient.abs());
        // No early return: only branchless code is vectorised.
        slot.reward = if gradient != 0.0 { reward } else { slot.reward };
        slot.stake = if gradient != 0.0 { stake } else { slot.stake };
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
}
