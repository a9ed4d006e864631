//! The observer of the lanes: updates the mixture and the tallies after the rounds.
//!
//! The lanes do not depend on the mixture: each learns from its own margin. So the observer processes many
//! rounds in a batch, after they were played. Each round is a dependency chain of high latency (the logarithm
//! of a mean of exponentials, then a logarithm for its own loss). The chains of different rounds are almost
//! independent, so out-of-order execution overlaps them. Between two loops over features the latency of each
//! chain would be exposed.

use super::certify::Terms;
use super::experts::{EXPERTS, PerExpert, Plays, join, mean};
use super::mixture::{Mixture, Played, Suffered};
use super::stack::{Parabola, Stack};
use super::standardised::Standardised;
use crate::example::Given;
use crate::learn::lanes::tallies::LaneTallies;
use crate::learn::tally::{BATCH, Outcome, StackTally, Tally};
use crate::loss::Loss;
use crate::loss::wide::{Tails, values};
use crate::simd::exp_log::ln;
use crate::simd::{PerLane, Simd, WithSimd};

/// The results of one round in all lanes.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// y, the label.
    pub label: f64,
    /// The importance of the round.
    pub importance: f64,
    /// The base margin, which all margins include.
    pub base: f64,
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
    pub(super) labels: Vec<f64>,
    pub(super) importances: Vec<f64>,
    bases: Vec<f64>,
    features: Vec<usize>,
    margins: Vec<PerLane>,
    tails: Vec<Tails>,
    penalties: Vec<PerLane>,
    played: Vec<PerLane>,
    energies: Vec<PerLane>,
    pub(super) plays: Vec<Plays>,
    pub(super) lost: Vec<PerExpert>,
    stack_penalties: Vec<f64>,
    /// The mixture's penalty in each round, the mean of the experts', weighted by their shares.
    pub(super) mixed_penalties: Vec<f64>,
    /// The labels in the user's units, if labels are standardised; otherwise empty.
    pub given: Vec<Given>,
    pub(super) standardised: Standardised,
    /// The features that were played; empty unless they are certified.
    pub terms: Terms,
    /// α_t = h ℓ'(p, y) of the mixture.
    slopes: Vec<f64>,
}

impl Rounds {
    /// Append one round.
    #[inline(always)]
    pub fn push(&mut self, round: Round) {
        self.labels.push(round.label);
        self.importances.push(round.importance);
        self.bases.push(round.base);
        self.features.push(round.features);
        self.margins.push(round.margins);
        self.tails.push(round.tails);
        self.penalties.push(round.penalties);
        self.played.push(round.played);
        self.energies.push(round.energies);
    }

    /// The number of rounds.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    fn clear(&mut self) {
        self.labels.clear();
        self.importances.clear();
        self.bases.clear();
        self.features.clear();
        self.margins.clear();
        self.tails.clear();
        self.penalties.clear();
        self.played.clear();
        self.energies.clear();
        self.given.clear();
        self.terms.clear();
    }

    /// Play the stack on top of the lanes, round by round, and compute what every expert lost.
    #[inline(always)]
    fn play_stack(&mut self, loss: Loss, stack: &mut Stack) {
        self.plays.clear();
        self.lost.clear();
        self.stack_penalties.clear();
        self.mixed_penalties.clear();
        for k in 0..self.labels.len() {
            let (margins, tails, label) = (&self.margins[k], &self.tails[k], self.labels[k]);
            let base = self.bases[k];
            let plays = Plays::new(loss, margins, tails, stack, base);
            let (margin, tail) = plays.stacked();
            let lost =
                join(&values(loss, margins, label, tails), loss.value_at(tail, margin, label));
            self.stack_penalties.push(stack.penalty(&self.penalties[k]));
            let parabola = Parabola::new(loss, tail, margin, label, self.importances[k]);
            stack.absorb(margins, base, parabola);
            self.plays.push(plays);
            self.lost.push(lost);
        }
    }

    pub(super) fn suffered(&self, k: usize) -> Suffered {
        let penalties = join(&self.penalties[k], self.stack_penalties[k]);
        Suffered { lost: self.lost[k], penalties }
    }
}

