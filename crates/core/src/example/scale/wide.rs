//! The standard scale of an example with a table of statistics, eight features at a time.
//!
//! The same numbers as `scale/line.rs` computes for one feature, bit for bit, without branches: first the
//! statistics of all features are gathered, then a loop that vectorises updates them and scales the values, and the
//! caller scatters them. In separate loops the divisions of one group do not wait for the lines of the next. For
//! dense rows and texts most of the cost of scaling is here.

use std::f64::consts::FRAC_1_SQRT_2;

use super::line::{CLIP, EQUAL, NOTHING, OFFSET, PRESENT};
use super::moments::{self, Lines, Moments};
use crate::simd::{Simd, WithSimd};

/// The number of features at a time.
pub(super) const WIDTH: usize = 8;

/// The statistics of eight features, field by field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eight {
    counts: [f64; WIDTH],
    means: [f64; WIDTH],
    squares: [f64; WIDTH],
}

/// An example to scale.
pub(super) struct Row<'a> {
    pub values: &'a [f32],
    /// The number of examples so far, this one included.
    pub number: f64,
    /// The scaled values and the unit values, padded to a multiple of eight or longer.
    pub scaled: &'a mut [f32],
    pub units: &'a mut [f32],
    /// The statistics before this example, and with it.
    pub old: &'a [Eight],
    pub new: &'a mut [Eight],
}

impl Row<'_> {
    /// Scale the values; returns the number of features in every example.
    #[inline(always)]
    pub fn scale(self) -> usize {
        let Row { values, number, scaled, units, old, new } = self;
        let mut columns = Columns::default();
        let (full, rest) = values.as_chunks::<WIDTH>();
        let (scaled, units) = (scaled.as_chunks_mut::<WIDTH>().0, units.as_chunks_mut::<WIDTH>().0);
        let outputs = scaled.iter_mut().zip(units.iter_mut()).zip(new.iter_mut());
        for ((values, old), ((scaled, units), new)) in full.iter().zip(old).zip(outputs) {
            (*scaled, *units, *new) = old.scale(values, number, &mut columns);
        }
        if !rest.is_empty() {
            let (last, mut values) = (full.len(), [0.0; WIDTH]);
            values[..rest.len()].copy_from_slice(rest);
            (scaled[last], units[last], new[last]) = old[last].scale(&values, number, &mut columns);
        }
        columns.count()
    }
}

/// The call of [`Row::scale`] as work for [`crate::simd::InstructionSet::run`].
pub(super) struct ScaleRow<'a>(pub Row<'a>);

impl WithSimd for ScaleRow<'_> {
    type Output = usize;

    #[inline(always)]
    fn call<V: Simd>(self, _: V) -> usize {
        self.0.scale()
    }
}

/// The number of features that were in every example, counted in eight places.
#[derive(Default)]
pub(super) struct Columns([f64; WIDTH]);

impl Columns {
    pub fn count(&self) -> usize {
        self.0.iter().sum::<f64>() as usize
    }
}

/// Gather the statistics at these positions.
#[inline(always)]
pub(super) fn gather_all(groups: &mut [Eight], lines: &impl Lines, positions: &[u32]) {
    for (group, positions) in groups.iter_mut().zip(positions.chunks(WIDTH)) {
        group.gather(lines, positions);
    }
}

impl Eight {
    /// The statistics of feature `k`.
    #[inline(always)]
    pub fn get(&self, k: usize) -> Moments {
        Moments { count: self.counts[k], mean: self.means[k], squares: self.squares[k] }
    }

    /// Replace what is here by the lines at these positions, at most eight. The others are empty: they must not
    /// count as features in every example.
    #[inline(always)]
    fn gather(&mut self, lines: &impl Lines, positions: &[u32]) {
        if positions.len() < WIDTH {
            *self = Eight::default();
        }
        for (k, &position) in positions.iter().enumerate() {
            let [count, mean, squares, _] = lines.line(position);
            (self.counts[k], self.means[k], self.squares[k]) = (count, mean, squares);
        }
    }

    /// Store the statistics at these positions, at most eight.
    #[inline(always)]
    pub fn scatter(&self, table: &mut moments::Columns, positions: &[u32]) {
        table.put_all(positions, [&self.counts, &self.means, &self.squares]);
    }

    /// The values that count in the statistics. Nearly always these are the values themselves.
    #[inline(always)]
    fn counted(&self, values: &[f32; WIDTH]) -> [f64; WIDTH] {
        let mut counted = values.map(f64::from);
        let mut is_any_wild = false;
        for (k, value) in counted.iter().enumerate() {
            let (limit, distance) = (self.get(k).square_limit(), value - self.means[k]);
            is_any_wild |= (limit > 0.0) & (distance * distance > limit);
        }
        if is_any_wild {
            for (k, value) in counted.iter_mut().enumerate() {
                *value = self.get(k).counted(*value);
            }
        }
        counted
    }

    /// Eight values scaled, their unit values, and the statistics with them, after this example, of which there
    /// are so many by now. Adds 1 to `columns` for every feature that was in all of them.
    #[inline(always)]
    pub(super) fn scale(
        &self,
        values: &[f32; WIDTH],
        examples: f64,
        columns: &mut Columns,
    ) -> ([f32; WIDTH], [f32; WIDTH], Eight) {
        let Eight { mut counts, mut means, mut squares } = *self;
        let (mut scaled, mut units) = ([0.0; WIDTH], [0.0; WIDTH]);
        let counted = self.counted(values);
        for k in 0..WIDTH {
            let (value, count) = (f64::from(values[k]), counts[k] + 1.0);
            let (inverse, distance) = (1.0 / count, counted[k] - means[k]);
            let mean = means[k] + distance * inverse;
            let sum = squares[k] + distance * (counted[k] - mean);
            let (variance, square) = (sum * inverse, mean * mean);
            let (varies, size) = (variance > EQUAL * square, square + variance);
            let always = count == examples;
            let far = (size > 1.0)
                & varies
                & (square > OFFSET * OFFSET * variance)
                & (count >= PRESENT * examples)
                & !always;
            let centre = if always | far { mean } else { 0.0 };
            let of_column = if varies { variance } else { f64::INFINITY };
            let of_size = if size > 0.0 { size } else { 1.0 };
            let of_far = if far { 2.0 * variance } else { of_size };
            let divisor = if always { of_column } else { of_far };
            let offset = if far { FRAC_1_SQRT_2.copysign(mean) } else { 0.0 };
            let unit = ((value - centre) / divisor.sqrt() + offset).clamp(-CLIP, CLIP);
            let unit = if unit.abs() < NOTHING { 0.0 } else { unit };
            let stays = (size <= 1.0) & !always & !far;
            let seen = if stays { value.clamp(-CLIP, CLIP) } else { unit };
            (counts[k], means[k], squares[k]) = (count, mean, sum);
            (scaled[k], units[k]) = (seen as f32, unit as f32);
            columns.0[k] += if always { 1.0 } else { 0.0 };
        }
        (scaled, units, Eight { counts, means, squares })
    }
}
