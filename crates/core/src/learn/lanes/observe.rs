//! The observer of the lanes: updates the mixture and the tallies after the rounds.
//!
//! The lanes do not depend on the mixture: each learns from its own margin. So the observer processes many
//! rounds in a batch, after they were played. Each round is a dependency chain of high latency (the logarithm
//! of a mean of exponentials, then a logarithm for its own loss). The chains of different rounds are almost
//! independent, so out-of-order execution overlaps them. Between two loops over features the latency of each
//! chain would be exposed.

use super::mixture::{LaneLosses, Mixture, Plays};
use crate::learn::lanes::tallies::LaneTallies;
use crate::learn::tally::{BATCH, Outcome, Tally};
use crate::loss::wide::{Tails, values};
use crate::loss::{Loss, Tail};
use crate::simd::PerLane;

/// The results of one round in all lanes.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// y, the label.
    pub label: f64,
    /// The importance of the round.
    pub importance: f64,
    /// The number of features.
    pub features: usize,
    /// The margin of each lane.
    pub margins: PerLane,
    /// The tails of the margins, from which the losses are computed.
    pub tails: Tails,
    /// The L2 penalty of each lane, all 0 without L2.
    pub penalties: PerLane,
    /// g·x in each lane.
    pub played: PerLane,
    /// ½ Σ g² η in each lane.
    pub energies: PerLane,
}

/// Rounds that were played and not observed yet, as one array per field, so that loops over a field
/// vectorise.
#[derive(Default)]
pub struct Rounds {
    labels: Vec<f64>,
    importances: Vec<f64>,
    features: Vec<usize>,
    margins: Vec<PerLane>,
    tails: Vec<Tails>,
    penalties: Vec<PerLane>,
    played: Vec<PerLane>,
    energies: Vec<PerLane>,
    lost: Vec<PerLane>,
    plays: Plays,
}

impl Rounds {
    /// Append one round.
    #[inline(always)]
    pub fn push(&mut self, round: Round) {
        self.labels.push(round.label);
        self.importances.push(round.importance);
        self.features.push(round.features);
        self.margins.push(round.margins);
        self.tails.push(round.tails);
        self.penalties.push(round.penalties);
        self.played.push(round.played);
        self.energies.push(round.energies);
    }

    fn clear(&mut self) {
        self.labels.clear();
        self.importances.clear();
        self.features.clear();
        self.margins.clear();
        self.tails.clear();
        self.penalties.clear();
        self.played.clear();
        self.energies.clear();
    }

    #[inline(always)]
    fn count_losses(&mut self, loss: Loss) {
        self.lost.clear();
        for ((margins, tails), &label) in self.margins.iter().zip(&self.tails).zip(&self.labels) {
            self.lost.push(values(loss, margins, label, tails));
        }
    }

    fn suffered(&self, k: usize) -> LaneLosses {
        LaneLosses { lost: self.lost[k], penalties: self.penalties[k] }
    }
}

/// The mixture and the tallies of a learner with lanes.
pub struct Observer {
    loss: Loss,
    penalised: bool,
    fixed_share: f64,
    /// The tallies of the lanes.
    pub lanes: LaneTallies,
    /// The mixture.
    pub mixture: Mixture,
    /// The tally of the mixture.
    pub tally: Tally,
}

impl Observer {
    /// An observer before the first round.
    pub fn new(loss: Loss, penalised: bool) -> Self {
        let (lanes, mixture, tally) = Default::default();
        Observer { loss, penalised, fixed_share: 0.0, lanes, mixture, tally }
    }

    /// This observer with a fixed share: every round redistributes this part of the shares evenly.
    pub fn fixed_share(self, fixed_share: f64) -> Self {
        Observer { fixed_share, ..self }
    }

    /// Process all rounds that were played, at most [`BATCH`], append the mixture's margins, and clear
    /// `rounds`.
    #[inline(always)]
    pub fn observe(&mut self, rounds: &mut Rounds, mixed: &mut Vec<f64>) {
        rounds.count_losses(self.loss);
        let simple = !self.penalised && self.fixed_share == 0.0;
        if simple && self.mixture.is_plain(self.loss, &rounds.importances) {
            self.observe_plain(rounds, mixed);
        } else {
            self.observe_each(rounds, mixed);
        }
        for k in 0..rounds.labels.len() {
            let (played, energies) = (&rounds.played[k], &rounds.energies[k]);
            self.lanes.add(rounds.importances[k], &rounds.suffered(k), played, energies);
        }
        rounds.clear();
    }

