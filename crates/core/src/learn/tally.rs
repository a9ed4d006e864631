//! The sums over the rounds of a run, in float64, from which the ledger is computed.

use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use crate::example::Given;
use crate::loss::Loss;
use crate::rule::merging::{merged_count, merged_sum, only_moved};
use crate::simd::{Simd, WithSimd};

/// The number of rounds that are recorded together.
pub const BATCH: usize = 64;

/// A round that was played and is not recorded yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// y, the label.
    pub label: f64,
    /// The margin, played before the label was seen.
    pub margin: f64,
    /// The importance of the round.
    pub importance: f64,
    /// (λ/2) Σ w², the regulariser's part of the round, not yet weighted.
    pub penalty: f64,
    /// g·x, the gradient of loss and penalty times the point played.
    pub played: f64,
    /// ½ Σ_i g_i² η_i with the rates used; 0 if there is no bound.
    pub energy: f64,
    /// The number of features.
    pub features: usize,
}

/// The results of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The margin, played before the label was seen.
    pub margin: f64,
    /// The loss, not yet weighted.
    pub loss: f64,
    /// Whether the sign of the margin was wrong.
    pub mistake: bool,
    /// The importance of the round.
    pub importance: f64,
    /// (λ/2) Σ w², the regulariser's part of the round, not yet weighted.
    pub penalty: f64,
    /// g·x, the gradient of loss and penalty times the point played.
    pub played: f64,
    /// ½ Σ_i g_i² η_i with the rates used; 0 if there is no bound.
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
    /// Features played, repeats included.
    pub features: u64,
    /// Σ importance.
    pub importance: f64,
    /// Σ importance · loss.
    pub loss: f64,
    /// Σ importance over the rounds with a mistake.
    pub mistakes: f64,
    /// Σ_t g_t·x_t, the linearised loss of the points played.
    pub played: f64,
    /// ½ Σ_t Σ_i g²_t,i η_t,i, the second half of the paper's bound.
    pub energy: f64,
    /// Σ importance · penalty. Left out of files if it is 0, as in files written before L2 existed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty: f64,
    /// Σ importance · loss of the game on standardised labels. Left out of files if it is 0, as it is if labels
    /// are not standardised.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub standardised_loss: f64,
    /// How often learners were merged on the way to this one. Weights jump then, so no bound is proved any more.
    /// Left out of files if it is 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub merges: u64,
    /// Rounds that were learned from long after they were played, so that no bound is proved any more. Left out of
    /// files if it is 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub late: u64,
}

/// Whether a count is 0 and can be left out of a file.
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Whether a number is 0 and can be left out of a file.
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Tally {
    /// The sums over the rounds of all shards, which went on from a start; those before it count once.
    pub fn merged(start: &Tally, shards: &[Tally]) -> Tally {
        if let Some(only) = only_moved(start, shards) {
            return *only;
        }
        let count = |field: fn(&Tally) -> u64| merged_count(field(start), shards.iter().map(field));
        let sum = |field: fn(&Tally) -> f64| merged_sum(field(start), shards.iter().map(field));
        Tally {
            rounds: count(|tally| tally.rounds),
            features: count(|tally| tally.features),
            importance: sum(|tally| tally.importance),
            loss: sum(|tally| tally.loss),
            mistakes: sum(|tally| tally.mistakes),
            played: sum(|tally| tally.played),
            energy: sum(|tally| tally.energy).min(f64::MAX),
            penalty: sum(|tally| tally.penalty),
            standardised_loss: sum(|tally| tally.standardised_loss),
            merges: shards.iter().fold(start.merges, |most, tally| most.max(tally.merges)) + 1,
            late: count(|tally| tally.late),
        }
    }

    /// Record many rounds, at most `BATCH`. Their losses are computed together, because the latency of one
    /// logarithm would delay the next round.
    #[inline(always)]
    pub fn record_all(&mut self, loss: Loss, rounds: &[Round]) {
        let (mut margins, mut labels, mut losses) = ([0.0; BATCH], [0.0; BATCH], [0.0; BATCH]);
        for (k, round) in rounds.iter().enumerate() {
            (margins[k], labels[k]) = (round.margin, round.label);
        }
        for k in 0..rounds.len().min(BATCH) {
            losses[k] = loss.value(margins[k], labels[k]);
        }
        self.record_losses(loss, rounds, losses);
    }

    /// Record rounds whose losses are known.
    #[inline(always)]
    fn record_losses(&mut self, loss: Loss, rounds: &[Round], losses: [f64; BATCH]) {
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

    /// Record rounds that were played on standardised labels: their standardised losses, and then the rounds in
    /// the user's units.
    pub fn record_standardised(&mut self, loss: Loss, rounds: &mut [Round], given: &[Given]) {
        let mut losses = [0.0; BATCH];
        for ((round, given), lost) in rounds.iter_mut().zip(given).zip(&mut losses) {
            self.standardised_loss += round.importance * loss.value(round.margin, round.label);
            (round.margin, round.label) = (given.units.prediction(round.margin), given.label);
            *lost = loss.in_units(given.units.unit).value(round.margin, round.label);
        }
        self.record_losses(loss, rounds, losses);
        for (round, given) in rounds.iter_mut().zip(given) {
            round.margin += given.base;
        }
    }

    /// Record one round.
    #[inline(always)]
    pub fn record(&mut self, outcome: &Outcome) {
        self.rounds += 1;
        self.features += outcome.features as u64;
        self.importance += outcome.importance;
        self.loss += outcome.importance * outcome.loss;
        // Branchless: a branch on the labels would be mispredicted.
        self.mistakes += if outcome.mistake { outcome.importance } else { 0.0 };
        self.played += outcome.played;
        // At an extreme rate a term is infinite, or 0 times infinity. The largest float is a bound, too, and
        // unlike infinity a model file can hold it. `min` drops NaN.
        self.energy = (self.energy + outcome.energy).min(f64::MAX);
        self.penalty += outcome.importance * outcome.penalty;
    }
}

/// A call of [`Tally::record_all`], as work for [`InstructionSet::run`](crate::simd::InstructionSet::run).
pub(crate) struct RecordAll<'a> {
    pub tally: &'a mut Tally,
    pub loss: Loss,
    pub rounds: &'a [Round],
}

