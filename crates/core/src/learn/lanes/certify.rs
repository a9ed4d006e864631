//! What rounds add to the gradient sums of the certificate (`learn/certificate.rs`).
//!
//! The slopes are those of the mixture, so the observer adds them up, when it has observed the rounds. Until then the
//! values that were played are kept, with the positions of their lines: 8 bytes a feature, written and read in
//! order. The sums lie in the order of the lines, frequent features near the beginning, so that most of them are in
//! the cache.

use lessregret_prefetch::prefetch;

/// The features of rounds, as they were played.
#[derive(Default)]
pub struct Terms {
    positions: Vec<u32>,
    values: Vec<f32>,
    /// For every round the end of its features.
    ends: Vec<usize>,
}

impl Terms {
    /// Append the features of a round.
    #[inline(always)]
    pub fn push(&mut self, positions: &[u32], values: &[f32]) {
        self.positions.extend_from_slice(positions);
        self.values.extend_from_slice(values);
        self.ends.push(self.values.len());
    }

    /// Add α_t x_t of every round to the sums.
    #[inline(always)]
    pub fn add_to(&self, sums: &mut [f64], slopes: &[f64]) {
        // All sums are fetched first: each would else be waited for.
        for &position in &self.positions {
            prefetch(sums, position as usize);
        }
        let mut start = 0;
        for (&end, &slope) in self.ends.iter().zip(slopes) {
            let features = self.positions[start..end].iter().zip(&self.values[start..end]);
            for (&position, &value) in features {
                sums[position as usize] += slope * f64::from(value);
            }
            start = end;
        }
    }

    /// Forget the rounds.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.values.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_adds_its_slope_times_its_values() {
        let (mut terms, mut sums) = (Terms::default(), vec![0.0; 4]);
        for _ in 0..2 {
            terms.clear();
            terms.push(&[1, 3], &[2.0, 1.0]);
            terms.push(&[], &[]);
            terms.push(&[3], &[5.0]);
            terms.add_to(&mut sums, &[0.5, 7.0, -1.0]);
        }
        assert_eq!(sums, [0.0, 2.0, 0.0, -9.0]);
    }
}
