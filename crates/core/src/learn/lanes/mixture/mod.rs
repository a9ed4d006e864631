//! The mixture of the lanes: no rate to tune, at a known cost.
//!
//! Lane k runs the rule at the rate c_k = 0.0125 · 2^k and has lost L_k so far. With the shares
//! π_k ∝ exp(−η L_k) the mixture plays
//!
//! ```text
//! log odds       logit of Σ π_k σ(m_k)   η = 1/H,               H = max(1, importances so far)
//! clipped mean   Σ π_k clip(m_k, A, B)   η = 1/(2H (B − A)²),   [A, B] the labels so far
//! AdaHedge       Σ π_k m_k               η = ln 8/Δ
//! ```
//!
//! The loss's file chooses one of the three ([`Mixing`]): logistic loss uses the first, squared loss the
//! second and hinge loss the third.
//!
//! η never rises, so for every sequence (de Rooij, van Erven, Grünwald & Koolen 2014; decision 17)
//!
//! ```text
//! L_mix ≤ min_k L_k + ln 8/η + Δ,   Δ = Σ_t [loss_t + (1/η_t) ln Σ_k π_k exp(−η_t loss_t,k)]
//! ```
//!
//! Logistic loss is 1-mixable: with importances up to 1, Δ ≤ 0 and all the mixing costs at most ln 8.
//! Squared loss is 1/(2(B − A)²)-exp-concave: Δ grows only in a round whose label is outside `[A, B]`
//! or whose importance is above H; L_k is that of the clipped predictions. For hinge Δ ≥ 0 is the
//! mixability gap and the cost is 2Δ, of order √(L* ln 8). Δ is measured, so the cost is proven for any
//! sequence.
//!
//! Importances multiply losses: log loss counted h times is only 1/h-mixable, hence H.
//!
//! With a fixed share a > 0 (Herbster & Warmuth 1998), for a best lane that changes, every round ends
//! with π ← (1 − a) π + a/8, and L_k becomes −(1/η_t) ln π_k, the losses that give these shares. Then
//! (decision 18)
//!
//! ```text
//! L_mix ≤ min_k L_k + ln 8/η + Δ + A,   A = Σ_t (1/η_t) ln 1/(1 − a + a/8)
//! ```
//!
//! and against lanes that take turns, each change of lane costs ln(8/a)/η more. The twin is
//! `python/lessregret/learners/mixture.py`.

mod batch;

pub use batch::Plays;
use serde::{Deserialize, Serialize};

use crate::learn::tally::is_zero;
use crate::loss::wide::Tails;
use crate::loss::{Loss, Mixing, Tail};
use crate::simd::exp_log::{exp_neg, ln};
use crate::simd::{LANES, PerLane};

/// The rate of the first lane. Every other lane has twice the rate of the one before.
pub const LEAST_RATE: f32 = 0.0125;

/// The rates of the lanes.
pub const RATES: [f32; LANES] = rates();

const fn rates() -> [f32; LANES] {
    let mut rates = [LEAST_RATE; LANES];
    let mut lane = 1;
    while lane < LANES {
        rates[lane] = 2.0 * rates[lane - 1];
        lane += 1;
    }
    rates
}

/// The losses of the lanes in one round, not yet weighted by importance.
#[derive(Clone, Copy, Debug)]
pub struct LaneLosses {
    /// The loss of each lane.
    pub lost: PerLane,
    /// The L2 penalty of each lane, all 0 without L2.
    pub penalties: PerLane,
}

impl LaneLosses {
    /// The mixture's penalty: the mean of the lanes' penalties, weighted by the shares.
    #[inline(always)]
    pub fn mean_penalty(&self, shares: &PerLane) -> f64 {
        mean(shares, &self.penalties)
    }
}

/// The state of the mixture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    /// L_k: for clipped means, the losses of the clipped predictions; with a fixed share, the losses that
    /// give π.
    losses: PerLane,
    /// Δ, the accumulated mixability gap.
    surplus: f64,
    /// H, the largest importance so far, at least 1.
    heaviest: f64,
    /// `[A, B]`, the range of the labels so far. Kept only if predictions are clipped to it.
    labels: Option<[f64; 2]>,
    /// A, the cost of the fixed share. Written to files only if there is a fixed share.
    #[serde(default, skip_serializing_if = "is_zero")]
    sharing: f64,
}

impl Default for Mixture {
    fn default() -> Self {
        Mixture { losses: [0.0; LANES], surplus: 0.0, heaviest: 1.0, labels: None, sharing: 0.0 }
    }
}

impl Mixture {
    /// ln 8/η + Δ + A: an upper bound on the cost of mixing, against the best lane.
    pub fn cost(&self, loss: Loss) -> f64 {
        (LANES as f64).ln() / self.rate(loss) + self.surplus + self.sharing
    }

    /// π, the shares of the lanes.
    #[inline(always)]
    pub fn shares(&self, loss: Loss) -> PerLane {
        self.shares_at(self.rate(loss))
    }

