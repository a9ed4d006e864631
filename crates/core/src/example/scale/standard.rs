//! The standard scale: columns are centred and divided by their spread, other features divided by their size.
//!
//! ```text
//! n, μ, M2, σ² = M2/n, rms² = μ² + σ²    of all values of the feature so far, this one and explicit zeros too
//! t                                      the number of examples so far, this one included
//!
//! in every example so far, n = t              x̂ = clip((x − μ)/σ, ±3), and 0 if σ = 0
//! else if rms > 1, |μ| > 3σ > 0, n ≥ t/4      x̂ = clip((sign μ + (x − μ)/σ)/√2, ±3)
//! else                                        x̂ = clip(x/max(1, rms), ±3)
//! the intercept                               √(1 + d), d the features of this example with n = t; 1 if t = 1
//! ```
//!
//! σ = 0 means σ² ≤ 1e-13 μ², and a scaled value below 2^-20 is 0. The statistics take in the value before it is
//! scaled by them, and a label is never looked at. A value so far away that it would make σ more than ten times as
//! large counts in them as one that makes it ten times as large. The second case is a column
//! with some missing cells: its offset is cut to one spread. The intercept is the only carrier of the level
//! once d columns are centred, so it gets as much of the margin as they have.
//!
//! Values of 1 pay nothing: there is no table until a value other than 1 comes. Before that the only state is
//! `ones`, the features that were in every example so far. It starts as the first example's features, shrinks,
//! and is empty after a few examples of sparse data. Their statistics are known exactly: n = t, μ = 1, M2 = 0,
//! so they are silent, which the intercept covers. All other features of value 1 are seen as 1, which is what
//! the definition gives. A feature that is not in every example counts its values from the first example with
//! a table on, and those of that example one value of 1 more.
//!
//! Two parts of a stream can be merged: n and t are counts, μ and M2 follow by Chan's formula, and the
//! features in every example are those with n = t again, an intersection.
//!
//! Cost: nothing for values of 1 before there is a table, then a count; otherwise one line of `scale/moments.rs` a
//! feature, a division and a square root.

use super::batch::grow;
use super::labels::LabelScale;
use super::line::Line;
use super::moments::{MomentTable, Moments};
use super::wide::{Eight, Row, ScaleRow, WIDTH, gather_all};
use super::{Example, Scaled};
use crate::error::{Error, Result};
use crate::rule::Interval;
use crate::simd::InstructionSet;

/// The statistics of all features.
#[derive(Debug)]
pub struct Standard {
    pub(super) intercept: u32,
    /// The number of examples so far; kept only with a table.
    pub(super) examples: u64,
    /// Whether there was an example.
    started: bool,
    /// Without a table: the features that were in every example so far, ascending.
    ones: Vec<u32>,
    /// Whether there was a value other than 1.
    pub(super) has_table: bool,
    pub(super) instructions: InstructionSet,
    pub(super) table: MomentTable,
    next: Next,
    /// Scratch memory: the statistics before an example.
    old: Vec<Eight>,
    /// The scale of the labels, if they are standardised.
    pub(super) labels: Option<LabelScale>,
}

/// What [`Standard::remember`] makes of the example that was prepared.
#[derive(Clone, Debug, Default)]
struct Next {
    examples: u64,
    has_table: bool,
    /// With a table: the statistics of every feature of the example. Those of the intercept are not used.
    moments: Vec<Eight>,
    /// Scratch memory: the positions of their lines.
    places: Vec<u32>,
    /// Without a table: the new `ones`.
    ones: Vec<u32>,
}

/// Whether all values of an example are 1.
#[inline(always)]
pub(super) fn is_ones(example: &Example<'_>) -> bool {
    // No early exit, so that the loop vectorises.
    !example.values.iter().fold(false, |any, &value| any | (value != 1.0))
}

impl Standard {
    /// No statistics yet, for this many slots, one of them the intercept's.
    pub(super) fn new(slots: usize, intercept: u32, labels: Option<LabelScale>) -> Self {
        Standard {
            intercept,
            examples: 0,
            started: false,
            ones: Vec::new(),
            has_table: false,
            instructions: InstructionSet::chosen().unwrap_or(InstructionSet::Portable),
            table: MomentTable::new(slots),
            next: Next::default(),
            old: Vec::new(),
            labels,
        }
    }

