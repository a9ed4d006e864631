//! What the learner plays in a round, and what it lost: at rate "auto" the mixture of the lanes.
//!
//! ```text
//! experts        the eight lanes, and the stack          q_k,c the probability of class c of expert k
//! multinomial    q_c = Σ_k π_k q_k,c                      margins log q_c
//! one vs rest    p_c = Σ_k π_k p_k,c
//! stack          s_c = Σ_k v_k p_k,c                      one weight for a lane, whatever the class
//!                v learns from g_k = Σ_c α_c p_k,c        α the slopes of the loss at s (`learn/lanes/stack.rs`)
//! ```
//!
//! exp(−loss_k) is the probability that expert k gave to the label, so the multinomial loss is 1-mixable as the
//! logistic loss is, and mixing costs at most ln 9 (Vovk 1998). The shares and what they cost are those of
//! `learn/lanes/mixture/`, which sees losses only, and not how many classes they are of.

use super::{Cells, Classes};
use crate::example::Example;
use crate::learn::frame::Boxes;
use crate::learn::lanes::experts::{EXPERTS, PerExpert, join, mean};
use crate::learn::lanes::mixture::{Mixture, Suffered};
use crate::learn::lanes::stack::Stack;
use crate::learn::lanes::tallies::LaneTallies;
use crate::learn::tally::{Outcome, StackTally, Tally};
use crate::loss::Loss;
use crate::loss::classes::{Lost, softmax};
use crate::rule::Rule;
use crate::simd::exp_log::{exp_neg, ln};
use crate::simd::{LANES, PerLane};

/// A probability above this has all its digits.
const LEAST: f64 = 1e-290;
const NO_PENALTIES: PerExpert = [0.0; EXPERTS];

/// The mixture and the tallies of a learner of many classes. At one rate only the tally is used.
pub(super) struct Observer {
    pub loss: Loss,
    pub fixed_share: f64,
    pub lanes: LaneTallies,
    pub stack: Stack,
    pub stack_tally: StackTally,
    pub mixture: Mixture,
    pub tally: Tally,
}

impl Observer {
    /// An observer before the first round.
    pub fn new(loss: Loss, fixed_share: f64) -> Self {
        let (lanes, stack, stack_tally, tally) = Default::default();
        let mixture = Mixture::new(fixed_share);
        Observer { loss, fixed_share, lanes, stack, stack_tally, mixture, tally }
    }
}

impl<R: Rule, B: Boxes, const AUTO: bool> Classes<R, B, AUTO> {
    /// The losses and the slopes of all lanes, importance not yet counted.
    #[inline(always)]
    pub(super) fn lose(&self, label: usize, cells: &mut Cells) -> Lost {
        let Cells { margins, slopes, .. } = cells;
        slopes.clear();
        slopes.resize(margins.len(), [0.0; LANES]);
        self.frame.loss.of_classes(margins, self.known.counted(), label, slopes)
    }

    /// The margins that are played, from those of the lanes.
    #[inline(always)]
    pub(super) fn play(&self, cells: &mut Cells) {
        if AUTO && self.frame.loss.is_multinomial() {
            let Cells { margins, chances, .. } = cells;
            chances.clear();
            chances.resize(margins.len(), [0.0; LANES]);
            softmax(margins, self.known.counted(), 0, chances);
        }
        self.play_chances(cells);
    }

    /// The margins that are played in a round, whose slopes and losses give the probabilities.
    #[inline(always)]
    pub(super) fn play_round_of(&self, label: usize, lost: &Lost, cells: &mut Cells) {
        if AUTO && self.frame.loss.is_multinomial() {
            let Cells { slopes, chances, .. } = cells;
            chances.clear();
            chances.extend_from_slice(slopes);
            for (chance, &loss) in chances[label].iter_mut().zip(&lost.loss) {
                *chance = exp_neg(loss);
            }
        }
        self.play_chances(cells);
    }

