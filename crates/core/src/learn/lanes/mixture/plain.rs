//! Plain rounds: log loss, a fixed share, importance 1 and no penalty, which is the default on most data.
//!
//! For log loss exp(−loss_k) is the probability that expert k gave to the label. So the shares are updated by a
//! product, and no exponential and no logarithm is needed for them:
//!
//! ```text
//! π_k ← (1 − a) π_k p_k/Σ π p + a/K
//! ```
//!
//! The logarithm of the odds, which is the margin, does not feed back; it is left to the caller, who computes
//! it for many rounds at once.

use super::shares::{Standing, dealt};
use super::{Mixture, chances, have_digits};
use crate::learn::lanes::experts::{PerExpert, Plays, sum};
use crate::loss::Loss;

/// What the mixture plays in a plain round.
pub enum Played {
    /// The odds of the label +1.
    Odds(f64),
    /// Their logarithm, where the experts are so sure that the odds have no digits.
    Margin(f64),
}

impl Mixture {
    /// Play a plain round and update the shares. `lost` are the losses of the experts.
    #[inline(always)]
    pub fn play_plain(
        &mut self,
        loss: Loss,
        plays: &Plays,
        lost: &PerExpert,
        label: f64,
        fixed_share: f64,
    ) -> Played {
        let (yes, no) = chances(&self.shares(loss), plays);
        let totals = [sum(&yes), sum(&no)];
        self.charge(1.0, fixed_share);
        if !have_digits(totals) {
            let margin = self.log_odds(loss, totals, plays);
            self.standing.absorb(1.0, lost, fixed_share);
            return Played::Margin(margin);
        }
        let (right, total) = if label > 0.0 { (yes, totals[0]) } else { (no, totals[1]) };
        let shares = dealt(&right, total, fixed_share);
        self.standing = Standing::Shares { shares, at_rate: Some(1.0) };
        Played::Odds(totals[0] / totals[1])
    }
}