impl WithSimd for RecordAll<'_> {
    type Output = ();

    #[inline(always)]
    fn call<V: Simd>(self, _: V) {
        self.tally.record_all(self.loss, self.rounds);
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
    /// Σ importance · penalty. Left out of files if it is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty: f64,
    /// Σ importance · loss of the game on standardised labels. Left out of files if it is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub standardised_loss: f64,
}

impl LaneTally {
    /// The sums over the rounds of all shards, which went on from a start.
    pub fn merged(start: &LaneTally, shards: &[LaneTally]) -> LaneTally {
        let sum = |field: fn(&LaneTally) -> f64| merged_sum(field(start), shards.iter().map(field));
        LaneTally {
            loss: sum(|tally| tally.loss),
            played: sum(|tally| tally.played),
            energy: sum(|tally| tally.energy).min(f64::MAX),
            penalty: sum(|tally| tally.penalty),
            standardised_loss: sum(|tally| tally.standardised_loss),
        }
    }
}

/// Sums over the rounds so far of the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackTally {
    /// Σ importance · loss.
    pub loss: f64,
    /// Σ importance · penalty. Left out of files if it is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty: f64,
}

impl StackTally {
    /// The sums over the rounds of all shards, which went on from a start.
    pub fn merged(start: &StackTally, shards: &[StackTally]) -> StackTally {
        StackTally {
            loss: merged_sum(start.loss, shards.iter().map(|tally| tally.loss)),
            penalty: merged_sum(start.penalty, shards.iter().map(|tally| tally.penalty)),
        }
    }
}

/// The current state of one lane, for the ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneSummary {
    /// The lane's rate; None for the coin lane, which has none.
    pub rate: Option<f64>,
    /// Its share in the mixture, from 0 to 1.
    pub share: f64,
    /// The sums over its rounds.
    pub tally: LaneTally,
    /// Σ_i D_i²/(2 η_T,i) in this lane, the first half of the paper's bound; see [`SlotSummary::spread`].
    pub spread: Option<f64>,
}

/// The current state of the stack, for the ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StackSummary {
    /// Its share in the mixture, from 0 to 1.
    pub share: f64,
    /// The sums over its rounds.
    pub tally: StackTally,
}

/// The current regret terms that are computed from the slots, summed over all coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotSummary {
    /// Σ_i D_i²/(2 η_T,i), the first half of the paper's bound. None for rules without a bound, and for
    /// importance-aware updates and merged learners, whose bound is not proved.
    pub spread: Option<f64>,
    /// min over F of G·x, with G of `learn/certificate.rs`. None unless the gradient sums are kept.
    pub floor: Option<f64>,
    /// The closed form of Theorem 2 or 3, for the rates those theorems use.
    pub theorem: Option<f64>,
    /// The certificate of all rounds. None unless the gradient sums are kept.
    pub certificate: Option<Certificate>,
    /// The number of slots that are not in their initial state.
    pub touched: u64,
    /// An upper bound on the cost of mixing, against the best expert. None without lanes and after a merge.
    pub mixing_cost: Option<f64>,
    /// The lanes; empty for a learner with one rate.
    pub lanes: Vec<LaneSummary>,
    /// The stack. None without lanes.
    pub stack: Option<StackSummary>,
}
