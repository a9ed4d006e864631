//! The first loop over the features: the margins of all classes.

use super::{Cells, Classes, LineOf};
use crate::example::Example;
use crate::learn::frame::Boxes;
use crate::learn::lanes::coin::{COIN, clip};
use crate::rule::{Line, Rule};
use crate::simd::LANES;
use crate::simd::f64x8::F64x8;

/// What the first loop sums up beside the margins.
#[derive(Clone, Copy, Default)]
pub(super) struct Norms {
    /// Σ x².
    pub of_values: f64,
    /// Σ z², of the values that the coin lane plays on.
    pub of_coin: f64,
}

impl<R: Rule, B: Boxes, const AUTO: bool> Classes<R, B, AUTO> {
    /// The position of the block of a slot; 0 if there is no memory for it yet, because a reader has just met it.
    #[inline(always)]
    pub(super) fn position(&self, slot: u32) -> u32 {
        let position = self.table.index().find(slot);
        if (position as usize) < self.table.blocks() { position } else { 0 }
    }

    /// Compute the margins of all classes.
    #[inline(always)]
    pub(super) fn look<E: F64x8>(
        &self,
        simd: E,
        example: &Example<'_>,
        positions: &[u32],
        cells: &mut Cells,
    ) -> Norms {
        let classes = self.known.len();
        let lines = if AUTO { classes } else { classes.div_ceil(LANES) };
        let eights = if Self::HAS_COIN { classes.div_ceil(LANES) } else { 0 };
        let (mut norms, sums) = (Norms::default(), &mut cells.sums);
        sums.clear();
        sums.resize(lines + eights, [0.0; LANES]);
        let (sums, of_coin) = sums.split_at_mut(lines);
        let features = example.slots.iter().zip(example.values).zip(positions);
        for (k, ((&slot, &value), &position)) in features.enumerate() {
            let (rule, wide) = (self.frame.rule_at(slot as usize), f64::from(value));
            norms.of_values += wide * wide;
            let block = self.table.block(position);
            for (sum, line) in sums.iter_mut().zip(block) {
                let weights = Self::weights(rule, line, value);
                let terms = simd.multiply(simd.widen(weights), simd.splat(wide));
                *sum = simd.to_array(simd.add(simd.load(sum), terms));
            }
            if Self::HAS_COIN {
                let value = f64::from(clip(example.unit_values[k]));
                norms.of_coin += value * value;
                for (sum, line) in of_coin.iter_mut().zip(&block[self.capacity..]) {
                    let terms = simd.multiply(simd.widen(self.bets(line)), simd.splat(value));
                    *sum = simd.to_array(simd.add(simd.load(sum), terms));
                }
            }
        }
        self.spread_sums(lines, cells);
        norms
    }

    /// The margins of the classes from the sums of the lines.
    #[inline(always)]
    fn spread_sums(&self, lines: usize, cells: &mut Cells) {
        let Cells { margins, sums, .. } = cells;
        margins.clear();
        let (own, of_coin) = sums.split_at(lines);
        for class in 0..self.known.len() {
            let (line, cell) = (class / LANES, class % LANES);
            let mut row = [0.0; LANES];
            if AUTO {
                row = own[class];
            } else {
                row[0] = own[line][cell];
            }
            if Self::HAS_COIN {
                row[COIN] = of_coin[line][cell];
            }
            margins.push(row);
        }
    }

    /// The weights that a line plays on a value.
    #[inline(always)]
    fn weights(rule: R, line: &LineOf<R>, value: f32) -> [f32; LANES] {
        let mut weights = [0.0; LANES];
        for (lane, weight) in weights.iter_mut().enumerate() {
            *weight = Self::of_lane(rule, lane).weight(&line.get(lane), value);
        }
        weights
    }

    /// The rule of one place of a line: at the rate of its lane, if AUTO.
    #[inline(always)]
    pub(super) fn of_lane(rule: R, lane: usize) -> R {
        if AUTO { rule.at(Self::RATES[lane]) } else { rule }
    }

    /// The weights that the coin lane plays in eight classes.
    #[inline(always)]
    fn bets(&self, line: &LineOf<R>) -> [f32; LANES] {
        let (rewards, stakes, rule) = (*line.field(0), *line.field(1), self.coin.rule);
        let mut weights = [0.0; LANES];
        for k in 0..LANES {
            weights[k] = rule.weigh(rewards[k], stakes[k]);
        }
        weights
    }
}
