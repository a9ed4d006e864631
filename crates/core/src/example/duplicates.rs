//! Detects repeated slots in an example.

/// A bitmap that proves, without sorting, that a list of slots has no repeats.
///
/// False positives are possible (two slots that agree in 16 bits); the slow path then finds nothing to do.
/// For 75 features that happens about once in 24 examples.
#[derive(Clone, Debug)]
pub struct DuplicateFilter {
    bits: Box<[u64; 1 << 10]>,
}

impl Default for DuplicateFilter {
    fn default() -> Self {
        DuplicateFilter { bits: Box::new([0; 1 << 10]) }
    }
}

impl DuplicateFilter {
    /// Whether a slot may occur twice.
    pub fn repeats(&mut self, slots: &[u32]) -> bool {
        let pairs = slots.iter().zip(slots.get(1..).unwrap_or_default());
        let ascending = pairs.fold(true, |ascending, (one, next)| ascending & (one < next));
        if ascending {
            return false;
        }
        let mut repeated = false;
        for &slot in slots {
            let (word, bit) = Self::place(slot);
            repeated |= self.bits[word] & bit != 0;
            self.bits[word] |= bit;
        }
        for &slot in slots {
            self.bits[Self::place(slot).0] = 0;
        }
        repeated
    }

    fn place(slot: u32) -> (usize, u64) {
        // Fibonacci hashing spreads neighbours and multiples of powers of two equally well.
        let mixed = slot.wrapping_mul(0x9E37_79B9) >> 16;
        ((mixed >> 6) as usize, 1 << (mixed & 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_agrees_with_a_set() {
        let mut filter = DuplicateFilter::default();
        for seed in 0..2000u32 {
            let slots: Vec<u32> = (0..40)
                .map(|k: u32| (seed * 40 + k).wrapping_mul(2_654_435_761) >> (10 + seed % 16))
                .collect();
            let distinct: std::collections::HashSet<_> = slots.iter().collect();
            if distinct.len() < slots.len() {
                assert!(filter.repeats(&slots), "seed {seed} has a repeat");
            }
        }
        assert!(filter.bits.iter().all(|&word| word == 0));
    }
}
