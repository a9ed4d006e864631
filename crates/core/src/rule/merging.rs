//! How the state of several learners that went on from one start becomes one.
//!
//! Shards k = 1..K start from the same slot and see different examples; Δ is the shard minus the start.
//!
//! ```text
//! sums       S = S₀ + Σ_k ΔS_k
//! matched    w = w₀ + f(S) · Σ_k ΔS_k (Δw_k/f(S_k)) / Σ_k ΔS_k,    f(S) = 1 − exp(−2κc(√S − √S₀))
//! weighted   the same with f = 1: Vowpal Wabbit's weights
//! average    w = w₀ + (1/K) Σ_k Δw_k
//! ```
//!
//! S is the sum of squared gradients, c the rate and κ half the mean number of features of an example. f(S) is
//! the part of the way to its optimum that a weight has gone when its energy has come from S₀ to S: near a
//! minimum the mean gradient is about the curvature times the distance, and the curvature of logistic loss is
//! about the mean of g², so with steps of c g/√S the distance falls as exp(−2c√S), and κ times as fast if the
//! other features of the example move, too. So Δw_k/f(S_k) is where shard k is heading, and f(S) of it is where one
//! learner would be that saw what all shards saw. Where shards moved little the matched merge is a sum, and where
//! they converged it is an average.
//!
//! A sum of which at most one shard's part moved is that shard's, bit for bit. All other sums are added up in the
//! order of the shards, which [`crate::merge`] makes independent of the order in which they were given. The twin is
//! `python/lessregret/learners/merging.py`.

use super::Interval;

/// The ways to merge weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Where one learner would be that saw what all shards saw.
    Matched,
    /// The mean, weighted by the energies that the shards added.
    Weighted,
    /// The mean.
    Average,
}

/// All ways to merge weights, with their names.
pub const WAYS: [(&str, How); 3] =
    [("matched", How::Matched), ("weighted", How::Weighted), ("average", How::Average)];

/// Which ways to merge a rule knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merges {
    /// None.
    Never,
    /// The average only: its slot does not say how much a shard has seen.
    Average,
    /// All.
    Always,
}

/// How slots are merged.
#[derive(Clone, Copy, Debug)]
pub struct Merging {
    /// The way to merge weights.
    pub how: How,
    /// κ, half the mean number of features of an example.
    pub curvature: f64,
    /// The mean square of the coordinate's values, for the part of the energy that the offset makes.
    pub square: f64,
}

/// A change of the unit of the values of a feature, or of the labels: what weights and gradients are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewUnit {
    /// The factor of the weights.
    pub weight: f64,
    /// The factor of the gradients.
    pub gradient: f64,
}

impl NewUnit {
    /// The unit as it was.
    pub const SAME: NewUnit = NewUnit { weight: 1.0, gradient: 1.0 };
}

/// start + Σ (shard − start); that of the only shard that differs, if there is only one.
pub fn merged_sum(start: f64, shards: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut last, mut moved) = (start, start, 0);
    for shard in shards.filter(|shard| shard.to_bits() != start.to_bits()) {
        sum += shard - start;
        (last, moved) = (shard, moved + 1);
    }
    if moved > 1 { sum } else { last }
}

/// The same of counts.
pub fn merged_count(start: u64, shards: impl Iterator<Item = u64>) -> u64 {
    shards.fold(start, |count, shard| count + shard.saturating_sub(start))
}

/// The only one of the shards that differs from the start, or the start if none does; none if several do.
pub fn only_moved<'a, T: PartialEq>(start: &'a T, shards: &'a [T]) -> Option<&'a T> {
    let mut moved = shards.iter().filter(|&shard| shard != start);
    let first = moved.next().unwrap_or(start);
    moved.next().is_none().then_some(first)
}

/// A weight, and the energy that its rate comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heavy {
    /// w
    pub weight: f64,
    /// S
    pub energy: f64,
}

