//! The statistics of values and labels of all shards that went on from a start.
//!
//! ```text
//! n = n₀ + Σ_k (n_k − n₀)
//! μ = r + Σ_parts n (μ − r)/n        the sums of all values, about a reference r
//! M2 = Σ_parts Q − n (μ − r)²        Q = M2_k + n_k (μ_k − r)², the squares about r
//! ```
//!
//! This is the formula of Chan, Golub & LeVeque (1979) for parts that are known only as differences from a common
//! start. The reference is the start's mean, or that of the first part, so that a column such as 100,000 ± 1 keeps
//! its spread.

use super::{LabelStatistics, Moments};
use crate::rule::merging::{merged_sum, only_moved};

/// n, μ and M2.
type Triple = [f64; 3];

fn merged(start: Triple, shards: &[Triple]) -> Triple {
    let shards: Vec<Triple> = shards.iter().copied().filter(|own| own[0] > start[0]).collect();
    if let Some(only) = only_moved(&start, &shards) {
        return *only;
    }
    let reference = if start[0] > 0.0 { start[1] } else { shards[0][1] };
    let sum = |own: &Triple| own[0] * (own[1] - reference);
    let square = |own: &Triple| own[2] + own[0] * (own[1] - reference).powi(2);
    let total = |part: &dyn Fn(&Triple) -> f64| merged_sum(part(&start), shards.iter().map(part));
    let count = total(&|own| own[0]);
    let shift = total(&sum) / count;
    [count, reference + shift, (total(&square) - count * shift * shift).max(0.0)]
}

impl Moments {
    /// The statistics of the values of all shards. A shard that counts fewer values than the start has stopped
    /// counting them, and adds none.
    pub fn merged(start: Moments, shards: &[Moments]) -> Moments {
        let triple = |own: &Moments| [own.count, own.mean, own.squares];
        let shards: Vec<_> = shards.iter().map(triple).collect();
        let [count, mean, squares] = merged(triple(&start), &shards);
        Moments { count, mean, squares }
    }
}

impl LabelStatistics {
    /// The statistics of the labels of all shards.
    pub fn merged(start: LabelStatistics, shards: &[LabelStatistics]) -> LabelStatistics {
        let triple = |own: &LabelStatistics| [own.importance, own.mean, own.squares];
        let triples: Vec<_> = shards.iter().map(triple).collect();
        let [importance, mean, squares] = merged(triple(&start), &triples);
        let join = |one: [f64; 2], other: [f64; 2]| [one[0].min(other[0]), one[1].max(other[1])];
        let range = shards.iter().filter_map(|own| own.range).chain(start.range).reduce(join);
        LabelStatistics { importance, mean, squares, range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Moments {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
        Moments { count, mean, squares }
    }

    #[test]
    fn merged_statistics_are_those_of_all_values() {
        let values: Vec<f64> = (0..90u32).map(|k| 1e5 + f64::from(k * k % 17)).collect();
        for first in [0, 30] {
            let start = if first > 0 { of(&values[..first]) } else { Moments::default() };
            let with = |part: &[f64]| of(&[&values[..first], part].concat());
            let shards = [with(&values[first..50]), start, with(&values[50..])];
            let (found, expected) = (Moments::merged(start, &shards), of(&values));
            assert_eq!(found.count, expected.count);
            assert!((found.mean - expected.mean).abs() < 1e-9, "{found:?} {expected:?}");
            assert!((found.squares - expected.squares).abs() < 1e-6, "{found:?} {expected:?}");
            assert_eq!(Moments::merged(start, &[start, shards[0]]), shards[0]);
        }
    }
}
