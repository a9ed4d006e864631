//! The slots of a learner that was merged, whatever its kind: one lane, eight lanes, or those of many classes.
//!
//! A slot is gathered from the start and from all shards, lane by lane, and its rule merges it. The lanes of all kinds
//! stand in one order, class by class and lane by lane ([`Inspect::copy_field`]), so the place of a lane says which it is.

use super::MergeOrder;
use crate::learn::lanes::coin::COIN;
use crate::learn::model::Inspect;
use crate::rule::coin::{Coin, Slot as CoinSlot};
use crate::rule::{Merging, NewUnit, Rule, Slot};
use crate::simd::LANES;

/// The start and its shards, whose slots are merged.
pub struct Merger<'a> {
    /// The start.
    pub start: &'a dyn Inspect,
    /// The shards.
    pub shards: &'a [&'a dyn Inspect],
    /// How they are merged.
    pub order: &'a MergeOrder<'a>,
}

impl Merger<'_> {
    /// The fields of these slots of the merged learner. A lane has the rule that `rule_at` says for a slot and a lane;
    /// with a coin, that plays in its own lane.
    pub fn merged<R: Rule>(
        &self,
        slots: &[u32],
        rule_at: impl Fn(usize, usize) -> R,
        coin: Option<Coin>,
    ) -> Vec<Vec<f32>> {
        let gathered = Gathered::new(self.start, self.shards, slots);
        let mut fields =
            vec![Vec::with_capacity(slots.len() * gathered.width); R::Slot::FIELDS.len()];
        let mut moved = Vec::new();
        for (k, &slot) in slots.iter().enumerate() {
            gathered.find_moved(k, &mut moved);
            if moved.len() < 2 {
                gathered.copy(moved.first().copied(), k, &mut fields);
                continue;
            }
            let merging = self.order.merging(slot);
            let units = self.units(slot, &moved, R::UNIT_VALUES);
            let coin = coin.map(|coin| (coin, self.units(slot, &moved, Coin::UNIT_VALUES)));
            let row = Row { gathered: &gathered, k, moved: &moved };
            for place in 0..gathered.width {
                match &coin {
                    Some((coin, units)) if place % LANES == COIN => {
                        let (first, all) = row.slots(place, units, bet::<R::Slot>);
                        push(&merge(coin, &merging, first, &all), &mut fields);
                    }
                    _ => {
                        let rule = rule_at(slot as usize, place % LANES);
                        let (first, all) = row.slots(place, &units, |slot: R::Slot| slot);
                        push(&merge(&rule, &merging, first, &all), &mut fields);
                    }
                }
            }
        }
        fields
    }

    /// The changes of unit of the start and of those shards that have moved.
    fn units(&self, slot: u32, moved: &[usize], unit: bool) -> Vec<NewUnit> {
        let moved = moved.iter().map(|&shard| self.shards[shard]);
        let all = std::iter::once(self.start).chain(moved);
        all.map(|model| self.order.unit(model.scales(), slot, unit)).collect()
    }
}

/// A slot that several shards have moved.
struct Row<'a> {
    gathered: &'a Gathered,
    /// Its place among the slots that were gathered.
    k: usize,
    moved: &'a [usize],
}

impl Row<'_> {
    /// The slots of the start and of all shards in a lane, with their changes of unit.
    fn slots<S: Slot, T: Copy>(
        &self,
        lane: usize,
        units: &[NewUnit],
        as_what: impl Fn(S) -> T,
    ) -> ((T, NewUnit), Vec<(T, NewUnit)>) {
        let start = (as_what(self.gathered.start(self.k, lane)), units[0]);
        let mut all = vec![start; self.gathered.shards.len()];
        for (&shard, &unit) in self.moved.iter().zip(&units[1..]) {
            all[shard] = (as_what(self.gathered.slot(shard, self.k, lane)), unit);
        }
        (start, all)
    }
}

/// The two floats of a slot in the coin lane, as what they are there.
fn bet<S: Slot>(slot: S) -> CoinSlot {
    CoinSlot { reward: slot.get(0), stake: slot.get(1) }
}