    #[inline(always)]
    fn play_chances(&self, cells: &mut Cells) {
        if AUTO {
            self.stack_margins(cells);
            self.mix(cells);
        } else {
            cells.mixed.clear();
            cells.mixed.extend(cells.margins.iter().map(|row| row[0]));
        }
        self.leave_out(&mut cells.mixed);
    }

    /// A class that does not count is as unlikely as can be.
    fn leave_out(&self, mixed: &mut [f64]) {
        for (margin, counts) in mixed.iter_mut().zip(self.known.counted()) {
            *margin = if *counts { *margin } else { f64::NEG_INFINITY };
        }
    }

    /// s of every class, in the first lane.
    #[inline(always)]
    fn stack_margins(&self, cells: &mut Cells) {
        let Cells { margins, stacked: [stacked, _], .. } = cells;
        stacked.clear();
        for row in margins {
            let mut own = [0.0; LANES];
            own[0] = self.observer.stack.margin(row, 0.0);
            stacked.push(own);
        }
    }

    /// Mix the margins of the lanes and of the stack.
    #[inline(always)]
    fn mix(&self, cells: &mut Cells) {
        let Observer { loss, mixture, .. } = &self.observer;
        let shares = mixture.shares(*loss);
        let Cells { margins, stacked: [stacked, of_stack], chances, mixed, .. } = cells;
        mixed.clear();
        if !loss.is_multinomial() {
            for (row, own) in margins.iter().zip(stacked) {
                mixed.push(mean(&shares, &join(row, own[0])));
            }
            return;
        }
        of_stack.clear();
        of_stack.resize(margins.len(), [0.0; LANES]);
        let counted = self.known.counted();
        softmax(stacked, counted, 0, of_stack);
        for (row, own) in chances.iter().zip(of_stack) {
            mixed.push(mean(&shares, &join(row, own[0])));
        }
        if mixed.iter().zip(counted).any(|(&chance, &counts)| counts && chance < LEAST) {
            return self.mix_logs(margins, stacked, mixed);
        }
        for chance in mixed {
            // A class that does not count has no probability, and no logarithm.
            *chance = ln(if *chance < LEAST { 1.0 } else { *chance });
        }
    }

    /// The logarithms of the mixture's probabilities where some are too small for a float.
    #[cold]
    #[inline(never)]
    fn mix_logs(&self, margins: &[PerLane], stacked: &[PerLane], mixed: &mut [f64]) {
        let Observer { loss, mixture, .. } = &self.observer;
        let (falls, counted) = (mixture.log_falls(*loss), self.known.counted());
        let rows: Vec<PerExpert> =
            margins.iter().zip(stacked).map(|(row, own)| join(row, own[0])).collect();
        let totals: [f64; EXPERTS] = std::array::from_fn(|k| {
            let of_class = |(row, _): (&PerExpert, &bool)| row[k];
            log_sum(rows.iter().zip(counted).filter(|(_, counts)| **counts).map(of_class))
        });
        let all = log_sum(falls.iter().map(|fall| -fall));
        for (row, mixed) in rows.iter().zip(mixed) {
            *mixed = log_sum((0..EXPERTS).map(|k| row[k] - totals[k] - falls[k])) - all;
        }
    }

    /// Record the round: what the lanes, the stack and what was played lost. The mixture and the stack learn.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "one call, and all of them are of the round")]
    pub(super) fn record<const LANED: bool>(
        &mut self,
        label: usize,
        is_new: bool,
        importance: f64,
        features: usize,
        lost: &Lost,
        energies: &PerLane,
        cells: &mut Cells,
    ) {
        let own = if LANED { self.own_loss(label, cells) } else { lost.loss[0] };
        let margin = cells.mixed[label];
        let rivals = cells.mixed.iter().enumerate().filter(|(class, _)| *class != label);
        let (played, energy) = match LANED {
            true => (0.0, 0.0),
            false => (importance * lost.played[0], energies[0]),
        };
        self.observer.tally.record(&Outcome {
            margin,
            loss: own,
            mistake: is_new || rivals.into_iter().any(|(_, rival)| *rival >= margin),
            importance,
            penalty: 0.0,
            played,
            energy,
            features,
        });
        if LANED {
            self.learn_mixture(label, importance, own, lost, energies, cells);
        }
    }