    #[inline(always)]
    fn shares_at(&self, rate: f64) -> PerLane {
        let mut shares = self.gaps();
        for share in &mut shares {
            *share = decay(rate, *share);
        }
        let total = sum(shares);
        for share in &mut shares {
            *share /= total;
        }
        shares
    }

    /// The lane with the largest share, the first one on ties. Without a fixed share it has the least loss.
    pub fn best(&self) -> usize {
        let least = least(self.losses);
        self.losses.iter().position(|&lost| lost == least).unwrap_or(0)
    }

    /// The margin of the mixture. `tails` are the tails of the lanes' margins.
    #[inline(always)]
    pub fn margin(&self, loss: Loss, shares: &PerLane, margins: &PerLane, tails: &Tails) -> f64 {
        match loss.mixing() {
            Mixing::LogOdds => {
                let chances = halves(shares, margins, tails);
                match have_digits(chances) {
                    true => ln(chances[0] / chances[1]),
                    false => log_odds(self.rate(loss), &self.gaps(), margins),
                }
            }
            Mixing::ClippedMean => mean(shares, &self.clipped(margins)),
            Mixing::AdaHedge => mean(shares, margins),
        }
    }

    /// Update the mixture after a round. `lost` are the lanes' losses and `own` is the mixture's loss. With
    /// L2 both include the penalty, and `penalised` is true.
    #[inline(always)]
    pub fn absorb(
        &mut self,
        loss: Loss,
        lost: &PerLane,
        own: f64,
        h: f64,
        fixed_share: f64,
        penalised: bool,
    ) {
        if h == 0.0 {
            return;
        }
        let (rate, mut lost) = (self.rate(loss), *lost);
        for lost in &mut lost {
            *lost *= h;
        }
        // Log loss at its own rate is the mix loss: the gap is 0 and is not computed.
        let mixing = loss.mixing();
        if mixing != Mixing::LogOdds || rate * h != 1.0 || penalised {
            let surplus = h * own - self.mix_loss(rate, &lost);
            self.surplus += match mixing {
                Mixing::LogOdds | Mixing::ClippedMean => surplus,
                // A mixability gap below 0 is rounding error.
                Mixing::AdaHedge => surplus.max(0.0),
            };
        }
        for (sum, lost) in self.losses.iter_mut().zip(lost) {
            *sum += lost;
        }
        if fixed_share > 0.0 {
            self.deal(rate, fixed_share);
        }
        self.heaviest = self.heaviest.max(h);
    }

    /// The losses that the shares depend on, penalties included. For clipped means these are the losses of
    /// the clipped predictions.
    #[inline(always)]
    pub fn counted(
        &self,
        loss: Loss,
        margins: &PerLane,
        label: f64,
        suffered: &LaneLosses,
    ) -> PerLane {
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

    /// Apply the fixed share, at the rate of the round: π ← (1 − a) π + a/8.
    #[inline(never)]
    fn deal(&mut self, rate: f64, fixed_share: f64) {
        let part = fixed_share / LANES as f64;
        let dealt = |share: f64| (share - fixed_share * share + part).max(f64::MIN_POSITIVE);
        // At an infinite rate all are 0, the limit: before any loss counts, all shares are equivalent.
        self.losses = self.shares_at(rate).map(|share| -ln(dealt(share)) / rate);
        self.sharing += -(part - fixed_share).ln_1p() / rate;
    }

    /// η, the rate of the next round.
    #[inline(always)]
    fn rate(&self, loss: Loss) -> f64 {
        match (loss.mixing(), self.labels) {
            (Mixing::LogOdds, _) => 1.0 / self.heaviest,
            (Mixing::ClippedMean, Some([low, high])) => {
                1.0 / (2.0 * self.heaviest * (high - low).powi(2))
            }
            (Mixing::ClippedMean, None) => f64::INFINITY,
            (Mixing::AdaHedge, _) => (LANES as f64).ln() / self.surplus,
        }
    }

    /// −(1/η) ln Σ π_k exp(−η loss_k). For infinite η, the increase of the least loss.
    #[inline(always)]
    fn mix_loss(&self, rate: f64, lost: &PerLane) -> f64 {
        let (gaps, mut after) = (self.gaps(), *lost);
        for lane in 0..LANES {
            after[lane] += gaps[lane];
        }
        let least = least(after);
        least - (log_of_decays(rate, after, least) - log_of_decays(rate, gaps, 0.0)) / rate
    }

    /// How much more than the best lane each lane has lost.
    #[inline(always)]
    fn gaps(&self) -> PerLane {
        let (mut gaps, least) = (self.losses, least(self.losses));
        for gap in &mut gaps {
            *gap -= least;
        }
        gaps
    }

    /// The margins clipped to `[A, B]`. Without a label so far they are unchanged.
    #[inline(always)]
    fn clipped(&self, margins: &PerLane) -> PerLane {
        let [low, high] = self.labels.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let mut clipped = *margins;
        for margin in &mut clipped {
            *margin = margin.max(low).min(high);
        }
        clipped
    }
}

/// Reduce the eight lanes pairwise, as a tree. A chain through all eight would have a higher latency.
#[inline(always)]
fn fold(mut numbers: PerLane, join: impl Fn(f64, f64) -> f64) -> f64 {
    for half in [4, 2, 1] {
        for lane in 0..half {
            numbers[lane] = join(numbers[lane], numbers[lane + half]);
        }
    }
    numbers[0]
}

#[inline(always)]
fn sum(numbers: PerLane) -> f64 {
    fold(numbers, |one, other| one + other)
}

#[inline(always)]
fn least(numbers: PerLane) -> f64 {
    fold(numbers, |one, other| if one < other { one } else { other })
}

#[inline(always)]
fn mean(shares: &PerLane, numbers: &PerLane) -> f64 {
    let mut terms = *numbers;
    for lane in 0..LANES {
        terms[lane] *= shares[lane];
    }
    sum(terms)
}

/// exp(−rate · gap); 1 for gap 0 at any rate.
#[inline(always)]
fn decay(rate: f64, gap: f64) -> f64 {
    let fallen = exp_neg(rate * gap);
    if gap == 0.0 { 1.0 } else { fallen }
}

/// ln Σ exp(−rate (number_k − least)).
#[inline(always)]
fn log_of_decays(rate: f64, mut numbers: PerLane, least: f64) -> f64 {
    for number in &mut numbers {
        *number = decay(rate, *number - least);
    }
    ln(sum(numbers))
}

/// Σ π_k σ(m_k) and Σ π_k σ(−m_k), from the e^−|m_k|.
#[inline(always)]
fn halves(shares: &PerLane, margins: &PerLane, tails: &Tails) -> [f64; 2] {
    let (mut yes, mut no) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let near = shares[lane] * tails.sure[lane];
        let far = near * tails.tail[lane];
        let positive = margins[lane] >= 0.0;
        yes[lane] = if positive { near } else { far };
        no[lane] = if positive { far } else { near };
    }
    [sum(yes), sum(no)]
}