    /// Whether an example whose values are all 1 is seen as it is and changes nothing.
    #[inline(always)]
    pub(super) fn leaves_ones(&self) -> bool {
        self.started && !self.has_table && self.ones.is_empty()
    }

    /// The statistics of a slot after so many examples, if there are any.
    #[inline(always)]
    pub(super) fn moments(&self, slot: u32, examples: u64) -> Option<Moments> {
        if self.has_table {
            return self.table.get(slot);
        }
        let is_one = !self.ones.is_empty() && self.ones.binary_search(&slot).is_ok();
        is_one.then(|| Moments::of(1.0, examples))
    }

    pub(super) fn is_untouched(&self, slot: u32) -> bool {
        self.moments(slot, 1).is_none()
    }

    /// The slots that have statistics, ascending.
    pub(super) fn slots(&self) -> Vec<u32> {
        if !self.has_table {
            return self.ones.clone();
        }
        self.table.slots()
    }

    /// The slots of the features that were in every example so far, ascending.
    pub(super) fn always(&self) -> Vec<u32> {
        let mut slots = self.slots();
        slots.retain(|&slot| self.is_always(slot));
        slots
    }

    fn is_always(&self, slot: u32) -> bool {
        self.moments(slot, self.examples).is_some_and(|own| own.count == self.examples as f64)
    }

    /// The line by which a prediction scales a feature; none if the feature was never met.
    fn line(&self, slot: u32) -> Option<Line> {
        let moments = self.moments(slot, self.examples)?;
        Some(Line::of(moments, 1.0 / moments.count, self.examples as f64))
    }

    /// The scaled value per unit of the raw value; 1 for the intercept and for a feature that was never met.
    pub(super) fn slope(&self, slot: u32, unit: bool) -> f64 {
        self.line(slot).map_or(1.0, |line| line.slope(unit))
    }

    /// The mean square of the scaled values of a feature.
    pub(super) fn typical_square(&self, slot: u32) -> f64 {
        self.line(slot).filter(|line| line.stays).map_or(1.0, |line| line.square)
    }

    /// The weight per unit of the raw value. The intercept takes the constants of all centred features, as if
    /// the example had all of them.
    pub(super) fn unscaled(&self, slot: u32, weight: &dyn Fn(usize) -> f32, unit: bool) -> f32 {
        let wide = |slot: u32| f64::from(weight(slot as usize));
        let units = self.labels.as_ref().map(|labels| labels.units());
        let raw = if slot == self.intercept {
            let always = self.always();
            let constant = |&slot: &u32| {
                let per_unit = |line: Line| line.centre * line.slope(unit);
                wide(slot) * self.line(slot).map_or(0.0, per_unit)
            };
            let constants: f64 = always.iter().map(constant).sum();
            let level = if unit { 1.0 } else { level(always.len()) };
            let raw = wide(slot) * level - constants;
            units.map_or(raw, |units| units.of(raw))
        } else {
            // A feature that was never met has no scale yet.
            let raw = wide(slot) * self.line(slot).map_or(1.0, |line| line.slope(unit));
            units.map_or(raw, |units| units.deviation * raw)
        };
        Interval::EVERYWHERE.clip(raw as f32)
    }

