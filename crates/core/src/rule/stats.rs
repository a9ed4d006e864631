//! What an example shows to a coupled rule, and the step that the rule makes of it.

use serde::{Deserialize, Serialize};

/// What the coordinates of an example are told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How far to move, per unit of the gradient or of the value.
    pub rate: f32,
    /// How much surer to become, per unit of the squared value.
    pub tighten: f32,
}

impl Step {
    /// A step in float32; what is too large stays finite.
    pub fn new(rate: f64, tighten: f64) -> Self {
        let narrow = |number: f64| number.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        Step { rate: narrow(rate), tighten: narrow(tighten) }
    }
}

/// What one example showed, for the rules whose coordinates talk.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExampleStats {
    /// The round, from 1.
    pub round: u64,
    /// Whether labels are numbers, not -1 and +1.
    pub regression: bool,
    /// y.
    pub label: f64,
    /// p, as it was played.
    pub margin: f64,
    /// The importance of the round.
    pub importance: f64,
    /// The gradient in the margin: importance · slope.
    pub slope: f64,
    /// |x|².
    pub square_norm: f64,
    /// Σ variance_i x_i², for the rules that are more or less sure of each coordinate.
    pub variance: f64,
    /// Σ rate_i² over the newcomers, the coordinates never met before this example.
    pub newcomer_rates: f64,
    /// Σ D_i² over the newcomers.
    pub newcomer_widths: f64,
    /// importance · λ: a coordinate's gradient is slope · value + shrink · weight.
    pub shrink: f64,
    /// Σ w_i² of the weights played; 0 without L2.
    pub square_weights: f64,
}

impl ExampleStats {
    /// |g|² of the round, that of L2 included: |slope x + shrink w|².
    #[inline]
    pub fn square_gradient(&self) -> f64 {
        let of_loss = self.slope * self.slope * self.square_norm;
        if self.shrink == 0.0 {
            return of_loss;
        }
        let crossed = 2.0 * self.slope * self.shrink * self.margin;
        let of_penalty = self.shrink * self.shrink * self.square_weights;
        // Where the two parts cancel, rounding could leave a square below 0.
        (of_loss + crossed + of_penalty).max(0.0)
    }

    /// g·w of the round, that of L2 included.
    #[inline]
    pub fn played(&self) -> f64 {
        let of_loss = self.slope * self.margin;
        if self.shrink == 0.0 { of_loss } else { of_loss + self.shrink * self.square_weights }
    }
}