/// Whether both are normal floats. If all lanes are sure, one of them underflows.
#[inline(always)]
fn have_digits([yes, no]: [f64; 2]) -> bool {
    yes > 1e-290 && no > 1e-290
}

/// The logit of Σ π_k σ(m_k), computed with logarithms, so that shares too small for a float count.
#[cold]
#[inline(never)]
fn log_odds(rate: f64, gaps: &PerLane, margins: &PerLane) -> f64 {
    let value = |k: usize, label: f64| Tail::of(margins[k]).log_loss(margins[k], label);
    let mean = |label: f64| log_sum(std::array::from_fn(|k| -rate * gaps[k] - value(k, label)));
    mean(1.0) - mean(-1.0)
}

/// ln Σ exp(logs_k).
fn log_sum(logs: PerLane) -> f64 {
    let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
    most + ln(sum(logs.map(|log| exp_neg(most - log))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_double_from_an_eightieth_to_1_6() {
        assert_eq!((RATES[0], RATES[3], RATES[7]), (0.0125, 0.1, 1.6));
    }

    #[test]
    fn certainty_survives() {
        let (mixture, loss) = (Mixture::default(), Loss::Logistic);
        let shares = mixture.shares(loss);
        for size in [1.0, 50.0, 720.0, 5000.0] {
            for sign in [-1.0, 1.0] {
                let margins = [sign * size; LANES];
                let tails = Tails::of(loss, &margins);
                let mixed = mixture.margin(loss, &shares, &margins, &tails);
                assert!((mixed - sign * size).abs() < 1e-12 * size, "{mixed}");
            }
        }
    }

    #[test]
    fn log_loss_costs_at_most_ln_8() {
        let (mut mixture, mut own, mut sums) = (Mixture::default(), 0.0, [0.0; LANES]);
        for round in 0..2000 {
            let margins: PerLane =
                std::array::from_fn(|k| 20.0 * ((round * (k + 3)) as f64).sin() / (1.0 + k as f64));
            let label = if round % 3 == 0 { -1.0 } else { 1.0 };
            let shares = mixture.shares(Loss::Logistic);
            let tails = Tails::of(Loss::Logistic, &margins);
            let margin = mixture.margin(Loss::Logistic, &shares, &margins, &tails);
            let lost = margins.map(|margin| Loss::Logistic.value(margin, label));
            let loss = Loss::Logistic.value(margin, label);
            mixture.absorb(Loss::Logistic, &lost, loss, 1.0, 0.0, false);
            own += loss;
            sums = std::array::from_fn(|k| sums[k] + lost[k]);
            assert!(own <= least(sums) + 8f64.ln() + 1e-9);
        }
    }
}
