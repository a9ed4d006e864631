//! Where the line of each slot stands: a slot gets the next free place when it is first met.
//!
//! Whoever reads examples may look up their places too, while others learn from earlier ones: the places
//! are shared, and which slot has which changes nothing that is learned. Looking up is a random read of
//! four bytes a feature; in the thread that reads it costs the one that learns nothing.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::memory::zeroed;
use crate::pages::Pages;

/// The places of a table's slots.
pub struct Places {
    /// 0 for a slot that was never met.
    places: Vec<AtomicU32>,
    last: Mutex<u32>,
    pages: Pages,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Places").field("last", &self.last()).finish_non_exhaustive()
    }
}

impl Places {
    /// For so many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        Ok(Places { places: zeroed(slots)?, last: Mutex::new(0), pages: Pages::new(slots)? })
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.places.len()
    }

    /// The last place that was given to a slot; 0 if none was.
    pub fn last(&self) -> u32 {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slots that were met.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The place of a slot, 0 if it was never met.
    #[inline(always)]
    pub fn find(&self, slot: u32) -> u32 {
        self.places[slot as usize].load(Relaxed)
    }

    /// The place of a slot, which is met by this.
    #[inline]
    pub fn meet(&self, slot: u32) -> u32 {
        match self.find(slot) {
            0 => self.give(slot),
            place => place,
        }
    }

    /// Append the places of slots, which are met by this.
    #[inline(always)]
    pub fn meet_all(&self, slots: &[u32], places: &mut Vec<u32>) {
        let start = places.len();
        places.extend(slots.iter().map(|&slot| self.find(slot)));
        if places[start..].contains(&0) {
            self.meet_new(slots, &mut places[start..]);
        }
    }

    #[inline(never)]
    fn meet_new(&self, slots: &[u32], places: &mut [u32]) {
        for (place, &slot) in places.iter_mut().zip(slots) {
            if *place == 0 {
                *place = self.meet(slot);
            }
        }
    }

    fn give(&self, slot: u32) -> u32 {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Another may have been here first.
        if self.find(slot) == 0 {
            *last += 1;
            self.places[slot as usize].store(*last, Relaxed);
            self.pages.meet(slot as usize);
        }
        self.find(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_place_whoever_meets_it() -> Result<()> {
        let places = Places::new(1000)?;
        let found: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let meet = |start: u32| {
                let (places, slots) = (&places, (0..700).map(move |k| (start + 7 * k) % 1000));
                scope.spawn(move || {
                    let (slots, mut found) = (slots.collect::<Vec<_>>(), Vec::new());
                    places.meet_all(&slots, &mut found);
                    assert!(slots.iter().zip(&found).all(|(&slot, &k)| places.find(slot) == k));
                    found
                })
            };
            let workers: Vec<_> = [0, 333, 500, 999].map(meet).into_iter().collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        assert_eq!(found.len(), 4);
        let mut given: Vec<u32> = (0..1000).map(|slot| places.find(slot)).collect();
        given.retain(|&place| place > 0);
        given.sort_unstable();
        assert!(given.iter().copied().eq(1..=places.last()));
        assert!(places.pages().slots().eq((0..1000).filter(|&k| places.find(k as u32) > 0)));
        Ok(())
    }

    #[test]
    fn who_only_looks_meets_nothing() -> Result<()> {
        let places = Places::new(10)?;
        assert_eq!((places.find(3), places.last(), places.pages().slots().count()), (0, 0, 0));
        assert_eq!((places.meet(3), places.meet(3), places.find(3)), (1, 1, 1));
        Ok(())
    }
}
