//! The mixture of the experts: no rate to tune, at a known cost.
//!
//! The experts are the lanes, of which lane k runs the rule at the rate 0.0125 · 3^k and the last
//! one plays the coin (eight rates 0.0125 · 2.5^k for rules other than per-coordinate), and the stack
//! (`learn/lanes/stack.rs`): K = 9. Expert k has lost L_k so far. With the shares π_k ∝ exp(−η L_k) the mixture
//! plays
//!
//! ```text
//! log odds       logit of Σ π_k σ(m_k)   η = 1/H,                         H = max(1, importances so far)
//! clipped mean   Σ π_k clip(m_k, A, B)   η = max(1/(2H (B − A)²), ln K/Δ),   [A, B] the labels so far
//! AdaHedge       Σ π_k m_k               η = ln K/Δ
//! ```
//!
//! The loss's file chooses one of the three ([`Mixing`]): logistic loss uses the first, squared loss the
//! second and hinge loss the third.
//!
//! η never rises, so for every sequence (de Rooij, van Erven, Grünwald & Koolen 2014; decision 17)
//!
//! ```text
//! L_mix ≤ min_k L_k + ln K/η + Δ,   Δ = Σ_t δ_t,   δ_t = loss_t + (1/η_t) ln Σ_k π_k exp(−η_t loss_t,k)
//! ```
//!
//! Logistic loss is 1-mixable: with importances up to 1, δ ≤ 0 and all the mixing costs at most ln K. For the
//! other two Δ is the sum of max(0, δ_t). Squared loss is 1/(2(B − A)²)-exp-concave: δ ≤ 0 once η is that
//! small, unless a label is outside `[A, B]` or an importance above H, so Δ stops at about 2(B − A)² ln K, and
//! it is often far smaller. For hinge the cost is 2Δ, of order √(L* ln K). Δ is measured, so the cost is proven
//! for any sequence.
//!
//! For squared loss the L_k above are those of the clipped predictions. Clipping brings a prediction closer to
//! every label in `[A, B]`, so only a label outside can make the clipped loss the larger one. To hold for the
//! L_k of the predictions as they are, the cost has one more term,
//!
//! ```text
//! C = Σ_t max_k max(0, h (clipped loss_t,k − loss_t,k))
//! ```
//!
//! Importances multiply losses: log loss counted h times is only 1/h-mixable, hence H.
//!
//! With a fixed share a > 0 (Herbster & Warmuth 1998), for a best expert that changes, every round ends
//! with π ← (1 − a) π + a/K. Then (decision 18)
//!
//! ```text
//! L_mix ≤ min_k L_k + ln K/η + Δ + A,   A = Σ_t (1/η_t) ln 1/(1 − a + a/K)
//! ```
//!
//! and against experts that take turns, each change costs ln(K/a)/η more.
//!
//! What is kept: without a fixed share the L_k, with one the π_k and the η at which they stand. When η falls,
//! π_k becomes π_k^(η/η_before), in proportion. How mixtures merge stands in `mixture/merge.rs`. The twin is `python/lessregret/learners/mixture.py`.

mod merge;
mod plain;
mod shares;
mod split;

use serde::{Deserialize, Serialize};

use super::experts::{EXPERTS, PerExpert, Plays, mean, sum};
use crate::learn::tally::is_zero;
use crate::loss::{Loss, Mixing, Tail};
use crate::simd::LANES;
use crate::simd::exp_log::{exp_neg, ln};
use merge::Held;
pub use plain::Played;
use shares::Standing;

/// The part of a loss up to which a gap counts as 0.
const ROUNDING: f64 = 1e-12;

/// The rate of the first lane.
const LEAST_RATE: f64 = 0.0125;
/// How many times the rate of the lane before every other lane has, with seven rates and the coin.
const RATIO: f64 = 3.0;
/// The same for a rule without a coin lane, which has eight rates.
const RATIO_OF_EIGHT: f64 = 2.5;

/// The rates of the lanes, from 0.0125 up to about 9 (7.6 for eight of them). The last one has no meaning if
/// that lane plays the coin.
pub const fn rates(has_coin: bool) -> [f32; LANES] {
    let ratio = if has_coin { RATIO } else { RATIO_OF_EIGHT };
    let (mut rates, mut power, mut lane) = ([0.0; LANES], 1.0, 0);
    while lane < LANES {
        rates[lane] = (LEAST_RATE * power) as f32;
        power *= ratio;
        lane += 1;
    }
    rates
}

/// The losses of the experts in one round, not yet weighted by importance.
#[derive(Clone, Copy, Debug)]
pub struct Suffered {
    /// The loss of each expert.
    pub lost: PerExpert,
    /// The L2 penalty of each expert, all 0 without L2.
    pub penalties: PerExpert,
}