/// The mixture and the tallies of a learner with lanes.
pub struct Observer {
    pub(super) loss: Loss,
    pub(super) penalised: bool,
    pub(super) fixed_share: f64,
    /// G of `learn/certificate.rs`, in the order of the lines, if it is kept.
    pub gradient_sums: Option<Vec<f64>>,
    /// The tallies of the lanes.
    pub lanes: LaneTallies,
    /// The stack.
    pub stack: Stack,
    /// The tally of the stack.
    pub stack_tally: StackTally,
    /// The mixture.
    pub mixture: Mixture,
    /// The tally of the mixture.
    pub tally: Tally,
}

impl Observer {
    /// An observer before the first round. `fixed_share` is the part of the shares that every round
    /// redistributes evenly.
    pub fn new(
        loss: Loss,
        penalised: bool,
        fixed_share: f64,
        gradient_sums: Option<Vec<f64>>,
    ) -> Self {
        let (lanes, stack, stack_tally, tally) = Default::default();
        let mixture = Mixture::new(fixed_share);
        Observer {
            loss,
            penalised,
            fixed_share,
            gradient_sums,
            lanes,
            stack,
            stack_tally,
            mixture,
            tally,
        }
    }

    /// Process all rounds that were played, at most [`BATCH`], append the mixture's margins, and clear
    /// `rounds`.
    #[inline(always)]
    pub fn observe(&mut self, rounds: &mut Rounds, mixed: &mut Vec<f64>) {
        rounds.play_stack(self.loss, &mut self.stack);
        let start = mixed.len();
        if !rounds.given.is_empty() {
            self.observe_standardised(rounds, mixed);
        } else if !self.penalised && self.mixture.is_plain(self.loss, &rounds.importances) {
            self.observe_plain(rounds, mixed);
        } else {
            self.observe_each(rounds, mixed);
        }
        self.record_all(rounds, &mixed[start..]);
        if self.gradient_sums.is_some() {
            self.take_tangents(rounds, &mixed[start..]);
        }
        for (margin, given) in mixed[start..].iter_mut().zip(&rounds.given) {
            *margin += given.base;
        }
        rounds.clear();
    }

    /// Mix plain rounds: the logarithms of the odds are computed together.
    #[inline(always)]
    fn observe_plain(&mut self, rounds: &Rounds, mixed: &mut Vec<f64>) {
        let (mut odds, mut sure, start) = ([1.0; BATCH], Vec::new(), mixed.len());
        for (k, odds) in odds.iter_mut().enumerate().take(rounds.labels.len()) {
            match self.play_plain(rounds, k) {
                Played::Odds(found) => *odds = found,
                Played::Margin(margin) => sure.push((k, margin)),
            }
        }
        for odds in &mut odds {
            *odds = ln(*odds);
        }
        mixed.extend_from_slice(&odds[..rounds.labels.len()]);
        for (k, margin) in sure {
            mixed[start + k] = margin;
        }
    }

    #[inline(always)]
    fn play_plain(&mut self, rounds: &Rounds, k: usize) -> Played {
        let (plays, lost, label) = (&rounds.plays[k], &rounds.lost[k], rounds.labels[k]);
        self.mixture.play_plain(self.loss, plays, lost, label, self.fixed_share)
    }

    /// Mix rounds of any kind. A plain round is mixed as among plain ones, so that no division into batches
    /// changes a bit.
    #[inline(always)]
    fn observe_each(&mut self, rounds: &mut Rounds, mixed: &mut Vec<f64>) {
        for k in 0..rounds.labels.len() {
            let importance = &rounds.importances[k..=k];
            let (margin, penalty) =
                if !self.penalised && self.mixture.is_plain(self.loss, importance) {
                    match self.play_plain(rounds, k) {
                        Played::Odds(odds) => (ln(odds), 0.0),
                        Played::Margin(margin) => (margin, 0.0),
                    }
                } else {
                    self.play_any(rounds, k)
                };
            mixed.push(margin);
            rounds.mixed_penalties.push(penalty);
        }
    }