    /// The example as the statistics scale it that are there. A feature that was never met is scaled by its
    /// own value.
    #[inline(never)]
    pub(super) fn normalise<'a>(
        &self,
        example: &Example<'a>,
        scratch: &'a mut Scaled,
    ) -> Example<'a> {
        let examples = self.examples as f64;
        let mut columns = 0;
        scratch.fill(example, |slot, value| {
            if slot == self.intercept {
                return None;
            }
            let own = self.moments(slot, self.examples);
            columns += usize::from(own.is_some_and(|own| own.count == examples));
            let line = |own: Moments| Line::of(own, 1.0 / own.count, examples);
            Some(own.map_or_else(|| Line::of_one(value), line))
        });
        scratch.finish(example, level(columns))
    }

    /// The example as the statistics scale it that it has been added to; [`Standard::remember`] keeps them.
    pub(super) fn prepare<'a>(
        &mut self,
        example: &Example<'a>,
        before: u64,
        scratch: &'a mut Scaled,
    ) -> Result<Example<'a>> {
        let has_table = self.has_table || !is_ones(example);
        let columns = match has_table {
            true => self.scale_by_table(example, before, scratch)?,
            false => self.scale_ones(example, before, scratch),
        };
        (self.next.examples, self.next.has_table) = (before + 1, has_table);
        let level = if before == 0 { 1.0 } else { level(columns) };
        Ok(scratch.finish(example, level))
    }

    /// Scale the features by their new statistics. Returns the number of those in every example.
    fn scale_by_table(
        &mut self,
        example: &Example<'_>,
        before: u64,
        scratch: &mut Scaled,
    ) -> Result<usize> {
        let Next { mut places, mut moments, .. } = std::mem::take(&mut self.next);
        self.table.meet(&self.ones, &mut places)?;
        self.table.meet(example.slots, &mut places)?;
        // Before there is a table, the statistics of a feature are one of two. A feature that was not in every
        // example may have been met, and then its values were 1: it starts with one such value, so that a wild
        // value is seen as one. Not in the second example, where the count would say that it was in both.
        let met = if before > 1 { Moments::of(1.0, 1) } else { Moments::default() };
        let first = [met.into(), Moments::of(1.0, before).into()];
        if !self.has_table {
            let is_one = |slot: &u32| self.ones.binary_search(slot).is_ok();
            places.clear();
            places.extend(example.slots.iter().map(|slot| u32::from(is_one(slot))));
        }
        let (features, groups) = (example.values.len(), example.values.len().div_ceil(WIDTH));
        grow(&mut self.old, groups);
        grow(&mut moments, groups);
        scratch.values.resize(groups * WIDTH, 0.0);
        scratch.unit_values.resize(groups * WIDTH, 0.0);
        let old = &mut self.old[..groups];
        match self.table.columns_mut() {
            Some(columns) if self.has_table => gather_all(old, &columns.view(), &places),
            _ => gather_all(old, &first, &places),
        }
        let row = Row {
            values: example.values,
            number: before as f64 + 1.0,
            scaled: &mut scratch.values,
            units: &mut scratch.unit_values,
            old,
            new: &mut moments[..groups],
        };
        let columns = self.instructions.run(ScaleRow(row));
        scratch.values.truncate(features);
        scratch.unit_values.truncate(features);
        // The intercept is the last feature, unless the example was made by hand.
        scratch.intercept = example.slots.iter().rposition(|&slot| slot == self.intercept);
        (self.next.moments, self.next.places) = (moments, places);
        Ok(columns)
    }

    /// Scale an example of ones before there is a table: features in every example are silent. Returns their
    /// number.
    fn scale_ones(&mut self, example: &Example<'_>, before: u64, scratch: &mut Scaled) -> usize {
        let mut ones = std::mem::take(&mut self.next.ones);
        ones.clear();
        if before == 0 {
            ones.extend(example.slots.iter().filter(|&&slot| slot != self.intercept));
            ones.sort_unstable();
        } else {
            keep_common(&self.ones, example.slots, &mut ones);
        }
        scratch.fill(example, |slot, _| {
            let is_silent = !ones.is_empty() && ones.binary_search(&slot).is_ok();
            let line = if is_silent { Line::silent() } else { Line::as_it_is() };
            (slot != self.intercept).then_some(line)
        });
        self.next.ones = ones;
        self.next.ones.len()
    }

    /// Keep what [`Standard::prepare`] computed for this example.
    pub(super) fn remember(&mut self, example: &Example<'_>) {
        self.started = true;
        let before = self.next.examples - 1;
        self.examples = self.next.examples;
        if !self.next.has_table {
            std::mem::swap(&mut self.ones, &mut self.next.ones);
            return;
        }
        if !self.has_table {
            for slot in std::mem::take(&mut self.ones) {
                self.table.set(slot, Moments::of(1.0, before));
            }
            self.has_table = true;
        }
        for (k, &slot) in example.slots.iter().enumerate() {
            if slot != self.intercept {
                self.table.set(slot, self.next.moments[k / WIDTH].get(k % WIDTH));
            }
        }
    }

    /// Restore the statistics of these slots after so many examples. `slots` ascend, and those without
    /// statistics have a count of 0.
    pub fn restore(&mut self, examples: u64, slots: &[u32], moments: &[Moments]) -> Result<()> {
        (self.examples, self.started) = (examples, examples > 0);
        let kept = || slots.iter().zip(moments).filter(|(_, moments)| moments.count > 0.0);
        kept().try_for_each(|(&slot, &moments)| self.check(slot, moments))?;
        let silent = Moments::of(1.0, examples);
        // Of a run whose values were all 1 only the features that were in every example are kept.
        if kept().all(|(_, &moments)| moments == silent) {
            self.ones = kept().map(|(&slot, _)| slot).collect();
            return Ok(());
        }
        self.has_table = true;
        self.table.meet(slots, &mut Vec::new())?;
        for (&slot, &moments) in kept() {
            self.table.set(slot, moments);
        }
        Ok(())
    }

    fn check(&self, slot: u32, moments: Moments) -> Result<()> {
        let Moments { count, mean, squares } = moments;
        let refuse = |name: &str, found: f64, expected: &str| {
            Err(Error::Spec(format!("'{name} of slot {slot}' is {found:?}, expected {expected}")))
        };
        let most = f64::from(f32::MAX);
        if slot == self.intercept {
            return refuse("count", count, "0, since the intercept is not scaled by statistics");
        }
        if !(count >= 1.0 && count <= self.examples as f64 && count.fract() == 0.0) {
            return refuse("count", count, "a whole number of at most the number of rounds");
        }
        if mean.is_nan() || mean.abs() > most {
            return refuse("mean", mean, "the mean of float32 values");
        }
        // Twice, since the sum is rounded.
        let limit = if count > 1.0 { 2.0 * count * most * most } else { 0.0 };
        if !(0.0..=limit).contains(&squares) {
            return refuse("squares", squares, "a sum of squares of that many values");
        }
        Ok(())
    }
}

