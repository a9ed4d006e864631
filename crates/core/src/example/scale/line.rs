//! How the standard scale turns values into scaled values, given the statistics: a line for each feature.

use std::f64::consts::FRAC_1_SQRT_2;

use super::moments::Moments;
use super::{Example, Scaled};

/// The largest scaled value.
pub(super) const CLIP: f64 = 3.0;
/// A scaled value below this is 0: what is left of x − μ where x = μ, and is due to rounding, would move a weight
/// as far as a value of any size does.
pub(super) const NOTHING: f64 = 1.0 / (1 << 20) as f64;
/// σ²/μ² up to which the values of a feature count as equal: below it, float64 rounding would be scaled up.
pub(super) const EQUAL: f64 = 1e-13;
/// |μ|/σ from which the offset of a column with missing cells is cut. Word counts are below it.
pub(super) const OFFSET: f64 = 3.0;
/// n/t from which a feature counts as a column with missing cells. Rare words are below it.
pub(super) const PRESENT: f64 = 0.25;

/// How the values of a feature are scaled: x̂ = clip((x − centre)/√square + offset, ±3). A feature that
/// `stays` has x̂ = clip(x, ±3), and only its unit value is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub centre: f64,
    pub square: f64,
    pub offset: f64,
    pub stays: bool,
}

impl Line {
    /// The line for a feature with these statistics, after so many examples; `inverse` is 1 over its count.
    #[inline(always)]
    pub fn of(moments: Moments, inverse: f64, examples: f64) -> Line {
        let Moments { count, mean, squares } = moments;
        let (variance, square) = (squares * inverse, mean * mean);
        let varies = variance > EQUAL * square;
        if count == examples {
            let square = if varies { variance } else { f64::INFINITY };
            return Line { centre: mean, square, offset: 0.0, stays: false };
        }
        let size = square + variance;
        let is_far = size > 1.0 && varies && square > OFFSET * OFFSET * variance;
        if is_far && count >= PRESENT * examples {
            let offset = mean.signum() * FRAC_1_SQRT_2;
            return Line { centre: mean, square: 2.0 * variance, offset, stays: false };
        }
        Line::by_size(size)
    }

    /// The line for a feature whose mean square is this.
    #[inline(always)]
    fn by_size(size: f64) -> Line {
        // All values are 0 if the size is: they stay 0 when divided by 1.
        let square = if size > 0.0 { size } else { 1.0 };
        Line { centre: 0.0, square, offset: 0.0, stays: size <= 1.0 }
    }

    /// The line for a feature that was met with this value only.
    pub fn of_one(value: f32) -> Line {
        Line::by_size(f64::from(value) * f64::from(value))
    }

    /// The line of a feature that is not seen.
    pub fn silent() -> Line {
        Line { square: f64::INFINITY, stays: false, ..Line::as_it_is() }
    }

    /// The line of a feature that is seen as it is.
    pub fn as_it_is() -> Line {
        Line::by_size(1.0)
    }

    /// The scaled value, or the unit value, per unit of the value.
    pub fn slope(self, unit: bool) -> f64 {
        if self.stays && !unit { 1.0 } else { 1.0 / self.square.sqrt() }
    }
}

impl Scaled {
    /// Replace what is here by the features of an example, each scaled by the line that `line` has for its
    /// slot and value. There is none for the intercept, which gets its value in the end.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        example: &Example<'_>,
        mut line: impl FnMut(u32, f32) -> Option<Line>,
    ) {
        self.intercept = None;
        self.parts.clear();
        self.stays.clear();
        self.parts.reserve(example.slots.len());
        for (k, (&slot, &value)) in example.slots.iter().zip(example.values).enumerate() {
            let line = line(slot, value);
            if line.is_none() {
                self.intercept = Some(k);
            }
            let Line { centre, square, offset, stays } = line.unwrap_or(Line::as_it_is());
            self.parts.push([f64::from(value) - centre, square, offset]);
            self.stays.push(stays);
        }
        self.divide();
    }

    /// The scaled values, from their parts. A loop of its own, so that roots and divisions are vectorised and
    /// do not wait for lookups.
    fn divide(&mut self) {
        let Scaled { parts, stays, values, unit_values, .. } = self;
        unit_values.clear();
        unit_values.extend(parts.iter().map(|[distance, square, offset]| {
            let unit = (distance / square.sqrt() + offset).clamp(-CLIP, CLIP);
            if unit.abs() < NOTHING { 0.0 } else { unit as f32 }
        }));
        values.clear();
        values.extend(unit_values.iter().zip(parts).zip(stays).map(
            |((&unit, part), &mut stays)| {
                if stays { part[0].clamp(-CLIP, CLIP) as f32 } else { unit }
            },
        ));
    }

    /// The example that was filled in, with this value for the intercept, without the features that became 0.
    pub(super) fn finish<'a>(&'a mut self, example: &Example<'a>, level: f64) -> Example<'a> {
        if let Some(k) = self.intercept {
            self.values[k] = level as f32;
            self.unit_values[k] = 1.0;
        }
        // No early exit, so that the loop vectorises.
        if !self.values.iter().fold(false, |any, &value| any | (value == 0.0)) {
            let Scaled { values, unit_values, .. } = self;
            return Example { values, unit_values, ..*example };
        }
        self.drop_zeros(example.slots);
        let Scaled { slots, values, unit_values, .. } = self;
        Example { slots, values, unit_values, ..*example }
    }

    /// Keep the features, of these slots, whose value is not 0.
    fn drop_zeros(&mut self, slots: &[u32]) {
        let Scaled { values, unit_values, .. } = self;
        self.slots.clear();
        self.slots.resize(slots.len(), 0);
        let mut kept = 0;
        for k in 0..slots.len() {
            (self.slots[kept], values[kept], unit_values[kept]) =
                (slots[k], values[k], unit_values[k]);
            kept += usize::from(values[kept] != 0.0);
        }
        self.slots.truncate(kept);
        values.truncate(kept);
        unit_values.truncate(kept);
    }
}
