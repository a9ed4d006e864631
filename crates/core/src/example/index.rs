//! The index from slots to positions of lines: a slot gets the next free position when it is first met.
//!
//! Readers may look up the positions of examples while a learner works on earlier ones: the index is shared,
//! and which slot has which position does not affect what is learned. A lookup is a random read of four bytes
//! a feature. Done in the reading thread it costs the learning thread nothing.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use lessregret_prefetch::collapse;

use super::{SlotLookup, TouchedSlots};
use crate::alloc::zeroed;
use crate::error::Result;

/// The number of slots whose positions are in one page of 4 kB.
const SLOTS_OF_A_PAGE: usize = 1 << 10;
/// The number of slots in a page, on average, from which on nearly every page is in use. Then the index moves to huge
/// pages, which avoid TLB misses. From the start they would need 2 MB for every slot of a small model.
const IN_A_PAGE: usize = 4;

/// The position of the line of every slot.
pub struct SlotIndex {
    /// The position of each slot, 0 if it was never met.
    positions: Vec<AtomicU32>,
    last: Mutex<u32>,
    met: TouchedSlots,
}

impl std::fmt::Debug for SlotIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SlotIndex").field("last", &self.last()).finish_non_exhaustive()
    }
}

impl SlotIndex {
    /// An index for this many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        Ok(SlotIndex {
            positions: zeroed(slots)?,
            last: Mutex::new(0),
            met: TouchedSlots::new(slots)?,
        })
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.positions.len()
    }

    /// The last position that was assigned to a slot; 0 if none was.
    pub fn last(&self) -> u32 {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slots that were met.
    pub fn met(&self) -> &TouchedSlots {
        &self.met
    }

    /// The position of a slot, 0 if it was never met.
    #[inline(always)]
    pub fn find(&self, slot: u32) -> u32 {
        self.positions[slot as usize].load(Relaxed)
    }

    /// The position of a slot. A new slot gets the next position.
    #[inline]
    pub fn meet(&self, slot: u32) -> u32 {
        match self.find(slot) {
            0 => self.assign(slot),
            position => position,
        }
    }

    /// Append the positions of these slots. New slots get the next positions.
    #[inline(always)]
    pub fn meet_all(&self, slots: &[u32], positions: &mut Vec<u32>) {
        let start = positions.len();
        positions.extend(slots.iter().map(|&slot| self.find(slot)));
        if positions[start..].contains(&0) {
            self.meet_new(slots, &mut positions[start..]);
        }
    }

    #[inline(never)]
    fn meet_new(&self, slots: &[u32], positions: &mut [u32]) {
        for (position, &slot) in positions.iter_mut().zip(slots) {
            if *position == 0 {
                *position = self.meet(slot);
            }
        }
    }

    fn assign(&self, slot: u32) -> u32 {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have assigned a position in the meantime.
        if self.find(slot) == 0 {
            *last += 1;
            self.positions[slot as usize].store(*last, Relaxed);
            self.met.meet(slot as usize);
            if *last as usize == self.positions.len() / SLOTS_OF_A_PAGE * IN_A_PAGE {
                collapse(&self.positions);
            }
        }
        self.find(slot)
    }
}

impl SlotLookup for SlotIndex {
    fn look_up(&self, slots: &[u32], positions: &mut Vec<u32>) {
        self.meet_all(slots, positions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_place_whoever_meets_it() -> Result<()> {
        let positions = SlotIndex::new(1000)?;
        let found: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let meet = |start: u32| {
                let (positions, slots) =
                    (&positions, (0..700).map(move |k| (start + 7 * k) % 1000));
                scope.spawn(move || {
                    let (slots, mut found) = (slots.collect::<Vec<_>>(), Vec::new());
                    positions.meet_all(&slots, &mut found);
                    assert!(slots.iter().zip(&found).all(|(&slot, &k)| positions.find(slot) == k));
                    found
                })
            };
            let workers: Vec<_> = [0, 333, 500, 999].map(meet).into_iter().collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        assert_eq!(found.len(), 4);
        let mut given: Vec<u32> = (0..1000).map(|slot| positions.find(slot)).collect();
        given.retain(|&position| position > 0);
        given.sort_unstable();
        assert!(given.iter().copied().eq(1..=positions.last()));
        assert!(positions.met().slots().eq((0..1000).filter(|&k| positions.find(k as u32) > 0)));
        Ok(())
    }

    #[test]
    fn who_only_looks_meets_nothing() -> Result<()> {
        let positions = SlotIndex::new(10)?;
        assert_eq!(
            (positions.find(3), positions.last(), positions.met().slots().count()),
            (0, 0, 0)
        );
        assert_eq!((positions.meet(3), positions.meet(3), positions.find(3)), (1, 1, 1));
        Ok(())
    }
}
