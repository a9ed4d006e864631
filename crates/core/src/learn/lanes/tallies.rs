//! The tallies of all lanes, as one array per sum, so that an addition is vectorised over the lanes.

use serde::{Deserialize, Serialize};

use super::experts::PerExpert;
use super::mixture::Suffered;
use crate::learn::tally::LaneTally;
use crate::simd::{LANES, PerLane};

/// The [`LaneTally`] of every lane. In the model file it is an array of [`LaneTally`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[LaneTally; LANES]", into = "[LaneTally; LANES]")]
pub struct LaneTallies {
    loss: PerLane,
    played: PerLane,
    energy: PerLane,
    penalty: PerLane,
    standardised_loss: PerLane,
}

impl LaneTallies {
    /// Add one round to the tallies of all lanes.
    #[inline(always)]
    pub fn add(
        &mut self,
        importance: f64,
        suffered: &Suffered,
        played: &PerLane,
        energies: &PerLane,
    ) {
        for lane in 0..LANES {
            self.loss[lane] += importance * suffered.lost[lane];
            self.played[lane] += played[lane];
            self.energy[lane] += energies[lane];
            self.penalty[lane] += importance * suffered.penalties[lane];
        }
    }

    /// Add the losses of one round of the game on standardised labels.
    pub fn add_standardised(&mut self, importance: f64, lost: &PerExpert) {
        for (sum, lost) in self.standardised_loss.iter_mut().zip(lost) {
            *sum += importance * lost;
        }
    }

    /// The lane, among the first ones, that lost least in the game that the regret is of.
    pub fn least_total(&self, lanes: usize, standardised: bool) -> usize {
        let losses = if standardised { &self.standardised_loss } else { &self.loss };
        let total = |lane: usize| losses[lane] + self.penalty[lane];
        (1..lanes).fold(0, |best, lane| if total(lane) < total(best) { lane } else { best })
    }

    /// The sums over the rounds of all shards, which went on from a start.
    pub fn merged(start: &LaneTallies, shards: &[LaneTallies]) -> LaneTallies {
        let own =
            |lane: usize| -> Vec<LaneTally> { shards.iter().map(|all| all.of(lane)).collect() };
        let merged: [LaneTally; LANES] =
            std::array::from_fn(|lane| LaneTally::merged(&start.of(lane), &own(lane)));
        merged.into()
    }

    /// The tally of one lane.
    pub fn of(&self, lane: usize) -> LaneTally {
        LaneTally {
            loss: self.loss[lane],
            played: self.played[lane],
            energy: self.energy[lane],
            penalty: self.penalty[lane],
            standardised_loss: self.standardised_loss[lane],
        }
    }
}

impl From<[LaneTally; LANES]> for LaneTallies {
    fn from(tallies: [LaneTally; LANES]) -> Self {
        LaneTallies {
            loss: tallies.map(|tally| tally.loss),
            played: tallies.map(|tally| tally.played),
            energy: tallies.map(|tally| tally.energy),
            penalty: tallies.map(|tally| tally.penalty),
            standardised_loss: tallies.map(|tally| tally.standardised_loss),
        }
    }
}

impl From<LaneTallies> for [LaneTally; LANES] {
    fn from(tallies: LaneTallies) -> Self {
        std::array::from_fn(|lane| tallies.of(lane))
    }
}
