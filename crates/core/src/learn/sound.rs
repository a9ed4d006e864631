//! Check that the numbers of a round fit into float32, before it is learned.

use crate::error::Error;
use crate::example::Example;
use crate::rule::{ExampleStats, Rule};

/// Whether the margin and the gradient of a round fit into float32.
#[inline]
pub(crate) fn is_sound<R: Rule>(stats: &ExampleStats) -> bool {
    let finite = |number: f64| (number as f32).is_finite();
    finite(stats.margin) && (!R::BOUNDED || finite(stats.square_gradient()))
}

/// The slope of a round, given Σ x²: 0 if all its gradients would be subnormal in float32. They would move no
/// weight, and computing with subnormal numbers takes Intel processors over a hundred cycles each.
#[inline(always)]
pub(crate) fn flushed(slope: f64, square_norm: f64) -> f64 {
    const LEAST: f64 = f32::MIN_POSITIVE as f64;
    if slope * slope * square_norm < LEAST * LEAST { 0.0 } else { slope }
}

/// The error for a round that is not sound. `weight` returns the weight that a slot played.
#[cold]
#[inline(never)]
pub(crate) fn diverged(
    example: &Example<'_>,
    stats: ExampleStats,
    weight: impl Fn(usize) -> f32,
) -> Error {
    let (margin, norm) = (stats.margin, stats.square_gradient().sqrt());
    let margin_fits = (margin as f32).is_finite();
    let what = match margin_fits {
        true => format!("the gradient has length {norm:.2e}, too large to square in float32"),
        false => format!("the margin is {margin:.2e}, too large for a float32"),
    };
    let part = |k: usize| {
        let value = f64::from(example.values[k]);
        let weight = f64::from(weight(example.slots[k] as usize));
        if margin_fits { stats.slope * value + stats.shrink * weight } else { value }.abs()
    };
    let largest = (0..example.slots.len()).max_by(|&a, &b| part(a).total_cmp(&part(b)));
    let slot = largest.map_or(0, |k| example.slots[k]);
    Error::Diverged { round: stats.round, slot, what }
}
