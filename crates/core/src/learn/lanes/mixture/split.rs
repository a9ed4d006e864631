//! The split of the mixture's margin among the experts.
//!
//! ```text
//! p = Σ_k a_k p_k + clipping        p the margin of the mixture, p_k that of expert k
//! ```
//!
//! The factors a_k are the shares where the mixture is a mean. For log odds they are π_k t(p_k)/t(p);
//! `learn/explain.rs` has the formula and its proof.

use super::Mixture;
use crate::learn::lanes::experts::{PerExpert, Plays, mean};
use crate::loss::{Loss, Mixing};

/// |z| below which t(z) is computed by its series: its error, z⁴/480, is below rounding.
const SMALL: f64 = 1e-4;

impl Mixture {
    /// The factors of the experts' margins in the margin that these plays give, and what clipping added.
    pub fn split(
        &self,
        loss: Loss,
        shares: &PerExpert,
        plays: &Plays,
        margin: f64,
    ) -> (PerExpert, f64) {
        match loss.mixing() {
            Mixing::LogOdds => {
                let mut factors = *shares;
                for (factor, &own) in factors.iter_mut().zip(&plays.margins) {
                    *factor *= flatness(own) / flatness(margin);
                }
                (factors, 0.0)
            }
            Mixing::ClippedMean => (*shares, self.added_by_clipping(shares, &plays.margins)),
            Mixing::AdaHedge => (*shares, 0.0),
        }
    }

    /// Σ π_k (clip(p_k, A, B) − p_k).
    fn added_by_clipping(&self, shares: &PerExpert, margins: &PerExpert) -> f64 {
        let mut added = self.clipped(margins);
        for (added, margin) in added.iter_mut().zip(margins) {
            *added -= margin;
        }
        mean(shares, &added)
    }
}

/// t(z) = (σ(z) − ½)/z, from ¼ at 0 down to 0.
fn flatness(z: f64) -> f64 {
    if z.abs() < SMALL { 0.25 - z * z / 48.0 } else { (0.5 * z).tanh() / (2.0 * z) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::lanes::experts::EXPERTS;
    use crate::learn::lanes::stack::Stack;
    use crate::loss::LOSSES;
    use crate::loss::wide::Tails;
    use crate::simd::LANES;

    fn plays(loss: Loss, margins: &[f64; LANES]) -> Plays {
        Plays::new(loss, margins, &Tails::of(loss, margins), &Stack::default())
    }

    #[test]
    fn the_factors_give_the_margin_and_none_is_below_0() {
        let margins = [
            [0.0; LANES],
            [1e-5, -1e-5, 3e-4, 0.0, 0.0, 1e-300, 0.0, 0.0],
            [2.0, -3.0, 0.5, 0.0, 7.0, -0.1, 20.0, -20.0],
            [40.0, 37.0, 700.0, 60.0, 5000.0, 45.0, 36.0, 900.0],
        ];
        for (loss, margins) in LOSSES.iter().flat_map(|&loss| margins.map(|each| (loss, each))) {
            let (mut mixture, plays) = (Mixture::new(0.0), plays(loss, &margins));
            for &label in loss.labels().some() {
                mixture.meet(loss, label, 1.0);
                let lost = plays.margins.map(|margin| loss.value(margin, label).min(3.0));
                mixture.absorb(loss, &lost, 1.0, 1.0, 0.0, false);
            }
            let shares = mixture.shares(loss);
            let margin = mixture.margin(loss, &shares, &plays);
            let (factors, clipping) = mixture.split(loss, &shares, &plays, margin);
            let terms: [f64; EXPERTS] = std::array::from_fn(|k| factors[k] * plays.margins[k]);
            let size: f64 = terms.iter().map(|term| term.abs()).sum();
            let total = terms.iter().sum::<f64>() + clipping;
            // The logarithm of odds near 1 has the rounding of the odds.
            let rounding = 1e-13 * size + f64::EPSILON;
            assert!((total - margin).abs() <= rounding, "{loss:?}: {total} {margin}");
            assert!(factors.iter().all(|&factor| factor >= 0.0));
        }
    }

    #[test]
    fn the_two_ways_to_compute_t_meet() {
        for near in [0.99 * SMALL, 1.01 * SMALL] {
            let direct = (0.5 * near).tanh() / (2.0 * near);
            assert!((flatness(near) - direct).abs() < 1e-15);
            assert_eq!(flatness(near), flatness(-near));
        }
        assert_eq!(flatness(0.0), 0.25);
    }
}
