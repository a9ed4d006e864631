//! What a run adds up, in float64: the sums the ledger is made of.

use serde::{Deserialize, Serialize};

use crate::loss::Loss;

/// As many rounds are counted together.
pub const BATCH: usize = 64;

/// A round that was played and is not counted yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// y.
    pub label: f64,
    /// As in [`Outcome`].
    pub margin: f64,
    /// As in [`Outcome`].
    pub importance: f64,
    /// As in [`Outcome`].
    pub penalty: f64,
    /// As in [`Outcome`].
    pub played: f64,
    /// As in [`Outcome`].
    pub energy: f64,
    /// As in [`Outcome`].
    pub features: usize,
}

/// What one round showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The margin, played before the label was seen.
    pub margin: f64,
    /// The loss, not yet weighted.
    pub loss: f64,
    /// Whether the sign was wrong.
    pub mistake: bool,
    /// The importance of the round.
    pub importance: f64,
    /// (λ/2) Σ w², the regulariser's part of the round, not yet weighted.
    pub penalty: f64,
    /// g·x, the gradient of loss and penalty times the point played.
    pub played: f64,
    /// ½ Σ_i g_i² η_i with the rates used; 0 where there is no bound.
    pub energy: f64,
    /// The number of features.
    pub features: usize,
}

/// Sums over the rounds so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Rounds played.
    pub rounds: u64,
    /// Features met, repeats included.
    pub features: u64,
    /// Σ importance.
    pub importance: f64,
    /// Σ importance · loss.
    pub loss: f64,
    /// Σ importance over the rounds with a mistake.
    pub mistakes: f64,
    /// Σ_t g_t·x_t.
    pub played: f64,
    /// ½ Σ_t Σ_i g²_t,i η_t,i, the second half of the paper's bound.
    pub energy: f64,
    /// Σ importance · penalty; left out of files where there is none, as it was before L2.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty: f64,
}

/// Whether a number need not be said.
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Tally {
    /// Add many rounds, at most [`BATCH`]. Their losses are made together, for a logarithm of one would
    /// hold up the next round.
    #[inline(always)]
    pub fn record_all(&mut self, loss: Loss, rounds: &[Round]) {
        let (mut margins, mut labels, mut losses) = ([0.0; BATCH], [0.0; BATCH], [0.0; BATCH]);
        for (k, round) in rounds.iter().enumerate() {
            (margins[k], labels[k]) = (round.margin, round.label);
        }
        for k in 0..rounds.len().min(BATCH) {
            losses[k] = loss.value(margins[k], labels[k]);
        }
        for (round, loss_of_round) in rounds.iter().zip(losses) {
            self.record(&Outcome {
                margin: round.margin,
                loss: loss_of_round,
                mistake: loss.is_mistake(round.margin, round.label),
                importance: round.importance,
                penalty: round.penalty,
                played: round.played,
                energy: round.energy,
                features: round.features,
            });
        }
    }

    /// Add one round.
    #[inline(always)]
    pub fn record(&mut self, outcome: &Outcome) {
        self.rounds += 1;
        self.features += outcome.features as u64;
        self.importance += outcome.importance;
        self.loss += outcome.importance * outcome.loss;
        // Not asked before it is added: labels are what a processor cannot foresee.
        self.mistakes += if outcome.mistake { outcome.importance } else { 0.0 };
        self.played += outcome.played;
        self.energy += outcome.energy;
        self.penalty += outcome.importance * outcome.penalty;
    }
}

/// Sums over the rounds so far in one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneTally {
    /// Σ importance · loss.
    pub loss: f64,
    /// Σ_t g_t·x_t.
    pub played: f64,
    /// ½ Σ_t Σ_i g²_t,i η_t,i.
    pub energy: f64,
    /// Σ importance · penalty; left out of files where there is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty: f64,
}

/// What is known at this moment of one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneSummary {
    /// The lane's rate.
    pub rate: f64,
    /// Its part in the mixture, from 0 to 1.
    pub share: f64,
    /// Its sums.
    pub tally: LaneTally,
    /// As in [`SlotSummary`].
    pub spread: Option<f64>,
    /// As in [`SlotSummary`].
    pub floor: Option<f64>,
}

/// What the slots say at this moment about regret; summed over all coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotSummary {
    /// Σ_i D_i²/(2 η_T,i), the first half of the paper's bound; none for rules without one,
    /// and with importance-aware updates, for which it is not proved.
    pub spread: Option<f64>,
    /// min over F of (Σ g)·x; none unless the gradients are summed.
    pub floor: Option<f64>,
    /// The closed form of Theorem 2 or 3, for the rates those theorems use.
    pub theorem: Option<f64>,
    /// Slots that are not as they began.
    pub touched: u64,
    /// What mixing lanes has cost at most, where there are some.
    pub mixing_cost: Option<f64>,
    /// The lanes, where there are some.
    pub lanes: Vec<LaneSummary>,
}
