//! Hashes the names of a line's features, eight at a time.
//!
//! The hash of a name is a dependency chain of multiplications; eight chains in parallel take the time of
//! one. So a fast reader stores the names, up to 15 bytes each, and hashes them when it knows that the line
//! is plain. A feature whose slot is already known, a number or a long name, is skipped.
//!
//! The hashes of namespaces are cached: most lines have the same namespaces in the same order, so no feature
//! has to wait for the hash of its namespace.

use crate::simd::Simd;
use crate::simd::murmur3::Prefix;
use crate::simd::murmur8::{KNOWN, Names8};

/// The number of names hashed together.
const WIDTH: usize = 8;

/// The number of namespaces cached, by their position in the line.
const PLACES: usize = 32;

/// A namespace and its hash.
#[derive(Clone, Copy, Debug, Default)]
struct Space {
    name: u128,
    length: usize,
    hash: u64,
}

/// The names of a line, in memory that is reused from line to line.
#[derive(Clone, Debug, Default)]
pub struct Names {
    batches: Vec<Names8>,
    /// Whether the line has any names.
    any: bool,
    spaces: [Space; PLACES],
}

impl Names {
    /// Reserve memory for this many names.
    pub fn reserve(&mut self, most: usize) {
        if self.batches.len() * WIDTH < most {
            self.batches.resize(most.div_ceil(WIDTH), Names8::default());
        }
    }

    /// Begin a new line, without names.
    #[inline(always)]
    pub fn begin_line(&mut self) {
        self.any = false;
    }

    /// Store the name of feature `k`: the first `length` of these bytes, at most 15. A `length` of 0 is not a
    /// name and does not count as one.
    #[inline(always)]
    pub fn set(&mut self, k: usize, bytes: &[u8; 16], length: usize, seed: u64) -> Option<()> {
        if !self.any && length > 0 {
            self.any = true;
            self.pass(0, k)?;
        }
        let batch = self.batches.get_mut(k / WIDTH)?;
        let (words, _) = bytes.as_chunks::<4>();
        batch.words[k % WIDTH] = [words[0], words[1], words[2], words[3]].map(u32::from_le_bytes);
        batch.lengths[k % WIDTH] = length as u32;
        batch.seeds[k % WIDTH] = seed as u32;
        Some(())
    }

    /// Store the name of feature `k`: a start that is hashed already, and the first `length` of these bytes after it. The
    /// bytes of the start that are not hashed and these are at most 15. A user of this uses nothing else than it and
    /// `pass`, because the other names have no start.
    #[inline(always)]
    pub fn set_after(
        &mut self,
        k: usize,
        bytes: &[u8; 16],
        length: usize,
        start: &Prefix,
    ) -> Option<()> {
        let joined =
            u128::from_le_bytes(*bytes) << (8 * start.tail_length) | u128::from(start.tail);
        self.set(
            k,
            &joined.to_le_bytes(),
            (start.tail_length + length).max(1),
            start.state.into(),
        )?;
        let batch = self.batches.get_mut(k / WIDTH)?;
        batch.lengths[k % WIDTH] = (start.tail_length + length) as u32;
        batch.before[k % WIDTH] = start.hashed;
        Some(())
    }

    /// Skip `count` features from number `k` on, because their slots are known. Nothing is stored before the
    /// first name, and most lines of numbers have none.
    #[inline(always)]
    pub fn pass(&mut self, k: usize, count: usize) -> Option<()> {
        if self.any {
            for k in k..k + count {
                self.batches.get_mut(k / WIDTH)?.lengths[k % WIDTH] = KNOWN;
            }
        }
        Some(())
    }

    /// Write the slots of the first `count` features, except the skipped ones.
    #[inline(always)]
    pub fn hash<V: Simd>(&self, simd: V, count: usize, mask: u32, slots: &mut [u32]) {
        if !self.any {
            return;
        }
        let (groups, _) = slots.as_chunks_mut::<WIDTH>();
        for (names, slots) in self.batches[..count.div_ceil(WIDTH)].iter().zip(groups) {
            *slots = simd.slots(names, mask, *slots);
        }
    }

    /// The hash of the namespace at `place` in the line. Its name is the first `length` of these bytes.
    #[inline(always)]
    pub fn space(
        &mut self,
        place: usize,
        bytes: &[u8; 16],
        length: usize,
        compute: impl FnOnce() -> Option<u64>,
    ) -> Option<u64> {
        if length > 15 {
            return compute();
        }
        let name = u128::from_le_bytes(*bytes) & ((1 << (8 * length)) - 1);
        let known = &mut self.spaces[place % PLACES];
        // The empty name, which is the default namespace, has hash 0.
        if known.name != name || known.length != length {
            *known = Space { name, length, hash: compute()? };
        }
        Some(known.hash)
    }
}
