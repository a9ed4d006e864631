//! What every learner has beside its slots: its settings and its scales.

use super::penalty::Penalty;
use crate::example::{Scales, TouchedSlots};
use crate::loss::Loss;
use crate::rule::{Interval, Rule};

/// The settings of a learner, except its rule and its boxes.
pub struct Plan {
    /// The loss.
    pub loss: Loss,
    /// The L2 penalty on the weights.
    pub penalty: Penalty,
    /// Whether updates are importance-aware. For a rule that descends, and without L2.
    pub importance_aware: bool,
    /// The fixed share: the part of the mixture's shares that every round redistributes evenly over the
    /// lanes.
    pub fixed_share: f64,
    /// The scales that values are divided by.
    pub scales: Scales,
    /// The number of slots.
    pub slots: usize,
    /// Whether to keep the gradient sums, from which the certificate is computed.
    pub certify: bool,
}

/// The feasible set of every coordinate.
pub trait Boxes: Send + Sync + 'static {
    /// Whether kernels are compiled for vector instructions (`learn/dispatch.rs`).
    const VECTORISED: bool;
    /// The rule with the feasible interval of this slot.
    fn rule<R: Rule>(&self, rule: R, slot: usize) -> R;
    /// The intervals, if each slot has its own.
    fn intervals(&self) -> Option<&[Interval]>;
}

/// Every coordinate has the rule's own interval.
pub struct Uniform;

impl Boxes for Uniform {
    const VECTORISED: bool = true;

    #[inline]
    fn rule<R: Rule>(&self, rule: R, _slot: usize) -> R {
        rule
    }
    fn intervals(&self) -> Option<&[Interval]> {
        None
    }
}

impl Boxes for Vec<Interval> {
    const VECTORISED: bool = false;

    #[inline]
    fn rule<R: Rule>(&self, rule: R, slot: usize) -> R {
        rule.within(self[slot])
    }
    fn intervals(&self) -> Option<&[Interval]> {
        Some(self)
    }
}

/// What a learner has beside its slots.
pub(crate) struct Frame<R: Rule, B: Boxes> {
    pub loss: Loss,
    pub penalty: Penalty,
    pub importance_aware: bool,
    pub rule: R,
    pub boxes: B,
    pub scales: Scales,
}

impl<R: Rule, B: Boxes> Frame<R, B> {
    /// The frame of a learner in its initial state.
    pub fn new(plan: Plan, rule: R, boxes: B) -> Self {
        let Plan { loss, penalty, importance_aware, scales, .. } = plan;
        Frame { loss, penalty, importance_aware, rule, boxes, scales }
    }

    /// The rule with the feasible interval of this slot.
    #[inline(always)]
    pub fn rule_at(&self, slot: usize) -> R {
        self.boxes.rule(self.rule, slot)
    }

    /// Whether the scale of a slot is in its initial state.
    pub fn is_untouched(&self, slot: usize) -> bool {
        self.scales.is_untouched(slot)
    }

    /// These slots, and those of which only a scale is known; both ascending.
    pub fn with_silent(&self, touched: Vec<u32>) -> Vec<u32> {
        let silent = self.scales.silent_slots();
        if silent.is_empty() { touched } else { union(touched, silent) }
    }

    /// The slots whose weight is not 0, ascending.
    pub fn weighted(
        &self,
        met: &TouchedSlots,
        slots: usize,
        weight: impl Fn(usize) -> f32,
    ) -> Vec<u32> {
        match self.rests_at_zero() {
            true => nonzero(met.slots(), weight),
            false => nonzero(0..slots, weight),
        }
    }

    /// Whether every slot that was never met has weight 0. This holds if its box contains 0.
    fn rests_at_zero(&self) -> bool {
        let unmet = R::Slot::default();
        self.boxes.intervals().is_none() && self.rule.weight(&unmet, 1.0) == 0.0
    }
}

/// The slots of both lists, ascending.
pub(crate) fn union(mut one: Vec<u32>, mut other: Vec<u32>) -> Vec<u32> {
    one.append(&mut other);
    one.sort_unstable();
    one.dedup();
    one
}

/// Those of the given slots whose weight is not 0.
pub(crate) fn nonzero(
    slots: impl Iterator<Item = usize>,
    weight: impl Fn(usize) -> f32,
) -> Vec<u32> {
    slots.filter(|&slot| weight(slot) != 0.0).map(|slot| slot as u32).collect()
}
