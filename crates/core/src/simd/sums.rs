//! Sums over the features of an example, in a fixed order.

use crate::simd::LANES;
use crate::simd::LANES as WIDTH;
use crate::simd::f64x8::F64x8;

/// A sum in eight accumulators: feature k goes to accumulator k mod 8.
///
/// With one accumulator every addition would wait for the latency of the one before. The order is fixed, so a
/// sum is bit-identical on every machine, and that of a lane is bit-identical to that of a learner at its
/// rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum([f64; WIDTH]);

impl Sum {
    /// The sum with these accumulators.
    #[inline(always)]
    pub fn of(parts: [f64; WIDTH]) -> Self {
        Sum(parts)
    }

    /// Add the terms of eight features.
    #[inline(always)]
    pub fn add(&mut self, terms: &[f64; WIDTH]) {
        for (part, term) in self.0.iter_mut().zip(terms) {
            *part += term;
        }
    }

    /// Add the term of feature `k`.
    #[inline(always)]
    pub fn add_one(&mut self, k: usize, term: f64) {
        self.0[k % WIDTH] += term;
    }

    /// The total of the accumulators.
    #[inline(always)]
    pub fn total(&self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// A sum in every lane, with the same order of additions as [`Sum`].
#[derive(Clone, Copy)]
pub(crate) struct LaneSum<E: F64x8> {
    simd: E,
    parts: [E::Eight; WIDTH],
}

impl<E: F64x8> LaneSum<E> {
    /// Sums that are 0.
    #[inline(always)]
    pub fn new(simd: E) -> Self {
        LaneSum { simd, parts: [simd.splat(0.0); WIDTH] }
    }

    /// Add the terms of feature `k`, one for each lane.
    #[inline(always)]
    pub fn add(&mut self, k: usize, terms: E::Eight) {
        let part = &mut self.parts[k % WIDTH];
        *part = self.simd.add(*part, terms);
    }

    /// The total of each lane.
    #[inline(always)]
    pub fn totals(&self) -> [f64; LANES] {
        let (v, [a, b, c, d, e, f, g, h]) = (self.simd, self.parts);
        let one = v.add(v.add(a, e), v.add(c, g));
        let other = v.add(v.add(b, f), v.add(d, h));
        v.to_array(v.add(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    #[test]
    fn sums_have_the_same_bits_in_eights_one_by_one_and_in_a_lane() {
        let terms: Vec<f64> = (1..25).map(|k| 1.0 / f64::from(k)).collect();
        let (mut simd, mut ones, mut lanes) =
            (Sum::default(), Sum::default(), LaneSum::new(Portable));
        terms.as_chunks().0.iter().for_each(|eight| simd.add(eight));
        for (k, &term) in terms.iter().enumerate() {
            ones.add_one(k, term);
            lanes.add(k, [term; LANES]);
        }
        assert_eq!(ones.total().to_bits(), simd.total().to_bits());
        assert_eq!(lanes.totals().map(f64::to_bits), [simd.total().to_bits(); LANES]);
        assert_ne!(simd.total().to_bits(), terms.iter().sum::<f64>().to_bits());
    }
}
