//! What a run adds up, in float64: the sums the ledger is made of.

use serde::{Deserialize, Serialize};

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
    /// Add one round.
    pub fn record(&mut self, outcome: &Outcome) {
        self.rounds += 1;
        self.features += outcome.features as u64;
        self.importance += outcome.importance;
        self.loss += outcome.importance * outcome.loss;
        if outcome.mistake {
            self.mistakes += outcome.importance;
        }
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
pub struct LaneStanding {
    /// The lane's rate.
    pub rate: f64,
    /// Its part in the mixture, from 0 to 1.
    pub share: f64,
    /// Its sums.
    pub tally: LaneTally,
    /// As in [`Standing`].
    pub spread: Option<f64>,
    /// As in [`Standing`].
    pub floor: Option<f64>,
}

/// What the slots say at this moment about regret; summed over all coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
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
    pub lanes: Vec<LaneStanding>,
}
