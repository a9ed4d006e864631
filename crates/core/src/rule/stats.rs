//! The stats of an example for a coupled rule, and the step computed from them.

use serde::{Deserialize, Serialize};

/// The step of a round, by which every coordinate of the example is updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The change of the weight, per unit of the gradient or of the value.
    pub rate: f32,
    /// The increase of the precision, per unit of the squared value.
    pub tighten: f32,
}

impl Step {
    /// A step in float32. Numbers that are too large are clipped to finite ones.
    pub fn new(rate: f64, tighten: f64) -> Self {
        let narrow = |number: f64| number.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        Step { rate: narrow(rate), tighten: narrow(tighten) }
    }
}

/// The stats of one example, for coupled rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExampleStats {
    /// The number of the round, from 1.
    pub round: u64,
    /// Whether labels are real numbers, not -1 and +1.
    pub regression: bool,
    /// y, the label.
    pub label: f64,
    /// p, the margin played, the base margin included.
    pub margin: f64,
    /// b, the base margin: p − b = w·x.
    pub base: f64,
    /// The importance of the round.
    pub importance: f64,
    /// importance · slope: the gradient with respect to the margin.
    pub slope: f64,
    /// |x|², the squared norm of the values.
    pub square_norm: f64,
    /// Σ variance_i x_i², for rules with a variance for each coordinate.
    pub variance: f64,
    /// Σ rate_i² over the coordinates that are first met in this example.
    pub newcomer_rates: f64,
    /// Σ D_i² over the coordinates that are first met in this example.
    pub newcomer_widths: f64,
    /// The number of coordinates that never had a gradient before this example.
    pub newcomers: f64,
    /// importance · λ: a coordinate's gradient is slope · value + shrink · weight.
    pub shrink: f64,
    /// Σ w_i² of the weights played; 0 without L2.
    pub square_weights: f64,
}

impl ExampleStats {
    /// |g|² of the round, including L2: |slope x + shrink w|².
    #[inline]
    pub fn square_gradient(&self) -> f64 {
        let of_loss = self.slope * self.slope * self.square_norm;
        if self.shrink == 0.0 {
            return of_loss;
        }
        let crossed = 2.0 * self.slope * self.shrink * self.of_features();
        let of_penalty = self.shrink * self.shrink * self.square_weights;
        // If the two parts cancel, rounding could leave a square below 0.
        (of_loss + crossed + of_penalty).max(0.0)
    }

    /// w·x, the margin without its base.
    #[inline]
    fn of_features(&self) -> f64 {
        self.margin - self.base
    }

    /// g·w of the round, including L2.
    #[inline]
    pub fn played(&self) -> f64 {
        let of_loss = self.slope * self.of_features();
        if self.shrink == 0.0 { of_loss } else { of_loss + self.shrink * self.square_weights }
    }
}