/// A slot of the merged learner, from those of the start and of the shards, each with the change of its unit. Where at
/// most one shard has moved it, it is that shard's; a shard that has not moved it counts as the start.
fn merge<R: Rule>(
    rule: &R,
    merging: &Merging,
    start: (R::Slot, NewUnit),
    shards: &[(R::Slot, NewUnit)],
) -> R::Slot {
    let has_moved = |own: &R::Slot| !same(own, &start.0);
    let mut moved = shards.iter().filter(|(own, _)| has_moved(own));
    let first = moved.next().map_or(start.0, |(own, _)| *own);
    if moved.next().is_none() {
        return first;
    }
    let here = |&(own, unit): &(R::Slot, NewUnit)| match unit {
        NewUnit::SAME => own,
        unit => rule.in_unit(&own, unit),
    };
    let start_here = here(&start);
    let in_one_unit = |shard: &(R::Slot, NewUnit)| {
        if has_moved(&shard.0) { here(shard) } else { start_here }
    };
    let shards: Vec<_> = shards.iter().map(in_one_unit).collect();
    rule.merge(&start_here, &shards, merging)
}

fn same<S: Slot>(one: &S, other: &S) -> bool {
    (0..S::FIELDS.len()).all(|field| one.get(field).to_bits() == other.get(field).to_bits())
}

/// The fields of some slots of the start and of its shards.
struct Gathered {
    width: usize,
    start: Fields,
    shards: Vec<Fields>,
}

/// The fields of a learner, slot by slot and lane by lane.
type Fields = Vec<Vec<f32>>;

impl Gathered {
    /// Copy the fields of these slots.
    fn new(start: &dyn Inspect, shards: &[&dyn Inspect], slots: &[u32]) -> Self {
        let field = |model: &dyn Inspect, field: usize| {
            let mut floats = Vec::new();
            model.copy_field(field, slots, &mut floats);
            floats
        };
        let all = |model: &dyn Inspect| -> Fields {
            (0..model.fields().len()).map(|own| field(model, own)).collect()
        };
        let shards = shards.iter().map(|model| all(*model)).collect();
        Gathered { width: start.lanes(), start: all(start), shards }
    }

    /// Find the shards that have moved the k-th slot in any lane.
    fn find_moved(&self, k: usize, moved: &mut Vec<usize>) {
        let places = k * self.width..(k + 1) * self.width;
        let differs = |own: &Fields| {
            let pairs = own.iter().zip(&self.start);
            pairs.into_iter().any(|(own, start)| {
                let mut differs = false;
                for (own, start) in own[places.clone()].iter().zip(&start[places.clone()]) {
                    differs |= own.to_bits() != start.to_bits();
                }
                differs
            })
        };
        moved.clear();
        moved.extend((0..self.shards.len()).filter(|&shard| differs(&self.shards[shard])));
    }

    /// Append the k-th slot of a shard, or of the start, in all lanes.
    fn copy(&self, shard: Option<usize>, k: usize, fields: &mut [Vec<f32>]) {
        let own = shard.map_or(&self.start, |shard| &self.shards[shard]);
        for (field, floats) in fields.iter_mut().zip(own) {
            field.extend_from_slice(&floats[k * self.width..(k + 1) * self.width]);
        }
    }

    /// The k-th slot of the start in a lane.
    fn start<S: Slot>(&self, k: usize, lane: usize) -> S {
        slot_of(&self.start, k * self.width + lane)
    }

    /// The k-th slot of a shard in a lane.
    fn slot<S: Slot>(&self, shard: usize, k: usize, lane: usize) -> S {
        slot_of(&self.shards[shard], k * self.width + lane)
    }
}

fn slot_of<S: Slot>(fields: &Fields, place: usize) -> S {
    let mut slot = S::default();
    for (field, floats) in fields.iter().enumerate() {
        slot.set(field, floats[place]);
    }
    slot
}

/// Append the fields of a slot.
fn push<S: Slot>(slot: &S, fields: &mut [Vec<f32>]) {
    for (field, floats) in fields.iter_mut().enumerate() {
        floats.push(slot.get(field));
    }
}
