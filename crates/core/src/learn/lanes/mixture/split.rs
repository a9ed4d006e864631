//! The split of the mixture's margin among the experts.
//!
//! ```text
//! p − b = Σ_k a_k (p_k − b) + clipping        p the margin of the mixture, p_k that of expert k, b the base
//! ```
//!
//! The factors a_k are the shares where the mixture is a mean. For log odds they are π_k t_b(p_k)/t_b(p);
//! `learn/explain.rs` has the formula and its proof.

use super::Mixture;
use crate::learn::lanes::experts::{PerExpert, Plays, mean};
use crate::loss::{Loss, Mixing};

impl Mixture {
    /// The factors of the experts' margins in the margin that these plays give, and what clipping added.
    pub fn split(
        &self,
        loss: Loss,
        shares: &PerExpert,
        plays: &Plays,
        margin: f64,
        base: f64,
    ) -> (PerExpert, f64) {
        match loss.mixing() {
            Mixing::LogOdds => {
                let mut factors = *shares;
                for (factor, &own) in factors.iter_mut().zip(&plays.margins) {
                    *factor *= (log_steepness(own, base) - log_steepness(margin, base)).exp();
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

/// The logarithm of t_b(z) = (σ(z) − σ(b))/(z − b), up to a term that depends on b alone.
///
/// σ(z) − σ(b) = sinh(d/2) / (2 cosh(z/2) cosh(b/2)) with d = z − b. The logarithm, because a base far from 0 takes
/// the quotient beyond the range of floats. Its part (|d| − |z| − |b|)/2 is −min(|z|, |b|) if z and b have the same
/// sign, else 0: a difference of large numbers would lose digits.
fn log_steepness(z: f64, base: f64) -> f64 {
    let distance = (z - base).abs();
    let slope = if distance == 0.0 { 1.0 } else { -(-distance).exp_m1() / distance };
    let shared = if (z > 0.0) == (base > 0.0) { z.abs().min(base.abs()) } else { 0.0 };
    slope.ln() - shared - (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::lanes::experts::EXPERTS;
    use crate::learn::lanes::stack::Stack;
    use crate::loss::LOSSES;
    use crate::loss::wide::Tails;
    use crate::simd::LANES;

    fn plays(loss: Loss, margins: &[f64; LANES], base: f64) -> Plays {
        Plays::new(loss, margins, &Tails::of(loss, margins), &Stack::default(), base)
    }

    #[test]
    fn the_factors_give_the_margin_and_none_is_below_0() {
        let margins = [
            [0.0; LANES],
            [1e-5, -1e-5, 3e-4, 0.0, 0.0, 1e-300, 0.0, 0.0],
            [2.0, -3.0, 0.5, 0.0, 7.0, -0.1, 20.0, -20.0],
            [40.0, 37.0, 700.0, 60.0, 5000.0, 45.0, 36.0, 900.0],
        ];
        let all = LOSSES.iter().flat_map(|&loss| margins.map(|each| (loss, each)));
        let bases = [0.0, 1e-9, -0.7, 3.0, 4000.0];
        for ((loss, margins), base) in all.flat_map(|each| bases.map(|base| (each, base))) {
            let (mut mixture, plays) = (Mixture::new(0.0), plays(loss, &margins, base));
            for &label in loss.labels().some() {
                mixture.meet(loss, label, 1.0);
                let lost = plays.margins.map(|margin| loss.value(margin, label).min(3.0));
                mixture.absorb(loss, &lost, 1.0, 1.0, 0.0, false);
            }
            let shares = mixture.shares(loss);
            let margin = mixture.margin(loss, &shares, &plays);
            let (factors, clipping) = mixture.split(loss, &shares, &plays, margin, base);
            let own: [f64; EXPERTS] = std::array::from_fn(|k| plays.margins[k] - base);
            let terms: [f64; EXPERTS] = std::array::from_fn(|k| factors[k] * own[k]);
            let size: f64 = terms.iter().map(|term| term.abs()).sum::<f64>() + base.abs();
            let total = base + terms.iter().sum::<f64>() + clipping;
            // The logarithm of odds near 1 has the rounding of the odds.
            let rounding = 1e-13 * size + f64::EPSILON;
            assert!((total - margin).abs() <= rounding, "{loss:?}: {total} {margin}");
            assert!(factors.iter().all(|&factor| factor >= 0.0));
        }
    }

    #[test]
    fn without_a_base_t_is_that_of_the_hyperbolic_tangent() {
        for near in [1e-9, 1e-4, 0.3, 7.0, 300.0] {
            let ratio = (log_steepness(near, 0.0) - log_steepness(0.0, 0.0)).exp();
            assert!((ratio - (0.5 * near).tanh() * 2.0 / near).abs() < 1e-15);
            assert_eq!(log_steepness(near, 0.0), log_steepness(-near, 0.0));
        }
    }
}