/// The state of the mixture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    /// The losses or the shares of the experts. For clipped means the losses are those of the clipped predictions.
    standing: Standing,
    /// Δ, the accumulated mixability gap.
    surplus: f64,
    /// H, the largest importance so far, at least 1.
    heaviest: f64,
    /// `[A, B]`, the range of the labels so far. Kept only if predictions are clipped to it.
    labels: Option<[f64; 2]>,
    /// A, the cost of the fixed share. Written to files only if there is a fixed share.
    #[serde(default, skip_serializing_if = "is_zero")]
    sharing: f64,
    /// C, the cost of clipping. Written to files only if a label was outside the range of those before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    clipping: f64,
    /// What merging held back while several shards played on. Written to files only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<Held>,
}

impl Mixture {
    /// A mixture before the first round.
    pub fn new(fixed_share: f64) -> Self {
        let standing = Standing::new(fixed_share);
        let [surplus, sharing, clipping] = [0.0; 3];
        let (labels, held) = (None, None);
        Mixture { standing, surplus, heaviest: 1.0, labels, sharing, clipping, held }
    }

    /// ln K/η + Δ + A + C: an upper bound on the cost of mixing, against the best expert.
    pub fn cost(&self, loss: Loss) -> f64 {
        (EXPERTS as f64).ln() / self.rate(loss) + self.surplus + self.sharing + self.clipping
    }

    /// π, the shares of the experts.
    #[inline(always)]
    pub fn shares(&self, loss: Loss) -> PerExpert {
        self.standing.shares(self.rate(loss))
    }

    /// −ln π, except for a constant: a share too small for a float has one, too.
    pub fn log_falls(&self, loss: Loss) -> PerExpert {
        self.standing.log_falls(self.rate(loss))
    }

    /// Of so many first lanes the one with the largest share, the first one on ties.
    pub fn best_lane(&self, lanes: usize) -> usize {
        self.standing.best_lane(lanes)
    }

    /// The margin of the mixture.
    #[inline(always)]
    pub fn margin(&self, loss: Loss, shares: &PerExpert, plays: &Plays) -> f64 {
        match loss.mixing() {
            Mixing::LogOdds => {
                let (yes, no) = chances(shares, plays);
                self.log_odds(loss, [sum(&yes), sum(&no)], plays)
            }
            Mixing::ClippedMean => mean(shares, &self.clipped(&plays.margins)),
            Mixing::AdaHedge => mean(shares, &plays.margins),
        }
    }

    /// The logarithm of the odds of these chances.
    #[inline(always)]
    fn log_odds(&self, loss: Loss, chances: [f64; 2], plays: &Plays) -> f64 {
        match have_digits(chances) {
            true => ln(chances[0] / chances[1]),
            false => log_odds(&self.log_falls(loss), &plays.margins),
        }
    }

    /// Update the mixture after a round, in which it lost `own`. With L2, `own` includes the penalty, and
    /// `penalised` is true.
    #[inline(always)]
    pub fn absorb(
        &mut self,
        loss: Loss,
        counted: &PerExpert,
        own: f64,
        h: f64,
        fixed_share: f64,
        penalised: bool,
    ) {
        if h == 0.0 {
            return;
        }
        let (rate, mut lost) = (self.rate(loss), *counted);
        for lost in &mut lost {
            *lost *= h;
        }
        // Log loss at its own rate is the mix loss: the gap is 0 and is not computed.
        let mixing = loss.mixing();
        if mixing != Mixing::LogOdds || rate * h != 1.0 || penalised {
            let surplus = h * own - self.standing.mix_loss(rate, &lost);
            // What is due to rounding alone does not count: it would make an infinite η finite.
            let counts = mixing == Mixing::LogOdds || surplus > ROUNDING * h * own;
            self.surplus += if counts { surplus } else { 0.0 };
        }
        self.standing.absorb(rate, &lost, fixed_share);
        self.charge(rate, fixed_share);
        self.heaviest = self.heaviest.max(h);
    }

    /// Add a round's cost of the fixed share.
    #[inline(always)]
    fn charge(&mut self, rate: f64, fixed_share: f64) {
        self.sharing += -(fixed_share / EXPERTS as f64 - fixed_share).ln_1p() / rate;
    }

    /// Add what clipping cost in a round of this importance, before [`Mixture::meet`].
    #[inline(always)]
    pub fn charge_clipping(
        &mut self,
        loss: Loss,
        margins: &PerExpert,
        label: f64,
        importance: f64,
    ) {
        let Some([low, high]) = self.labels else { return };
        if label < low || label > high {
            self.clipping += importance * self.cost_of_clipping(loss, margins, label);
        }
    }

