//! The stack: an expert that learns how to add up the margins of the lanes.
//!
//! ```text
//! Plays     s = b + Σ_k v_k m_k = b + v·m    b the base margin, m_k the margin of lane k without it, in [−30, 30]
//! State     v, P                             v_k = 1/8 and P = I/4 before the first round
//! Learns    u = P m,  d = 1 + c m·u          g = h ℓ'(s, y),  c = h (ℓ'(s, y) − ℓ'(−s, y))/(2s)
//!           v ← v − (g/d) u
//!           P ← P − (c/d) u uᵀ + 10⁻⁶ I
//! ```
//!
//! The mixture can only choose among the lanes or average them; the stack can also add more or less of them
//! than all, which mends lanes that are all too timid or too bold (stacking: Wolpert 1992). The margins of the
//! lanes are much alike, so a rate for each of them is slow: v moves by Newton's method with the covariance P of
//! v, as in the Kalman filter. c is the curvature of a parabola that touches the loss at s: for log loss it is
//! above the loss everywhere, so no step goes too far (Jaakkola & Jordan 2000), for squared loss it is the loss.
//! Losses without such a parabola have c = h ℓ'(s, y)², the online Newton step (Hazan, Agarwal & Kale 2007). The
//! last term lets v drift by about 1 in a million rounds, so that it never stops learning. The stack is one more expert
//! of the mixture, so it can cost no more than one more lane, whatever it plays.
//!
//! Many classes share v: s_c = Σ_k v_k m_k,c. With the gradient a = Σ_c ∂ℓ/∂s_c m_c of a round that counts once, m is a,
//! g = c = h: the online Newton step, whose curvature is that of the summed gradient.
//!
//! Merging: the mean of v and of P over the shards that learned, which stays a covariance. The twin is
//! `python/lessregret/learners/stack.py`.

use serde::{Deserialize, Serialize};

use crate::loss::{Loss, Mixing, Tail};
use crate::simd::{LANES, PerLane};

/// P before the first round: 1/16 to 1 lose the same on 24 data sets, within 0.3 % (decision 27).
const FIRST_VARIANCE: f64 = 0.25;
/// The variance that every round adds: 0.3 to 3 times as much loses the same (decision 27).
const DRIFT: f64 = 1e-6;
/// A margin beyond which a prediction is certain; larger ones would make the first steps huge.
const FARTHEST: f64 = 30.0;
/// The margin below which the curvature is that at 0, to nine digits.
const NEAREST: f64 = 1e-4;

/// The weights of the lanes' margins, and their covariance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// v
    weights: PerLane,
    /// P, by rows
    covariance: [PerLane; LANES],
}

impl Default for Stack {
    fn default() -> Self {
        let mut covariance = [[0.0; LANES]; LANES];
        for (lane, row) in covariance.iter_mut().enumerate() {
            row[lane] = FIRST_VARIANCE;
        }
        Stack { weights: [1.0 / LANES as f64; LANES], covariance }
    }
}

/// What the loss of the stack is like at its margin: h ℓ'(s, y) and c.
#[derive(Clone, Copy, Debug)]
pub struct Parabola {
    slope: f64,
    curvature: f64,
}

impl Parabola {
    /// Of a loss that counts `importance` times; `tail` is that of the margin.
    #[inline(always)]
    pub fn new(loss: Loss, tail: Tail, margin: f64, label: f64, importance: f64) -> Self {
        let slope = loss.slope_at(tail, margin, label);
        let curvature = match loss.mixing() {
            Mixing::AdaHedge => slope * slope,
            _ if margin.abs() < NEAREST => {
                (loss.slope(NEAREST, label) - loss.slope(-NEAREST, label)) / (2.0 * NEAREST)
            }
            _ => (slope - loss.slope_at(tail, -margin, label)) / (2.0 * margin),
        };
        Parabola { slope: importance * slope, curvature: importance * curvature }
    }
}

impl Stack {
    /// s, the margin of the stack, from those of the lanes, which include the base.
    #[inline(always)]
    pub fn margin(&self, margins: &PerLane, base: f64) -> f64 {
        base + dot(&self.weights, &clipped(margins, base))
    }

