//! What the rounds of a batch add to the gradient sums of the certificate (`learn/certificate.rs`).
//!
//! The slopes are those of the mixture, which are known only when the batch has been observed. So the values that
//! were played are kept until then; the positions of their lines are kept for the batch anyway. The sums lie in
//! the order of the lines, frequent features near the beginning, so that most of them are in the cache.

use std::ops::Range;

use lessregret_prefetch::prefetch;

/// The features of the rounds of a batch, as they were played.
#[derive(Default)]
pub struct Terms {
    values: Vec<f32>,
    /// For every round, where the positions of its lines are among those of the batch.
    places: Vec<Range<usize>>,
}

impl Terms {
    /// Prefetch the sums of the lines with these positions.
    #[inline(always)]
    pub fn prefetch(sums: &[f64], positions: &[u32]) {
        for &position in positions {
            prefetch(sums, position as usize);
        }
    }

    /// Append the values of a round, whose lines have the positions in this range.
    #[inline(always)]
    pub fn push(&mut self, places: Range<usize>, values: &[f32]) {
        self.values.extend_from_slice(values);
        self.places.push(places);
    }

    /// Add α_t x_t of every round to the sums, and forget the rounds.
    #[inline(always)]
    pub fn add_to(&mut self, sums: &mut [f64], positions: &[u32], slopes: &[f64]) {
        let mut values = self.values.as_slice();
        for (places, &slope) in self.places.drain(..).zip(slopes) {
            let (own, rest) = values.split_at(places.len());
            for (&position, &value) in positions[places].iter().zip(own) {
                sums[position as usize] += slope * f64::from(value);
            }
            values = rest;
        }
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_adds_its_slope_times_its_values() {
        let (mut terms, mut sums) = (Terms::default(), vec![0.0; 4]);
        for _ in 0..2 {
            terms.push(0..2, &[2.0, 1.0]);
            terms.push(2..2, &[]);
            terms.push(3..4, &[5.0]);
            terms.add_to(&mut sums, &[1, 3, 0, 3], &[0.5, 7.0, -1.0]);
        }
        assert_eq!(sums, [0.0, 2.0, 0.0, -9.0]);
    }
}