    /// max_k max(0, clipped loss_k − loss_k).
    #[cold]
    #[inline(never)]
    fn cost_of_clipping(&self, loss: Loss, margins: &PerExpert, label: f64) -> f64 {
        let pairs = self.clipped(margins).into_iter().zip(margins);
        let costs = pairs.map(|(near, &far)| loss.value(near, label) - loss.value(far, label));
        costs.fold(0.0, f64::max)
    }

    /// Whether rounds with these importances are plain: log loss, a fixed share, importance 1, no penalty.
    pub fn is_plain(&self, loss: Loss, importances: &[f64]) -> bool {
        let shared = matches!(self.standing, Standing::Shares { .. });
        let mut plain = shared && loss.mixing() == Mixing::LogOdds && self.heaviest == 1.0;
        for &importance in importances {
            plain &= importance == 1.0;
        }
        plain
    }

    /// The losses that the shares depend on, penalties included. For clipped means these are the losses of
    /// the clipped predictions.
    #[inline(always)]
    pub fn counted(
        &self,
        loss: Loss,
        margins: &PerExpert,
        label: f64,
        suffered: &Suffered,
    ) -> PerExpert {
        let mut lost = suffered.lost;
        if loss.mixing().clips() {
            lost = self.clipped(margins);
            for lost in &mut lost {
                *lost = loss.value(*lost, label);
            }
        }
        for (lost, penalty) in lost.iter_mut().zip(suffered.penalties) {
            *lost += penalty;
        }
        lost
    }

    /// Widen the range `[A, B]` of the labels, if predictions are clipped to it, after a round of this
    /// importance.
    #[inline(always)]
    pub fn meet(&mut self, loss: Loss, label: f64, importance: f64) {
        if loss.mixing().clips() && importance > 0.0 {
            let [low, high] = self.labels.unwrap_or([label; 2]);
            self.labels = Some([low.min(label), high.max(label)]);
        }
    }

    /// η, the rate of the next round.
    #[inline(always)]
    fn rate(&self, loss: Loss) -> f64 {
        let of_gap = (EXPERTS as f64).ln() / self.surplus;
        match (loss.mixing(), self.labels) {
            (Mixing::LogOdds, _) => 1.0 / self.heaviest,
            (Mixing::ClippedMean, Some([low, high])) => {
                of_gap.max(1.0 / (2.0 * self.heaviest * (high - low).powi(2)))
            }
            (Mixing::ClippedMean, None) => f64::INFINITY,
            (Mixing::AdaHedge, _) => of_gap,
        }
    }

    /// The margins clipped to `[A, B]`. Without a label so far they are unchanged.
    #[inline(always)]
    fn clipped(&self, margins: &PerExpert) -> PerExpert {
        let [low, high] = self.labels.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let mut clipped = *margins;
        for margin in &mut clipped {
            *margin = margin.max(low).min(high);
        }
        clipped
    }
}

/// π_k σ(m_k) and π_k σ(−m_k), from the e^−|m_k|.
#[inline(always)]
fn chances(shares: &PerExpert, plays: &Plays) -> (PerExpert, PerExpert) {
    let (mut yes, mut no) = ([0.0; EXPERTS], [0.0; EXPERTS]);
    for expert in 0..EXPERTS {
        let near = shares[expert] * plays.sure[expert];
        let far = near * plays.tail[expert];
        let positive = plays.margins[expert] >= 0.0;
        yes[expert] = if positive { near } else { far };
        no[expert] = if positive { far } else { near };
    }
    (yes, no)
}

/// Whether both are normal floats. If all experts are sure, one of them underflows.
#[inline(always)]
fn have_digits([yes, no]: [f64; 2]) -> bool {
    yes > 1e-290 && no > 1e-290
}

/// The logit of Σ π_k σ(m_k), computed with logarithms from −ln π_k, so that shares and probabilities too small
/// for a float count.
#[cold]
#[inline(never)]
fn log_odds(falls: &PerExpert, margins: &PerExpert) -> f64 {
    let value = |k: usize, label: f64| Tail::of(margins[k]).log_loss(margins[k], label);
    let mean = |label: f64| log_sum(std::array::from_fn(|k| -falls[k] - value(k, label)));
    mean(1.0) - mean(-1.0)
}