    #[inline(always)]
    fn observe_plain(&mut self, rounds: &mut Rounds, mixed: &mut Vec<f64>) {
        let Rounds { margins, tails, lost, plays, labels, features, .. } = rounds;
        let start = mixed.len();
        self.mixture.play_many(margins, tails, lost, plays, mixed);
        let mixed = &mixed[start..];
        let mut own = [0.0; BATCH];
        for k in 0..labels.len() {
            // The loss of a plain round is log loss. If this loop dispatched on the loss it would not be
            // vectorised: 66 instructions a round more.
            own[k] = Tail::of(mixed[k]).log_loss(mixed[k], labels[k]);
        }
        for k in 0..labels.len() {
            self.record(mixed[k], labels[k], own[k], 1.0, 0.0, features[k]);
        }
    }

    #[inline(always)]
    fn observe_each(&mut self, rounds: &Rounds, mixed: &mut Vec<f64>) {
        let loss = self.loss;
        for k in 0..rounds.labels.len() {
            let (label, importance) = (rounds.labels[k], rounds.importances[k]);
            let (margins, suffered) = (&rounds.margins[k], &rounds.suffered(k));
            let mixture = &mut self.mixture;
            let shares = mixture.shares(loss);
            let margin = mixture.margin(loss, &shares, margins, &rounds.tails[k]);
            let own = loss.value(margin, label);
            let penalty = suffered.mean_penalty(&shares);
            let counted = mixture.counted(loss, margins, label, suffered);
            let (dealt, penalised) = (self.fixed_share, self.penalised);
            mixture.absorb(loss, &counted, own + penalty, importance, dealt, penalised);
            mixture.meet(loss, label, importance);
            self.record(margin, label, own, importance, penalty, rounds.features[k]);
            mixed.push(margin);
        }
    }

    #[inline(always)]
    fn record(
        &mut self,
        margin: f64,
        label: f64,
        own: f64,
        importance: f64,
        penalty: f64,
        features: usize,
    ) {
        self.tally.record(&Outcome {
            margin,
            loss: own,
            mistake: self.loss.is_mistake(margin, label),
            importance,
            penalty,
            played: 0.0,
            energy: 0.0,
            features,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LOSSES;

    fn round(t: usize, importance: f64) -> Round {
        let wave = |k: usize| (3.0 + k as f64) * ((t * (k + 2)) as f64).cos();
        let margins: PerLane = std::array::from_fn(wave);
        Round {
            label: if t.is_multiple_of(3) { -1.0 } else { 1.0 },
            importance,
            features: t,
            margins,
            tails: Tails::default(),
            penalties: [0.0; 8],
            played: margins.map(|margin| 0.1 * margin),
            energies: [0.5; 8],
        }
    }

    /// The observer and its margins after some rounds, observed in batches of this size.
    fn watched(loss: Loss, fixed_share: f64, at_a_time: usize) -> (Vec<f64>, Observer) {
        let mut observer = Observer::new(loss, false).fixed_share(fixed_share);
        let (mut rounds, mut mixed) = (Rounds::default(), Vec::new());
        for t in 0..200 {
            // Plain rounds, then one of larger importance; no round after it is plain.
            let round = round(t, if t == 150 { 2.0 } else { 1.0 });
            rounds.push(Round { tails: Tails::of(loss, &round.margins), ..round });
            if (t + 1).is_multiple_of(at_a_time) {
                observer.observe(&mut rounds, &mut mixed);
            }
        }
        observer.observe(&mut rounds, &mut mixed);
        (mixed, observer)
    }

    #[test]
    fn it_sees_the_same_however_many_rounds_it_looks_at() {
        for &loss in LOSSES {
            for fixed_share in [0.0, 0.01] {
                let (mixed, observer) = watched(loss, fixed_share, 1);
                for at_a_time in [7, BATCH] {
                    let (again, other) = watched(loss, fixed_share, at_a_time);
                    assert_eq!(again, mixed, "{loss:?}");
                    assert_eq!(other.tally, observer.tally);
                    assert_eq!((other.mixture, other.lanes), (observer.mixture, observer.lanes));
                }
                assert_eq!((mixed.len(), observer.tally.features), (200, 199 * 100));
            }
        }
    }
}
