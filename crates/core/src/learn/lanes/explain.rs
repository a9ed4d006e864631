//! The parts of one prediction of the lanes; `learn/explain.rs` has the formulas.

use super::Lanes;
use super::coin::{Bets, COIN};
use super::experts::{Plays, mean};
use super::round::add_base;
use crate::example::{Example, Scaled};
use crate::learn::explain::Explanation;
use crate::learn::frame::Boxes;
use crate::loss::wide::Tails;
use crate::rule::Rule;
use crate::simd::{LANES, PerLane, Portable};

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// The parts of the prediction of an example.
    pub(super) fn parts_of(&self, example: &Example<'_>) -> Explanation {
        let (mut scratch, mut bets) = (Scaled::default(), Bets::default());
        let seen = self.frame.scales.normalise(example, &mut scratch);
        let find = |&slot: &u32| self.table.index().find(slot);
        let positions: Vec<u32> = seen.slots.iter().map(find).collect();
        let margins = self.look::<_, false, false>(Portable, &seen, &positions, &mut bets).margins;
        let split = self.split(margins, f64::from(example.base));
        let parts: Vec<f64> = (0..positions.len())
            .map(|k| dot(&split.factors, &self.lane_parts(&seen, positions[k], &bets, k)))
            .collect();
        let Split { mean_label, clipping, .. } = split;
        Explanation { mean_label, clipping, ..Explanation::of(example, &seen, &parts) }
    }

    /// What the k-th feature gives to the margin of every lane.
    fn lane_parts(&self, seen: &Example<'_>, position: u32, bets: &Bets, k: usize) -> PerLane {
        let (rule, value) = (self.frame.rule_at(seen.slots[k] as usize), seen.values[k]);
        let weights = Self::weights(rule, &self.table.lines()[position as usize], value);
        let mut parts = weights.map(|weight| f64::from(weight) * f64::from(value));
        if R::COIN_LANE {
            parts[COIN] = bets.part(k);
        }
        parts
    }

    /// How the prediction is made of the margins of the lanes, which do not include the base.
    fn split(&self, mut margins: PerLane, base: f64) -> Split {
        let (loss, mixture, stack) =
            (self.frame.loss, &self.observer.mixture, &self.observer.stack);
        let (shares, units) = (mixture.shares(loss), self.frame.scales.label_units());
        let base = if units.is_some() { 0.0 } else { base };
        add_base(&mut margins, base);
        let mut plays = Plays::new(loss, &margins, &Tails::of(loss, &margins), stack, base);
        let mut added = 0.0;
        if let Some(units) = units {
            let beyond = plays.margins.map(|margin| units.prediction(margin) - units.of(margin));
            added = mean(&shares, &beyond);
            plays.margins = plays.margins.map(|margin| units.prediction(margin));
        }
        let margin = mixture.margin(loss, &shares, &plays);
        let (of_experts, outside) = mixture.split(loss, &shares, &plays, margin, base);
        let (in_stack, beyond) = stack.split(&margins, base);
        let deviation = units.map_or(1.0, |units| units.deviation);
        Split {
            factors: std::array::from_fn(|k| {
                deviation * (of_experts[k] + of_experts[LANES] * in_stack[k])
            }),
            mean_label: units.map(|units| units.mean),
            clipping: added + outside + deviation * of_experts[LANES] * beyond,
        }
    }
}

/// A prediction as base + Σ factor · margin of a lane without the base + mean label + clipping.
struct Split {
    factors: PerLane,
    mean_label: Option<f64>,
    clipping: f64,
}

fn dot(factors: &PerLane, parts: &PerLane) -> f64 {
    factors.iter().zip(parts).map(|(factor, part)| factor * part).sum()
}
