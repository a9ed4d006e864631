//! Rounds of lanes whose labels are standardised (`example/scale/labels.rs`).
//!
//! The lanes and the stack play and learn in standardised units. The mixture works in the user's units:
//!
//! ```text
//! P_k = clip(μ + σ m_k, A, B)       what expert k predicts, before the label is known
//! P   = Σ π_k P_k                   what is played; the shares are those of the losses ℓ(P_k, y)
//! p̂   = (P − μ)/σ                   the margin of P; Σ π_k m_k if σ = 0
//! ```
//!
//! The losses in the user's units are those of the clipped predictions, for which the cost of mixing holds. The
//! standardised losses, of which the bound is, are ℓ(m_k, ŷ) of a lane and ℓ(p̂, ŷ) of the mixture. Penalties
//! are in standardised units; with a loss in the user's units they count u^d times, u the unit of the labels and
//! d the degree of the loss. Of counts the P_k are logarithms, as margins are.

use super::experts::{PerExpert, mean};
use super::observe::{Observer, Rounds};
use crate::learn::tally::BATCH;
use crate::loss::Loss;

/// What is known of the rounds in both units.
#[derive(Default)]
pub(super) struct Standardised {
    /// ŷ
    labels: Vec<f64>,
    /// The margins of the experts.
    margins: Vec<PerExpert>,
    /// ℓ(m_k, ŷ) of the experts.
    lost: Vec<PerExpert>,
    /// p̂
    mixed: Vec<f64>,
}

impl Standardised {
    /// ŷ of every round.
    pub fn labels(&self) -> &Vec<f64> {
        &self.labels
    }

    /// p̂ of every round.
    pub fn mixed(&self) -> &[f64] {
        &self.mixed
    }
}

impl Rounds {
    /// Convert what the experts played and lost into the user's units.
    fn convert(&mut self, loss: Loss) {
        let Standardised { labels, margins, lost, mixed } = &mut self.standardised;
        labels.clone_from(&self.labels);
        lost.clone_from(&self.lost);
        margins.clear();
        mixed.clear();
        for (k, given) in self.given.iter().enumerate() {
            let units = given.units;
            margins.push(self.plays[k].margins);
            let loss = loss.in_units(units.unit);
            self.labels[k] = given.label;
            self.plays[k].margins = margins[k].map(|m| units.prediction(m));
            self.lost[k] = self.plays[k].margins.map(|p| loss.value(p, given.label));
        }
    }
}

impl Observer {
    /// Mix rounds whose labels are standardised.
    #[inline(never)]
    pub(super) fn observe_standardised(&mut self, rounds: &mut Rounds, mixed: &mut Vec<f64>) {
        rounds.convert(self.loss);
        for k in 0..rounds.labels.len() {
            let (margin, penalty, standardised) = self.play_standardised(rounds, k);
            mixed.push(margin);
            rounds.mixed_penalties.push(penalty);
            rounds.standardised.mixed.push(standardised);
        }
        self.record_standardised(rounds);
    }

    /// Mix one round; returns the mixture's prediction, its penalty, and the margin of its prediction.
    fn play_standardised(&mut self, rounds: &Rounds, k: usize) -> (f64, f64, f64) {
        let (plays, mut suffered, units) =
            (&rounds.plays[k], rounds.suffered(k), rounds.given[k].units);
        let (label, importance) = (rounds.labels[k], rounds.importances[k]);
        let loss = self.loss.in_units(units.unit);
        let mixture = &mut self.mixture;
        let shares = mixture.shares(loss);
        let prediction = mixture.margin(loss, &shares, plays);
        let penalty = mean(&shares, &suffered.penalties);
        let factor = units.unit.powi(loss.degree());
        suffered.penalties = suffered.penalties.map(|penalty| factor * penalty);
        let own = loss.value(prediction, label) + factor * penalty;
        let counted = mixture.counted(loss, &plays.margins, label, &suffered);
        mixture.absorb(loss, &counted, own, importance, self.fixed_share, self.penalised);
        mixture.meet(loss, label, importance);
        let margin = units
            .margin(prediction)
            .unwrap_or_else(|| mean(&shares, &rounds.standardised.margins[k]));
        (prediction, penalty, margin)
    }

    /// Add the standardised losses to the tallies of the mixture and the lanes.
    fn record_standardised(&mut self, rounds: &Rounds) {
        let (mut own, standardised) = ([0.0; BATCH], &rounds.standardised);
        self.loss.values_of_many(&standardised.mixed, &standardised.labels, &mut own);
        for (k, &importance) in rounds.importances.iter().enumerate() {
            self.tally.standardised_loss += importance * own[k];
            self.lanes.add_standardised(importance, &standardised.lost[k]);
        }
    }
}
