//! The stack: an expert that learns how to add up the margins of the lanes.
//!
//! ```text
//! Plays     s = Σ_k v_k m_k                 m_k the margin of lane k, clipped to [−30, 30]
//! State     v_k, H_k                        v_k = 1/8 and H_k = 0.01 before the first round
//! Learns    v_k ← v_k − 0.2 g_k/√H_k        g_k = h ℓ'(s, y) m_k,  H_k ← H_k + g_k² before
//! ```
//!
//! The mixture can only choose among the lanes or average them; the stack can also add more or less of them
//! than all, which mends lanes that are all too timid or too bold (stacking: Wolpert 1992). It is one more
//! expert of the mixture, so it can cost no more than one more lane, whatever it plays.
//!
//! Merging: H_k is a sum; v_k is a weight and merges as those of the rule per-coordinate do. The twin is
//! `python/lessregret/learners/stack.py`.

use serde::{Deserialize, Serialize};

use crate::simd::{LANES, PerLane};

/// The rate: 0.2 to 0.5 lose the same on 60 data sets, 0.05 up to 1.3 % more (decision 27).
const STEP: f64 = 0.2;
/// H before the first round.
const FIRST_ENERGY: f64 = 0.01;
/// A margin beyond which a prediction is certain; larger ones would make the first steps huge.
const FARTHEST: f64 = 30.0;

/// The weights of the lanes' margins, and the energies that their rates come from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// v_k
    weights: PerLane,
    /// H_k
    energies: PerLane,
}

impl Default for Stack {
    fn default() -> Self {
        Stack { weights: [1.0 / LANES as f64; LANES], energies: [FIRST_ENERGY; LANES] }
    }
}

impl Stack {
    /// s, the margin of the stack, from those of the lanes.
    #[inline(always)]
    pub fn margin(&self, margins: &PerLane) -> f64 {
        let mut terms = clipped(margins);
        for (term, weight) in terms.iter_mut().zip(&self.weights) {
            *term *= weight;
        }
        for half in [4, 2, 1] {
            for lane in 0..half {
                terms[lane] += terms[lane + half];
            }
        }
        terms[0]
    }

    /// The factors of the lanes' margins in s, and what clipping them added.
    pub fn split(&self, margins: &PerLane) -> (PerLane, f64) {
        let mut added = 0.0;
        for (weight, (near, far)) in self.weights.iter().zip(clipped(margins).iter().zip(margins)) {
            added += weight * (near - far);
        }
        (self.weights, added)
    }

    /// (Σ|v_k|) Σ|v_k| penalty_k: at least the penalty of the point Σ v_k w_k, by convexity of the square.
    #[inline(always)]
    pub fn penalty(&self, penalties: &PerLane) -> f64 {
        let (mut sizes, mut penalty) = (0.0, 0.0);
        for (weight, each) in self.weights.iter().zip(penalties) {
            sizes += weight.abs();
            penalty += weight.abs() * each;
        }
        sizes * penalty
    }

    /// Learn from a round, given the lanes' margins and h ℓ'(s, y).
    #[inline(always)]
    pub fn absorb(&mut self, margins: &PerLane, slope: f64) {
        let mut gradients = clipped(margins);
        for gradient in &mut gradients {
            *gradient *= slope;
        }
        self.descend(&gradients);
    }

    /// Learn from a round of many classes, given for each the lanes' margins and the slope of s: the gradients add up.
    #[inline(always)]
    pub fn absorb_classes<'a>(&mut self, classes: impl Iterator<Item = (&'a PerLane, f64)>) {
        let mut gradients = [0.0; LANES];
        for (margins, slope) in classes {
            for (gradient, margin) in gradients.iter_mut().zip(clipped(margins)) {
                *gradient += slope * margin;
            }
        }
        self.descend(&gradients);
    }

    #[inline(always)]
    fn descend(&mut self, gradients: &PerLane) {
        let state = self.weights.iter_mut().zip(&mut self.energies);
        for ((weight, energy), gradient) in state.zip(gradients) {
            *energy += gradient * gradient;
            *weight -= STEP * gradient / energy.sqrt();
        }
    }
}

#[inline(always)]
fn clipped(margins: &PerLane) -> PerLane {
    let mut clipped = *margins;
    for margin in &mut clipped {
        *margin = margin.clamp(-FARTHEST, FARTHEST);
    }
    clipped
}