impl Merging {
    /// The weight and the energy of one learner. The energy of a start that was never met is that of the offset.
    pub fn heavy(&self, start: Heavy, shards: &[Heavy], rate: f64) -> Heavy {
        let gained = |shard: &Heavy| (shard.energy - start.energy).max(0.0);
        let total: f64 = shards.iter().map(gained).sum();
        let energy = start.energy + total;
        // √S − √S₀, so that a gain too small for the difference of the roots counts.
        let way = |gain: f64| gain / ((start.energy + gain).sqrt() + start.energy.sqrt());
        let reached = |gain: f64| -(-2.0 * self.curvature * rate * way(gain)).exp_m1();
        let (all, least) = (reached(total), 1.0 / shards.len() as f64);
        let part = |gain: f64| match (self.how, reached(gain)) {
            (How::Average, _) => least,
            (How::Weighted, _) => gain / total,
            (How::Matched, 0.0) => 1.0,
            (How::Matched, own) => gain / total * (all / own),
        };
        let mut shift = 0.0;
        for shard in shards {
            let gain = gained(shard);
            if self.how == How::Average || gain > 0.0 {
                shift += part(gain) * (shard.weight - start.weight);
            }
        }
        Heavy { weight: start.weight + shift, energy }
    }

    /// A number of which the average is wanted where weights are averaged, and the sum otherwise.
    pub fn sum_or_mean(&self, start: f64, shards: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = if self.how == How::Average { shards.len().max(1) } else { 1 };
        start + shards.map(|shard| shard - start).sum::<f64>() / count as f64
    }

    /// The energy of a start that was never met: the offset's, at most half of what any shard has, so that every
    /// shard has gained some.
    pub fn first_energy(&self, offset: f64, energies: impl Iterator<Item = f64>) -> f64 {
        let least = energies.filter(|&energy| energy > 0.0).fold(f64::INFINITY, f64::min);
        let first = offset * offset * self.square;
        if least.is_finite() { first.min(0.5 * least) } else { first }
    }
}

/// The nearest float32 in an interval.
pub fn narrowed(weight: f64, interval: Interval) -> f32 {
    interval.clip(Interval::EVERYWHERE.clip(weight as f32))
}

/// A number from 0 up as a finite float32.
pub fn narrowed_sum(sum: f64) -> f32 {
    (sum as f32).clamp(0.0, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATCHED: Merging = Merging { how: How::Matched, curvature: 2.0, square: 1.0 };

    fn heavy(weight: f64, energy: f64) -> Heavy {
        Heavy { weight, energy }
    }

    #[test]
    fn weights_add_up_where_shards_moved_little_and_are_averaged_where_they_converged() {
        let start = heavy(0.5, 100.0);
        let near = [heavy(0.501, 100.0001), heavy(0.502, 100.0001)];
        let merged = MATCHED.heavy(start, &near, 0.1);
        assert!((merged.weight - 0.503).abs() < 1e-6, "{merged:?}");
        let far = [heavy(2.0, 1e8), heavy(4.0, 1e8)];
        let merged = MATCHED.heavy(start, &far, 0.1);
        assert!((merged.weight - 3.0).abs() < 1e-12, "{merged:?}");
        assert_eq!(merged.energy, 100.0 + 2.0 * (1e8 - 100.0));
    }

    #[test]
    fn the_least_gain_counts() {
        let (start, least) = (heavy(0.5, 100.0), f64::MIN_POSITIVE);
        for shards in
            [[heavy(0.6, 100.000_000_000_000_01); 2], [heavy(0.6, 101.0), heavy(0.7, 100.0)]]
        {
            assert!(MATCHED.heavy(start, &shards, 0.1).weight.is_finite());
        }
        let shards = [heavy(0.1, least), heavy(0.2, least)];
        let merged = Merging { curvature: 1e-3, ..MATCHED }.heavy(heavy(0.0, 0.0), &shards, 1e-38);
        assert!((merged.weight - 0.3).abs() < 0.1, "{merged:?}");
    }

    #[test]
    fn the_other_ways_are_means() {
        let (start, shards) = (heavy(0.0, 1.0), [heavy(1.0, 2.0), heavy(4.0, 4.0)]);
        let merged = |how| Merging { how, ..MATCHED }.heavy(start, &shards, 0.1).weight;
        assert_eq!((merged(How::Average), merged(How::Weighted)), (2.5, 0.25 + 3.0));
    }

    #[test]
    fn a_sum_of_one_part_is_that_part() {
        assert_eq!(merged_sum(0.1, [0.1, 0.7, 0.1].into_iter()), 0.7);
        assert_eq!(merged_sum(1.0, [2.0, 3.0].into_iter()), 4.0);
        assert_eq!(only_moved(&1, &[1, 5, 1]), Some(&5));
        assert_eq!((only_moved(&1, &[1, 1]), only_moved(&1, &[2, 3])), (Some(&1), None));
    }
}
