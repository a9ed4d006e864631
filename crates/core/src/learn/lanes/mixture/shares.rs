//! What the shares of the experts are computed from: their losses or, with a fixed share, the shares themselves.

use serde::{Deserialize, Serialize};

use crate::learn::lanes::experts::{EXPERTS, PerExpert, least, sum};
use crate::simd::exp_log::{exp_neg, ln};

/// Equal shares.
const EQUAL: PerExpert = [1.0 / EXPERTS as f64; EXPERTS];

/// What the shares are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Standing {
    /// Without a fixed share: L_k, from which a share that is too small for a float can come back.
    Losses {
        /// L_k
        losses: PerExpert,
    },
    /// With a fixed share, which keeps every share above a/K: π, and the rate η at which it stands. It is None
    /// while η is infinite: then no loss has counted yet, and all shares are equal.
    Shares {
        /// π
        shares: PerExpert,
        /// η
        at_rate: Option<f64>,
    },
}

impl Standing {
    /// Before the first round.
    pub fn new(fixed_share: f64) -> Self {
        if fixed_share > 0.0 {
            Standing::Shares { shares: EQUAL, at_rate: None }
        } else {
            Standing::Losses { losses: [0.0; EXPERTS] }
        }
    }

    /// L_k; zeros with a fixed share, which does not keep them.
    pub fn losses(&self) -> PerExpert {
        match self {
            Standing::Losses { losses } => *losses,
            Standing::Shares { .. } => [0.0; EXPERTS],
        }
    }

    /// π_0 Π (π_s/π_0)^part at a rate, in proportion. No share falls to 0, from which it could not come back.
    pub fn product(start: &Standing, shards: &[Standing], part: f64, rate: f64) -> Standing {
        if rate.is_infinite() {
            return Standing::Shares { shares: EQUAL, at_rate: None };
        }
        let falls = |standing: &Standing| {
            standing.shares(rate).map(|share| -ln(share.max(f64::MIN_POSITIVE)))
        };
        let first = falls(start);
        let mut all = first;
        for shard in shards.iter().filter(|&shard| shard != start) {
            for (fall, (own, first)) in all.iter_mut().zip(falls(shard).iter().zip(first)) {
                *fall += part * (own - first);
            }
        }
        let shares = normalised(decays(1.0, &gaps(&all)));
        Standing::Shares {
            shares: shares.map(|share| share.max(f64::MIN_POSITIVE)),
            at_rate: Some(rate),
        }
    }

    /// π at a rate.
    #[inline(always)]
    pub fn shares(&self, rate: f64) -> PerExpert {
        match self {
            Standing::Losses { losses } => normalised(decays(rate, &gaps(losses))),
            Standing::Shares { shares, at_rate: Some(before) } if *before == rate => *shares,
            Standing::Shares { shares, at_rate: Some(before) } => raised(shares, rate / before),
            Standing::Shares { .. } => EQUAL,
        }
    }

    /// −ln π at a rate, except for a constant: a share too small for a float has one, too.
    pub fn log_falls(&self, rate: f64) -> PerExpert {
        match self {
            Standing::Losses { losses } => gaps(losses).map(|gap| rate * gap),
            Standing::Shares { .. } => self.shares(rate).map(|share| -ln(share)),
        }
    }

    /// Of so many first lanes the one with the largest share, the first one on ties.
    pub fn best_lane(&self, lanes: usize) -> usize {
        let standing = match self {
            Standing::Losses { losses } => *losses,
            Standing::Shares { shares, .. } => shares.map(|share| -share),
        };
        let better =
            |one: usize, other: usize| if standing[other] < standing[one] { other } else { one };
        (1..lanes).fold(0, better)
    }

    /// −(1/η) ln Σ π_k exp(−η loss_k). For infinite η, the increase of the least loss.
    #[inline(always)]
    pub fn mix_loss(&self, rate: f64, lost: &PerExpert) -> f64 {
        match self {
            Standing::Losses { losses } => {
                let (gaps, mut after) = (gaps(losses), *lost);
                for expert in 0..EXPERTS {
                    after[expert] += gaps[expert];
                }
                let least = least(&after);
                let rise = ln(sum(&decays(rate, &from(&after, least))));
                least - (rise - ln(sum(&decays(rate, &gaps)))) / rate
            }
            Standing::Shares { .. } => {
                let (mut terms, least) = (self.shares(rate), least(lost));
                let decays = decays(rate, &from(lost, least));
                for expert in 0..EXPERTS {
                    terms[expert] *= decays[expert];
                }
                least - ln(sum(&terms)) / rate
            }
        }
    }

    /// Update by the losses of a round, and deal the fixed share: π ← (1 − a) π + a/K.
    #[inline(always)]
    pub fn absorb(&mut self, rate: f64, lost: &PerExpert, fixed_share: f64) {
        match self {
            Standing::Losses { losses } => {
                for expert in 0..EXPERTS {
                    losses[expert] += lost[expert];
                }
            }
            Standing::Shares { .. } if rate.is_infinite() => {
                *self = Standing::Shares { shares: EQUAL, at_rate: None }
            }
            Standing::Shares { .. } => {
                let mut shares = self.shares(rate);
                let decays = decays(rate, &from(lost, least(lost)));
                for expert in 0..EXPERTS {
                    shares[expert] *= decays[expert];
                }
                let shares = dealt(&shares, sum(&shares), fixed_share);
                *self = Standing::Shares { shares, at_rate: Some(rate) };
            }
        }
    }
}

/// (1 − a) π + a/K, where π are these parts of their total.
#[inline(always)]
pub fn dealt(parts: &PerExpert, total: f64, fixed_share: f64) -> PerExpert {
    let (kept, part) = ((1.0 - fixed_share) / total, fixed_share / EXPERTS as f64);
    let mut shares = *parts;
    for share in &mut shares {
        *share = kept * *share + part;
    }
    shares
}

/// How much more than the best expert each expert has lost.
#[inline(always)]
fn gaps(losses: &PerExpert) -> PerExpert {
    from(losses, least(losses))
}

#[inline(always)]
fn from(numbers: &PerExpert, least: f64) -> PerExpert {
    let mut gaps = *numbers;
    for gap in &mut gaps {
        *gap -= least;
    }
    gaps
}

/// exp(−rate · gap); 1 for gap 0 at any rate.
#[inline(always)]
fn decays(rate: f64, gaps: &PerExpert) -> PerExpert {
    let mut decays = *gaps;
    for decay in &mut decays {
        let fallen = exp_neg(rate * *decay);
        *decay = if *decay == 0.0 { 1.0 } else { fallen };
    }
    decays
}

#[inline(always)]
fn normalised(mut shares: PerExpert) -> PerExpert {
    let total = sum(&shares);
    for share in &mut shares {
        *share /= total;
    }
    shares
}

/// π^power, in proportion.
fn raised(shares: &PerExpert, power: f64) -> PerExpert {
    let falls = shares.map(|share| -ln(share));
    normalised(decays(power, &gaps(&falls)))
}