    /// Mix a round of any kind; returns the mixture's margin and penalty.
    fn play_any(&mut self, rounds: &Rounds, k: usize) -> (f64, f64) {
        let (loss, label, importance) = (self.loss, rounds.labels[k], rounds.importances[k]);
        let (plays, suffered) = (&rounds.plays[k], &rounds.suffered(k));
        let mixture = &mut self.mixture;
        let shares = mixture.shares(loss);
        let margin = mixture.margin(loss, &shares, plays);
        let penalty = mean(&shares, &suffered.penalties);
        let own = loss.value(margin, label) + penalty;
        let counted = mixture.counted(loss, &plays.margins, label, suffered);
        mixture.absorb(loss, &counted, own, importance, self.fixed_share, self.penalised);
        mixture.charge_clipping(loss, &plays.margins, label, importance);
        mixture.meet(loss, label, importance);
        (margin, penalty)
    }

    /// Add the rounds to the tallies of the mixture, the stack and the lanes.
    #[inline(always)]
    fn record_all(&mut self, rounds: &Rounds, mixed: &[f64]) {
        let mut own = [0.0; BATCH];
        self.loss.values_of_many(mixed, &rounds.labels, &mut own);
        for (k, given) in rounds.given.iter().enumerate() {
            own[k] = self.loss.in_units(given.units.unit).value(mixed[k], rounds.labels[k]);
        }
        for k in 0..rounds.labels.len() {
            let (label, importance) = (rounds.labels[k], rounds.importances[k]);
            self.tally.record(&Outcome {
                margin: mixed[k],
                loss: own[k],
                mistake: self.loss.is_mistake(mixed[k], label),
                importance,
                penalty: rounds.mixed_penalties.get(k).copied().unwrap_or(0.0),
                played: 0.0,
                energy: 0.0,
                features: rounds.features[k],
            });
            self.stack_tally.loss += importance * rounds.lost[k][EXPERTS - 1];
            self.stack_tally.penalty += importance * rounds.stack_penalties[k];
            self.lanes.add(importance, &rounds.suffered(k), &rounds.played[k], &rounds.energies[k]);
        }
    }
}

impl Observer {
    /// Add the tangents of the mixture, in the game that the regret is of: α_t p_t to the tally and α_t x_t to G.
    #[inline(always)]
    fn take_tangents(&mut self, rounds: &mut Rounds, mixed: &[f64]) {
        let Rounds { terms, slopes, standardised, given, labels, importances, bases, .. } = rounds;
        let (margins, labels) = match given.is_empty() {
            true => (mixed, &*labels),
            false => (standardised.mixed(), standardised.labels()),
        };
        slopes.clear();
        slopes.resize(margins.len(), 0.0);
        self.loss.slopes_of_many(margins, labels, slopes);
        for (k, slope) in slopes.iter_mut().enumerate() {
            *slope *= importances[k];
            self.tally.played += *slope * (margins[k] - bases[k]);
        }
        if let Some(sums) = &mut self.gradient_sums {
            terms.add_to(sums, slopes);
        }
    }
}

/// A call of the observer, as work for [`InstructionSet::run`](crate::simd::InstructionSet::run).
pub(super) struct Observe<'a> {
    pub observer: &'a mut Observer,
    pub rounds: &'a mut Rounds,
    pub margins: &'a mut Vec<f64>,
}

impl WithSimd for Observe<'_> {
    type Output = ();

    #[inline(always)]
    fn call<V: Simd>(self, _: V) {
        self.observer.observe(self.rounds, self.margins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LOSSES;

    fn round(loss: Loss, t: usize, importance: f64) -> Round {
        let wave = |k: usize| (3.0 + k as f64) * ((t * (k + 2)) as f64).cos();
        let margins: PerLane = std::array::from_fn(wave);
        Round {
            label: loss.labels().some()[usize::from(!t.is_multiple_of(3))],
            importance,
            base: if t.is_multiple_of(5) { 0.5 } else { 0.0 },
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
        let mut observer = Observer::new(loss, false, fixed_share, Some(vec![0.0; 4]));
        let (mut rounds, mut mixed) = (Rounds::default(), Vec::new());
        for t in 0..200 {
            // Plain rounds, then one of larger importance; no round after it is plain.
            let round = round(loss, t, if t == 150 { 2.0 } else { 1.0 });
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
                    assert_eq!(other.stack_tally, observer.stack_tally);
                }
                assert_eq!((mixed.len(), observer.tally.features), (200, 199 * 100));
            }
        }
    }
}