    /// What the mixture lost.
    #[inline(always)]
    fn own_loss(&self, label: usize, cells: &mut Cells) -> f64 {
        let (loss, counted) = (self.frame.loss, self.known.counted());
        match loss.is_multinomial() {
            // Margins of the mixture are logarithms of probabilities; rounding may put one above 0.
            true => (-cells.mixed[label]).max(0.0),
            false => {
                let terms = cells.mixed.iter().zip(counted).enumerate();
                let sign = |class: usize| if class == label { 1.0 } else { -1.0 };
                let of_class = |(class, (&margin, &counts)): (usize, (&f64, &bool))| {
                    if counts { loss.value(margin, sign(class)) } else { 0.0 }
                };
                terms.map(of_class).sum()
            }
        }
    }

    #[inline(always)]
    fn learn_mixture(
        &mut self,
        label: usize,
        importance: f64,
        own: f64,
        lost: &Lost,
        energies: &PerLane,
        cells: &mut Cells,
    ) {
        let Cells { margins, stacked: [stacked, slopes], .. } = cells;
        slopes.clear();
        slopes.resize(margins.len(), [0.0; LANES]);
        let of_stack = self.frame.loss.of_classes(stacked, self.known.counted(), label, slopes);
        let observer = &mut self.observer;
        let suffered =
            Suffered { lost: join(&lost.loss, of_stack.loss[0]), penalties: NO_PENALTIES };
        let (loss, share) = (observer.loss, observer.fixed_share);
        observer.mixture.absorb(loss, &suffered.lost, own, importance, share, false);
        observer.stack_tally.loss += importance * of_stack.loss[0];
        let played = lost.played.map(|played| importance * played);
        observer.lanes.add(importance, &suffered, &played, energies);
        let pairs = margins.iter().zip(&*slopes);
        let pairs = pairs.map(|(row, slope)| (row, slope[0]));
        observer.stack.absorb_classes(pairs, importance);
    }

    /// Add α_c x to the gradient sums, with the slopes of what was played, if they are kept.
    #[inline(always)]
    pub(super) fn take_tangent(
        &mut self,
        label: usize,
        importance: f64,
        example: &Example<'_>,
        positions: &[u32],
        cells: &mut Cells,
    ) {
        if self.gradient_sums.is_none() {
            return;
        }
        let played = self.tangent(label, importance, cells);
        if AUTO {
            self.observer.tally.played += played;
        }
        let (capacity, tangent) = (self.capacity, &cells.tangent);
        let Some(sums) = &mut self.gradient_sums else { return };
        for (&position, &value) in positions.iter().zip(example.values) {
            let (start, wide) = (position as usize * capacity, f64::from(value));
            for (sum, slope) in sums[start..start + tangent.len()].iter_mut().zip(tangent) {
                *sum += slope * wide;
            }
        }
    }

    /// The slopes of what was played; returns Σ_c α_c p_c.
    #[inline(always)]
    fn tangent(&self, label: usize, importance: f64, cells: &mut Cells) -> f64 {
        let (loss, counted) = (self.frame.loss, self.known.counted());
        let Cells { slopes, mixed, tangent, .. } = cells;
        tangent.clear();
        if !AUTO {
            tangent.extend(slopes.iter().map(|row| row[0]));
            return 0.0;
        }
        let mut played = 0.0;
        for (class, (&margin, &counts)) in mixed.iter().zip(counted).enumerate() {
            let is_label = class == label;
            let slope = match loss.is_multinomial() {
                true => exp_neg((-margin).max(0.0)) - if is_label { 1.0 } else { 0.0 },
                false => loss.slope(margin, if is_label { 1.0 } else { -1.0 }),
            };
            let slope = if counts { importance * slope } else { 0.0 };
            played += if slope == 0.0 { 0.0 } else { slope * margin };
            tangent.push(slope);
        }
        played
    }
}

/// ln Σ exp(logs).
fn log_sum(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.map(|log| exp_neg(most - log)).sum();
    most + ln(sum)
}
