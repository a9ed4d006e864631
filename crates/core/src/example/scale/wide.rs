//! The standard scale of an example with a table of statistics, eight features at a time.
//!
//! The same numbers as `scale/line.rs` computes for one feature, bit for bit, without branches: first the
//! statistics of all features are gathered, then a loop that vectorises updates them and scales the values, and
//! [`Standard::remember`](super::Standard) scatters them. For dense rows and texts most of the cost of scaling
//! is here.

use std::f64::consts::FRAC_1_SQRT_2;

use super::Scaled;
use super::line::{CLIP, EQUAL, NOTHING, OFFSET, PRESENT};
use super::moments::Moments;
use crate::simd::{Simd, WithSimd};

const WIDTH: usize = 8;

/// The statistics of the features of an example, field by field, padded to a multiple of eight.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    counts: Vec<[f64; WIDTH]>,
    means: Vec<[f64; WIDTH]>,
    squares: Vec<[f64; WIDTH]>,
}

impl Gathered {
    /// Replace what is here by the lines in these places.
    fn gather(&mut self, lines: &[Moments], places: &[u32]) {
        let groups = places.len().div_ceil(WIDTH);
        for field in [&mut self.counts, &mut self.means, &mut self.squares] {
            field.resize(groups, [0.0; WIDTH]);
        }
        let (counts, means, squares) = (
            self.counts.as_flattened_mut(),
            self.means.as_flattened_mut(),
            self.squares.as_flattened_mut(),
        );
        for (k, &place) in places.iter().enumerate() {
            let line = &lines[place as usize];
            (counts[k], means[k], squares[k]) = (line.count, line.mean, line.squares);
        }
        // The padding must not count as features in every example.
        counts[places.len()..].fill(0.0);
    }

    /// The statistics of feature `k`.
    #[inline(always)]
    pub fn get(&self, k: usize) -> Moments {
        let (group, k) = (k / WIDTH, k % WIDTH);
        Moments {
            count: self.counts[group][k],
            mean: self.means[group][k],
            squares: self.squares[group][k],
        }
    }
}

/// Scale an example with these values, whose statistics after `before` examples are in these places; the new
/// statistics go to `gathered`. As work for [`crate::simd::InstructionSet::run`]; returns the number of
/// features in every example.
pub struct ScaleRow<'a> {
    pub values: &'a [f32],
    pub lines: &'a [Moments],
    pub places: &'a [u32],
    pub before: f64,
    pub gathered: &'a mut Gathered,
    pub scaled: &'a mut Scaled,
}

impl WithSimd for ScaleRow<'_> {
    type Output = usize;

    #[inline(always)]
    fn call<V: Simd>(self, _: V) -> usize {
        let ScaleRow { values, lines, places, before, gathered, scaled } = self;
        gathered.gather(lines, places);
        let features = values.len();
        // The padding: values of 0, which are cut off again.
        scaled.values.clear();
        scaled.values.extend_from_slice(values);
        scaled.values.resize(features.next_multiple_of(WIDTH), 0.0);
        scaled.unit_values.resize(features.next_multiple_of(WIDTH), 0.0);
        let (values, _) = scaled.values.as_chunks_mut::<WIDTH>();
        let (unit_values, _) = scaled.unit_values.as_chunks_mut::<WIDTH>();
        let statistics = gathered.counts.iter_mut().zip(&mut gathered.means);
        let statistics = statistics.zip(&mut gathered.squares);
        let mut columns = [0.0; WIDTH];
        for ((values, units), ((counts, means), squares)) in
            values.iter_mut().zip(unit_values).zip(statistics)
        {
            let group =
                Group { values: *values, counts: *counts, means: *means, squares: *squares };
            let new = group.scale(before + 1.0, &mut columns);
            (*counts, *means, *squares) = (new.counts, new.means, new.squares);
            (*values, *units) = (new.values, new.units);
        }
        scaled.values.truncate(features);
        scaled.unit_values.truncate(features);
        columns.iter().sum::<f64>() as usize
    }
}

/// Eight features before they are scaled.
struct Group {
    values: [f32; WIDTH],
    counts: [f64; WIDTH],
    means: [f64; WIDTH],
    squares: [f64; WIDTH],
}

/// Eight features after they were scaled.
struct ScaledGroup {
    counts: [f64; WIDTH],
    means: [f64; WIDTH],
    squares: [f64; WIDTH],
    values: [f32; WIDTH],
    units: [f32; WIDTH],
}

impl Group {
    fn get(&self, k: usize) -> Moments {
        Moments { count: self.counts[k], mean: self.means[k], squares: self.squares[k] }
    }

    /// The values that count in the statistics. Nearly always these are the values themselves.
    #[inline(always)]
    fn counted(&self) -> [f64; WIDTH] {
        let mut counted = self.values.map(f64::from);
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

    /// The features after this example, of which there are so many by now. Adds 1 to `columns` for every
    /// feature that was in all of them.
    #[inline(always)]
    fn scale(&self, examples: f64, columns: &mut [f64; WIDTH]) -> ScaledGroup {
        let Group { values, mut counts, mut means, mut squares } = *self;
        let (mut scaled, mut units) = ([0.0; WIDTH], [0.0; WIDTH]);
        let counted = self.counted();
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
            columns[k] += if always { 1.0 } else { 0.0 };
        }
        ScaledGroup { counts, means, squares, values: scaled, units }
    }
}
