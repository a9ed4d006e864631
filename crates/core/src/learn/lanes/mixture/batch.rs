//! The mixture of many rounds at once, if they are plain: log loss, importance 1, no fixed share.
//!
//! A plain round changes the mixture only through the losses of the lanes; what the mixture plays does not
//! feed back. So each step is computed for all rounds before the next step, in loops without a dependency
//! chain. The last two of these loops hold four rounds in a vector. The result is bit-identical to one round
//! after another.

use super::{Mixture, decay, halves, least, sum};
use crate::loss::wide::Tails;
use crate::loss::{Loss, Mixing};
use crate::simd::exp_log::ln;
use crate::simd::{LANES, PerLane};

/// Scratch for the mixture of many rounds: the inputs and the intermediate results.
#[derive(Default)]
pub struct Plays {
    /// How much more than the best lane each lane had lost before the round.
    gaps: Vec<PerLane>,
    shares: Vec<PerLane>,
    /// Σ π_k σ(m_k) and Σ π_k σ(−m_k).
    chances: Vec<[f64; 2]>,
}

impl Mixture {
    /// Whether rounds with these importances are plain.
    pub fn is_plain(&self, loss: Loss, importances: &[f64]) -> bool {
        let mut plain = loss.mixing() == Mixing::LogOdds && self.heaviest == 1.0;
        for &importance in importances {
            plain &= importance == 1.0;
        }
        plain
    }

    /// Play plain rounds, given the losses of the lanes, and append the mixture's margins.
    #[inline(always)]
    pub fn play_many(
        &mut self,
        margins: &[PerLane],
        tails: &[Tails],
        lost: &[PerLane],
        plays: &mut Plays,
        mixed: &mut Vec<f64>,
    ) {
        self.meet_losses(lost, &mut plays.gaps);
        plays.share();
        plays.weigh(margins, tails);
        let start = mixed.len();
        for [yes, no] in &plays.chances {
            mixed.push(yes / no);
        }
        for odds in &mut mixed[start..] {
            *odds = ln(*odds);
        }
        plays.mend(margins, &mut mixed[start..]);
    }

    #[inline(always)]
    fn meet_losses(&mut self, lost: &[PerLane], gaps: &mut Vec<PerLane>) {
        gaps.clear();
        let mut losses = self.losses;
        for lost in lost {
            let (mut gap, least) = (losses, least(losses));
            for lane in 0..LANES {
                gap[lane] -= least;
                losses[lane] += lost[lane];
            }
            gaps.push(gap);
        }
        self.losses = losses;
    }
}

impl Plays {
    #[inline(always)]
    fn share(&mut self) {
        self.shares.clear();
        for gap in &self.gaps {
            let mut share = [0.0; LANES];
            for lane in 0..LANES {
                share[lane] = decay(1.0, gap[lane]);
            }
            self.shares.push(share);
        }
    }

    #[inline(always)]
    fn weigh(&mut self, margins: &[PerLane], tails: &[Tails]) {
        self.chances.clear();
        for ((shares, margins), tails) in self.shares.iter().zip(margins).zip(tails) {
            let (mut shares, total) = (*shares, sum(*shares));
            for share in &mut shares {
                *share /= total;
            }
            self.chances.push(halves(&shares, margins, tails));
        }
    }

    /// Recompute the rounds in which all lanes are so sure that one of the two chances underflows.
    #[inline(always)]
    fn mend(&self, margins: &[PerLane], mixed: &mut [f64]) {
        for (k, chances) in self.chances.iter().enumerate() {
            if !super::have_digits(*chances) {
                mixed[k] = super::log_odds(1.0, &self.gaps[k], &margins[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::wide::values;
    use crate::simd::{InstructionSet, Simd, WithSimd};

    const LOSS: Loss = Loss::Logistic;

    type Played = (Vec<f64>, Mixture);

    /// Plain rounds, played one by one and all at once for comparison.
    struct Playing<'a>(&'a [PerLane], &'a [PerLane]);

    impl WithSimd for Playing<'_> {
        type Output = [Played; 2];

        #[inline(always)]
        fn call<V: Simd>(self, _vectors: V) -> [Played; 2] {
            let Playing(margins, lost) = self;
            let tails: Vec<Tails> =
                margins.iter().map(|margins| Tails::of(LOSS, margins)).collect();
            let (mut mixture, mut mixed) = (Mixture::default(), Vec::new());
            for ((margins, tails), lost) in margins.iter().zip(&tails).zip(lost) {
                mixed.push(mixture.margin(LOSS, &mixture.shares(LOSS), margins, tails));
                mixture.absorb(LOSS, lost, 0.0, 1.0, 0.0, false);
            }
            let one_by_one = (mixed, mixture);
            let (mut mixture, mut mixed, mut plays) = Default::default();
            Mixture::play_many(&mut mixture, margins, &tails, lost, &mut plays, &mut mixed);
            [one_by_one, (mixed, mixture)]
        }
    }

    #[test]
    fn many_rounds_at_once_give_the_bits_of_one_after_another() {
        for growth in [0.01, 0.3, 40.0] {
            let margin = |t: usize, k: usize| growth * (t as f64) * ((t + 3 * k) as f64).sin();
            let margins: Vec<PerLane> =
                (0..64).map(|t| std::array::from_fn(|k| margin(t, k))).collect();
            let lost: Vec<PerLane> = margins
                .iter()
                .map(|margins| values(LOSS, margins, 1.0, &Tails::of(LOSS, margins)))
                .collect();
            for path in InstructionSet::available() {
                let [one_by_one, at_once] = path.run(Playing(&margins, &lost));
                let bits = |mixed: &[f64]| mixed.iter().map(|m| m.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&at_once.0), bits(&one_by_one.0), "{path:?}, {growth}");
                assert_eq!(at_once.1, one_by_one.1);
            }
        }
    }
}
