//! The certificate of a run: what no fixed weights of a given size could have lost less than.
//!
//! A convex loss lies above its tangents. Let p_t be the margin that was played in round t, y_t the label, h_t the
//! importance, b_t the base margin and α_t = h_t ℓ'(p_t, y_t). For every fixed u:
//!
//! ```text
//! Σ h_t ℓ(b_t + u·x_t, y_t)  ≥  Σ [h_t ℓ(p_t, y_t) − α_t (p_t − b_t)] + G·u          G = Σ α_t x_t
//!                               offset                                 gradient sums
//! ```
//!
//! The least value of the right side over |u_i| ≤ r is offset − r‖G‖₁, over ‖u‖₂ ≤ r it is offset − r‖G‖₂ and over
//! ‖u‖₁ ≤ r it is offset − r‖G‖_∞. So the three norms of G certify every size at once. The intercept has a limit of
//! its own, so its sum is kept apart.
//!
//! A learner with one rate plays one point, so with L2 its G is that of loss and penalty. The mixture of the lanes
//! plays no single point: there G is that of the loss alone, and the penalty of u is counted as 0.
//!
//! Merging: offset and G are sums over the rounds.

/// A copy of the sums of a certificate at some round. The sums of the rounds since then are differences to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SumsMark {
    /// The offset at that round.
    pub offset: f64,
    /// The gradient sums at that round, in the order of the learner's table; those that are missing were 0.
    pub sums: Vec<f64>,
    /// The number of sums of each place, for a learner of many classes.
    pub width: Option<usize>,
}

impl SumsMark {
    /// The part of a sum that came since the mark.
    pub fn sum(&self, place: usize, sum: f64) -> f64 {
        sum - self.sums.get(place).copied().unwrap_or(0.0)
    }
}

/// Three norms of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Norms {
    /// Σ |v_i|
    pub l1: f64,
    /// √Σ v_i²
    pub l2: f64,
    /// max |v_i|
    pub max: f64,
}

/// The sums that certify the loss of all fixed weights, and the size of the weights that were learned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Σ [h_t ℓ(p_t, y_t) − α_t (p_t − b_t)], in the game that the regret is of.
    pub offset: f64,
    /// The norms of G without the intercept.
    pub sums: Norms,
    /// The norms of the learned weights without the intercept, for scaled values; with lanes, the weights of the
    /// lane that lost least.
    pub weights: Norms,
    /// G of the intercept; 0 without one.
    pub intercept_sum: f64,
    /// The learned weight of the intercept; 0 without one.
    pub intercept_weight: f64,
}

/// A certificate that is computed coordinate by coordinate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    intercept: Option<u32>,
    /// `l2` of the norms is the sum of squares.
    own: Certificate,
}

impl Measure {
    /// The measure of no coordinates, with the intercept in this slot.
    pub fn new(offset: f64, intercept: Option<u32>) -> Self {
        Measure { intercept, own: Certificate { offset, ..Certificate::default() } }
    }

    /// Add a coordinate: its slot, gradient sum and weight.
    #[inline(always)]
    pub fn add(&mut self, slot: usize, sum: f64, weight: f32) {
        let (own, weight) = (&mut self.own, f64::from(weight));
        if Some(slot as u32) == self.intercept {
            (own.intercept_sum, own.intercept_weight) = (sum, weight);
        } else {
            own.sums.add(sum);
            own.weights.add(weight);
        }
    }

    /// Add a coordinate of one of many classes. Every class has an intercept, each within the same limit: the sum is
    /// that of their absolute sums, and the weight the largest.
    #[inline(always)]
    pub fn add_class(&mut self, slot: usize, sum: f64, weight: f32) {
        if Some(slot as u32) != self.intercept {
            return self.add(slot, sum, weight);
        }
        let (own, weight) = (&mut self.own, f64::from(weight));
        own.intercept_sum += sum.abs();
        own.intercept_weight = own.intercept_weight.max(weight.abs());
    }

    /// The certificate of all coordinates.
    pub fn finish(self) -> Certificate {
        let mut own = self.own;
        own.sums.l2 = own.sums.l2.sqrt();
        own.weights.l2 = own.weights.l2.sqrt();
        own
    }
}

impl Norms {
    /// Add a coordinate; `l2` is the sum of squares until the end.
    #[inline(always)]
    fn add(&mut self, number: f64) {
        self.l1 += number.abs();
        self.l2 += number * number;
        self.max = self.max.max(number.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intercept_is_kept_apart_from_the_norms() {
        let mut measure = Measure::new(10.0, Some(9));
        for (slot, sum, weight) in [(0, 3.0, 1.0), (4, -4.0, -2.0), (9, 7.0, 0.5)] {
            measure.add(slot, sum, weight);
        }
        let found = measure.finish();
        assert_eq!(found.sums, Norms { l1: 7.0, l2: 5.0, max: 4.0 });
        assert_eq!(found.weights, Norms { l1: 3.0, l2: 5.0_f64.sqrt(), max: 2.0 });
        assert_eq!((found.offset, found.intercept_sum, found.intercept_weight), (10.0, 7.0, 0.5));
    }
}