/// ln Σ exp(logs_k).
fn log_sum(logs: PerExpert) -> f64 {
    let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
    most + ln(sum(&logs.map(|log| exp_neg(most - log))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::lanes::experts::least;
    use crate::learn::lanes::stack::Stack;
    use crate::loss::wide::Tails;
    use crate::simd::PerLane;

    const LOSS: Loss = Loss::Logistic;

    #[test]
    fn rates_rise_from_an_eightieth() {
        let (with_coin, eight) = (rates(true), rates(false));
        assert_eq!((with_coin[0], with_coin[1], with_coin[6]), (0.0125, 0.0375, 9.1125));
        assert_eq!((eight[0], eight[1], eight[7]), (0.0125, 0.031_25, 7.629_394_5));
    }

    fn plays(margins: &PerLane) -> Plays {
        Plays::new(LOSS, margins, &Tails::of(LOSS, margins), &Stack::default(), 0.0)
    }

    fn lost(plays: &Plays, label: f64) -> PerExpert {
        plays.margins.map(|margin| LOSS.value(margin, label))
    }

    #[test]
    fn certainty_survives() {
        for fixed_share in [0.0, 1e-4] {
            let mixture = Mixture::new(fixed_share);
            let shares = mixture.shares(LOSS);
            for margin in [1.0, -1.0, 29.0, -29.0, 720.0, -5000.0] {
                let mixed = mixture.margin(LOSS, &shares, &plays(&[margin; LANES]));
                // The stack does not follow beyond 30: its share of the chance remains.
                let least = margin.abs().min(30.0) * 0.99;
                assert!(mixed.abs() >= least && mixed.signum() == margin.signum(), "{mixed}");
            }
        }
    }

    /// Margins and labels without sense, in which no expert stays the best.
    fn round(t: usize) -> (PerLane, f64) {
        let margin = |k: usize| 20.0 * ((t * (k + 3)) as f64).sin() / (1.0 + k as f64);
        (std::array::from_fn(margin), if t.is_multiple_of(3) { -1.0 } else { 1.0 })
    }

    #[test]
    fn log_loss_costs_at_most_ln_9_and_the_price_of_the_share() {
        for fixed_share in [0.0, 1e-4, 0.01] {
            let (mut mixture, mut own, mut sums) = (Mixture::new(fixed_share), 0.0, [0.0; EXPERTS]);
            for t in 0..2000 {
                let (margins, label) = round(t);
                let plays = plays(&margins);
                let margin = mixture.margin(LOSS, &mixture.shares(LOSS), &plays);
                let lost = lost(&plays, label);
                own += LOSS.value(margin, label);
                mixture.absorb(LOSS, &lost, LOSS.value(margin, label), 1.0, fixed_share, false);
                sums = std::array::from_fn(|k| sums[k] + lost[k]);
                let price = (t + 1) as f64 * -(fixed_share / 9.0 - fixed_share).ln_1p();
                assert!((mixture.cost(LOSS) - 9f64.ln() - price).abs() < 1e-9);
                assert!(own <= least(&sums) + mixture.cost(LOSS) + 1e-9);
            }
        }
    }

    #[test]
    fn clipping_costs_only_at_labels_outside_the_range() {
        let (mut mixture, loss) = (Mixture::new(0.0), Loss::Squared);
        let margins = [0.5, 3.0, -2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let mut charged = |label| {
            let before = mixture.clipping;
            mixture.charge_clipping(loss, &margins, label, 2.0);
            mixture.meet(loss, label, 2.0);
            mixture.clipping - before
        };
        // Without a range nothing is clipped; at 0 the range is one point.
        assert_eq!((charged(0.0), charged(1.0)), (0.0, 2.0 * (1.0 - 0.0)));
        // In [0, 1] the margin 3 is clipped to 1, which loses 4 at the label 3, and 3 loses nothing.
        assert_eq!((charged(0.25), charged(3.0), charged(2.0)), (0.0, 2.0 * 4.0, 0.0));
    }

    #[test]
    fn a_plain_round_is_a_round() {
        let (mut one, mut other) = (Mixture::new(1e-3), Mixture::new(1e-3));
        for t in 0..500 {
            let (margins, label) = round(t);
            let plays = plays(&margins);
            let margin = one.margin(LOSS, &one.shares(LOSS), &plays);
            let played = match other.play_plain(LOSS, &plays, &lost(&plays, label), label, 1e-3) {
                Played::Odds(odds) => ln(odds),
                Played::Margin(margin) => margin,
            };
            assert!((margin - played).abs() < 1e-9 * (1.0 + margin.abs()));
            let own = LOSS.value(margin, label);
            one.absorb(LOSS, &lost(&plays, label), own, 1.0, 1e-3, false);
            for (a, b) in one.shares(LOSS).into_iter().zip(other.shares(LOSS)) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }
}