/// The value of the intercept in an example with this many centred columns.
pub(super) fn level(columns: usize) -> f64 {
    (1.0 + columns as f64).sqrt()
}

/// The slots that both lists have; `ascending` stays in its order.
fn keep_common(ascending: &[u32], slots: &[u32], common: &mut Vec<u32>) {
    if ascending.len() <= FEW {
        common.extend(ascending.iter().filter(|slot| slots.contains(slot)));
        return;
    }
    common.extend(slots.iter().filter(|slot| ascending.binary_search(slot).is_ok()));
    common.sort_unstable();
}

/// The length of a list up to which looking for each of its slots in turn is fastest.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const INTERCEPT: u32 = 9;

    fn example<'a>(slots: &'a [u32], values: &'a [f32]) -> Example<'a> {
        Example { label: 1.0, importance: 1.0, base: 0.0, slots, values, unit_values: values }
    }

    fn new() -> Standard {
        Standard::new(10, INTERCEPT, None)
    }

    /// What is seen of a round, which is then remembered.
    fn play(
        standard: &mut Standard,
        slots: &[u32],
        values: &[f32],
    ) -> Result<(Vec<u32>, Vec<f32>)> {
        let (before, mut scratch) = (standard.examples, Scaled::default());
        let seen = standard.prepare(&example(slots, values), before, &mut scratch)?;
        let seen = (seen.slots.to_vec(), seen.values.to_vec());
        standard.remember(&example(slots, values));
        Ok(seen)
    }

    #[test]
    fn a_column_is_centred_and_the_intercept_takes_its_place() -> Result<()> {
        let mut standard = new();
        assert_eq!(play(&mut standard, &[4, 9], &[5.0, 1.0])?, (vec![9], vec![1.0]));
        let root = 2f32.sqrt();
        assert_eq!(play(&mut standard, &[4, 9], &[7.0, 1.0])?, (vec![4, 9], vec![1.0, root]));
        assert_eq!(play(&mut standard, &[4, 9], &[0.0, 1.0])?.1, [-1.358_732_5, root]);
        Ok(())
    }

    #[test]
    fn statistics_are_those_of_two_passes() -> Result<()> {
        let values: Vec<f32> = (0..200u32).map(|k| 1e5 + (k * k % 17) as f32).collect();
        let mut standard = new();
        for &value in &values {
            play(&mut standard, &[4, 9], &[value, 1.0])?;
        }
        let found = standard.table.get(4).unwrap_or_default();
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 200.0;
        let squares: f64 = values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum();
        assert_eq!(found.count, 200.0);
        assert!((found.mean - mean).abs() < 1e-9, "{found:?}");
        assert!((found.squares - squares).abs() < 1e-6, "{found:?}");
        Ok(())
    }

    #[test]
    fn a_column_with_missing_cells_keeps_one_spread_of_its_offset() -> Result<()> {
        let mut standard = new();
        for k in 0..20u8 {
            play(&mut standard, &[4], &[100.0 + f32::from(k % 2)])?;
        }
        play(&mut standard, &[1], &[1.0])?;
        let (slots, values) = play(&mut standard, &[4, 9], &[100.5, 1.0])?;
        assert_eq!((slots, values[1]), (vec![4, 9], 1.0));
        assert!((values[0] - 0.5f32.sqrt()).abs() < 1e-6, "{values:?}");
        Ok(())
    }

    #[test]
    fn other_features_are_divided_by_their_size_if_it_is_above_1() -> Result<()> {
        let mut standard = new();
        play(&mut standard, &[], &[])?;
        assert_eq!(play(&mut standard, &[4, 1], &[-8.0, 0.25])?.1, [-1.0, 0.25]);
        assert_eq!(play(&mut standard, &[4], &[6.0])?.1, [0.848_528_15]);
        Ok(())
    }

    #[test]
    fn ones_need_no_table_and_only_what_was_in_every_example_is_silent() -> Result<()> {
        let mut standard = new();
        assert_eq!(play(&mut standard, &[7, 2, 9], &[1.0; 3])?, (vec![9], vec![1.0]));
        let seen = play(&mut standard, &[3, 2, 9], &[1.0; 3])?;
        assert_eq!(seen, (vec![3, 9], vec![1.0, 2f32.sqrt()]));
        assert!(!standard.leaves_ones() && standard.always() == [2]);
        assert_eq!(play(&mut standard, &[3, 9], &[1.0; 2])?, (vec![3, 9], vec![1.0; 2]));
        assert!(standard.leaves_ones() && !standard.has_table);
        Ok(())
    }

    #[test]
    fn a_table_that_comes_late_knows_what_was_in_every_example() -> Result<()> {
        let mut standard = new();
        for _ in 0..3 {
            play(&mut standard, &[7], &[1.0])?;
        }
        let (_, values) = play(&mut standard, &[7], &[5.0])?;
        assert_eq!(standard.table.get(7), Some(Moments { count: 4.0, mean: 2.0, squares: 12.0 }));
        assert!((values[0] - 3f32.sqrt()).abs() < 1e-6, "{values:?}");
        Ok(())
    }

    #[test]
    fn a_round_that_was_prepared_and_not_remembered_leaves_no_trace() -> Result<()> {
        let mut standard = new();
        play(&mut standard, &[7, 2], &[1.0; 2])?;
        let mut scratch = Scaled::default();
        standard.prepare(&example(&[7], &[3.0]), 1, &mut scratch)?;
        assert_eq!((standard.has_table, standard.always()), (false, vec![2, 7]));
        standard.prepare(&example(&[7], &[1.0]), 1, &mut scratch)?;
        assert_eq!(standard.always(), [2, 7]);
        Ok(())
    }

    #[test]
    fn a_prediction_uses_the_statistics_as_they_stand() -> Result<()> {
        let mut standard = new();
        play(&mut standard, &[4, 9], &[5.0, 1.0])?;
        play(&mut standard, &[4, 9], &[7.0, 1.0])?;
        for _ in 0..2 {
            let mut scratch = Scaled::default();
            let rows = example(&[4, 1, 9], &[8.0, -6.0, 1.0]);
            let seen = standard.normalise(&rows, &mut scratch);
            assert_eq!(seen.values, [2.0, -1.0, 2f32.sqrt()]);
        }
        Ok(())
    }

    #[test]
    fn what_no_run_could_have_counted_is_not_restored() {
        let good = Moments { count: 2.0, mean: 3.0, squares: 1.0 };
        assert_eq!(new().restore(2, &[4], &[good]), Ok(()));
        for wrong in [
            Moments { count: 3.0, ..good },
            Moments { count: 1.5, ..good },
            Moments { count: 1.0, ..good },
            Moments { mean: f64::NAN, ..good },
            Moments { mean: 1e39, ..good },
            Moments { squares: -1.0, ..good },
            Moments { squares: f64::INFINITY, ..good },
        ] {
            assert!(new().restore(2, &[4], &[wrong]).is_err(), "{wrong:?}");
        }
        assert!(new().restore(2, &[INTERCEPT], &[good]).is_err());
    }
}