    /// The factors of the lanes' margins without the base in s, and what clipping them added.
    pub fn split(&self, margins: &PerLane, base: f64) -> (PerLane, f64) {
        let mut added = 0.0;
        for (weight, (near, far)) in
            self.weights.iter().zip(clipped(margins, base).iter().zip(margins))
        {
            added += weight * (near - (far - base));
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

    /// The stack of one learner: the mean of those shards that went on from a start.
    pub fn merged(start: &Stack, shards: &[Stack]) -> Stack {
        let moved: Vec<&Stack> = shards.iter().filter(|shard| *shard != start).collect();
        if moved.is_empty() {
            return *start;
        }
        let mean = |of: fn(&Stack) -> &[f64], k: usize| {
            moved.iter().map(|shard| of(shard)[k]).sum::<f64>() / moved.len() as f64
        };
        let covariance = |k: usize| mean(|stack| stack.covariance.as_flattened(), k);
        Stack {
            weights: std::array::from_fn(|lane| mean(|stack| &stack.weights, lane)),
            covariance: std::array::from_fn(|row| {
                std::array::from_fn(|lane| covariance(row * LANES + lane))
            }),
        }
    }

    /// Learn from a round, given the lanes' margins.
    #[inline(always)]
    pub fn absorb(&mut self, margins: &PerLane, base: f64, loss: Parabola) {
        self.descend(&clipped(margins, base), loss);
    }

    /// Learn from a round of many classes, given for each the lanes' margins and the slope of s.
    #[inline(always)]
    pub fn absorb_classes<'a>(
        &mut self,
        classes: impl Iterator<Item = (&'a PerLane, f64)>,
        importance: f64,
    ) {
        let mut gradient = [0.0; LANES];
        for (margins, slope) in classes {
            for (entry, margin) in gradient.iter_mut().zip(clipped(margins, 0.0)) {
                *entry += slope * margin;
            }
        }
        self.descend(&gradient, Parabola { slope: importance, curvature: importance });
    }

    /// One step of Newton's method along m, the gradient of s or, of many classes, of the loss.
    #[inline(always)]
    fn descend(&mut self, along: &PerLane, loss: Parabola) {
        let mut moved = [0.0; LANES];
        // P is symmetric, so its rows are its columns.
        for (row, entry) in self.covariance.iter().zip(along) {
            for lane in 0..LANES {
                moved[lane] += row[lane] * entry;
            }
        }
        let divisor = 1.0 + loss.curvature * dot(&moved, along);
        let (step, root) = (loss.slope / divisor, (loss.curvature / divisor).sqrt());
        for (weight, moved) in self.weights.iter_mut().zip(&mut moved) {
            *weight -= step * *moved;
            // With the root in both factors the products are symmetric, to the last bit.
            *moved *= root;
        }
        for (lane, row) in self.covariance.iter_mut().enumerate() {
            let own = moved[lane];
            for (entry, other) in row.iter_mut().zip(&moved) {
                *entry -= own * other;
            }
            row[lane] += DRIFT;
        }
    }
}

/// Σ_k a_k b_k, added up pairwise.
#[inline(always)]
fn dot(one: &PerLane, other: &PerLane) -> f64 {
    let mut terms = *one;
    for (term, factor) in terms.iter_mut().zip(other) {
        *term *= factor;
    }
    for half in [4, 2, 1] {
        for lane in 0..half {
            terms[lane] += terms[lane + half];
        }
    }
    terms[0]
}

#[inline(always)]
fn clipped(margins: &PerLane, base: f64) -> PerLane {
    let mut clipped = *margins;
    for margin in &mut clipped {
        *margin = (*margin - base).clamp(-FARTHEST, FARTHEST);
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LOSSES;

    /// A stream that the average of the lanes does not fit, but twice the first lane does.
    fn round(t: usize) -> (PerLane, f64) {
        let wave = |k: usize| ((t * (k + 3)) as f64).sin() + (t as f64 * 0.7).cos();
        let margins: PerLane = std::array::from_fn(wave);
        (margins, if 2.0 * margins[0] > 0.3 { 1.0 } else { -1.0 })
    }

    #[test]
    fn it_loses_less_than_the_average_of_the_lanes() {
        for &loss in LOSSES {
            let (mut stack, first) = (Stack::default(), Stack::default());
            let (mut lost, mut average) = (0.0, 0.0);
            for t in 0..500 {
                let (margins, label) = round(t);
                let margin = stack.margin(&margins, 0.0);
                lost += loss.value(margin, label);
                average += loss.value(first.margin(&margins, 0.0), label);
                let tail = loss.tail(margin);
                stack.absorb(&margins, 0.0, Parabola::new(loss, tail, margin, label, 1.0));
            }
            assert!(lost < average, "{loss:?}: {lost} {average}");
        }
    }

    #[test]
    fn the_covariance_stays_symmetric_and_positive() {
        let (mut stack, loss) = (Stack::default(), LOSSES[0]);
        for t in 0..10_000 {
            let (margins, label) = round(t);
            let margins = margins.map(|margin| 40.0 * margin);
            let margin = stack.margin(&margins, 0.0);
            stack.absorb(&margins, 0.0, Parabola::new(loss, loss.tail(margin), margin, label, 3.0));
        }
        for (k, row) in stack.covariance.iter().enumerate() {
            assert!(row[k] > 0.0);
            for (j, entry) in row.iter().enumerate() {
                assert_eq!(*entry, stack.covariance[j][k]);
            }
        }
    }

    /// Jaakkola & Jordan 2000: ℓ(s) + ℓ'(s) (z − s) + c (z − s)²/2 ≥ ℓ(z) for log loss, with equality for squared.
    #[test]
    fn the_parabola_is_above_losses_that_are_mixable() {
        for loss in LOSSES.iter().filter(|loss| loss.mixing() != Mixing::AdaHedge) {
            for (margin, other) in [(0.0, 3.0), (2.0, -5.0), (-7.0, 4.0), (1e-7, -1.0)] {
                for label in [-1.0, 1.0] {
                    let at = Parabola::new(*loss, loss.tail(margin), margin, label, 1.0);
                    let far = other - margin;
                    let above =
                        loss.value(margin, label) + far * (at.slope + 0.5 * at.curvature * far);
                    assert!(above >= loss.value(other, label) - 1e-6, "{loss:?} {margin} {other}");
                }
            }
        }
    }
}
