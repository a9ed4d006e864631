//! The experts of the mixture: the lanes, and the stack as the last one.

use super::stack::Stack;
use crate::loss::wide::Tails;
use crate::loss::{Loss, Tail};
use crate::simd::{LANES, PerLane};

/// The number of experts.
pub const EXPERTS: usize = LANES + 1;

/// One number for each expert, the stack's last.
pub type PerExpert = [f64; EXPERTS];

/// The numbers of the lanes and that of the stack.
#[inline(always)]
pub fn join(lanes: &PerLane, stack: f64) -> PerExpert {
    let mut all = [stack; EXPERTS];
    all[..LANES].copy_from_slice(lanes);
    all
}

/// What the experts play in a round.
#[derive(Clone, Copy, Debug)]
pub struct Plays {
    /// The margin of each expert.
    pub margins: PerExpert,
    /// e^−|p| of each margin; 0 for a loss without tails.
    pub tail: PerExpert,
    /// 1/(1 + e^−|p|) of each margin; 0 for a loss without tails.
    pub sure: PerExpert,
}

impl Plays {
    /// The plays of the lanes, and of the stack on top of them. All margins include the base.
    #[inline(always)]
    pub fn new(loss: Loss, margins: &PerLane, tails: &Tails, stack: &Stack, base: f64) -> Self {
        let stacked = stack.margin(margins, base);
        let Tail { tail, sure } = loss.tail(stacked);
        Plays {
            margins: join(margins, stacked),
            tail: join(&tails.tail, tail),
            sure: join(&tails.sure, sure),
        }
    }

    /// The margin of the stack, and its tail.
    #[inline(always)]
    pub fn stacked(&self) -> (f64, Tail) {
        (self.margins[LANES], Tail { tail: self.tail[LANES], sure: self.sure[LANES] })
    }
}

/// Reduce the numbers of the lanes pairwise, as a tree, and then with the stack's. A chain through all would
/// have a higher latency.
#[inline(always)]
fn fold(numbers: &PerExpert, join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&numbers[..LANES]);
    for half in [4, 2, 1] {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
    }
    join(lanes[0], numbers[LANES])
}

/// The sum of all experts' numbers.
#[inline(always)]
pub fn sum(numbers: &PerExpert) -> f64 {
    fold(numbers, |one, other| one + other)
}

/// The least of all experts' numbers.
#[inline(always)]
pub fn least(numbers: &PerExpert) -> f64 {
    fold(numbers, |one, other| if one < other { one } else { other })
}

/// Σ π_k n_k.
#[inline(always)]
pub fn mean(shares: &PerExpert, numbers: &PerExpert) -> f64 {
    let mut terms = *numbers;
    for expert in 0..EXPERTS {
        terms[expert] *= shares[expert];
    }
    sum(&terms)
}
