//! L2 in the stream: every round adds a penalty on the weights it uses.
//!
//! ```text
//! f_t(x) = h [ℓ(x·θ_t, y_t) + (λ/2) Σ_i x_i²]      h the importance, i over the scope
//! g_t,i  = h [ℓ'(p, y_t) θ_t,i + λ w_i]            w the weights played
//! ```
//!
//! The rules receive the gradient of the whole f_t, not of its parts, so regret, linearised regret and bound
//! are those of Σ f_t. Decision 15 gives the reasons.

use crate::example::Example;
use crate::spec::Scope;

/// The regulariser of every round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penalty {
    /// λ; 0 for no penalty.
    pub l2: f64,
    /// Which coordinates the penalty acts on.
    pub scope: Scope,
}

impl Penalty {
    /// (λ/2) Σ w², given Σ w².
    pub fn of(&self, square_weights: f64) -> f64 {
        0.5 * self.l2 * square_weights
    }
}

/// An example extended by the touched coordinates that it lacks, at value 0.
#[derive(Debug, Default)]
pub struct WithTouched {
    own: Vec<u32>,
    slots: Vec<u32>,
    values: Vec<f32>,
    unit_values: Vec<f32>,
}

impl WithTouched {
    /// Append the absent coordinates, in the order given, to the example's own features.
    pub fn complete<'a>(
        &'a mut self,
        example: &Example<'_>,
        touched: impl Iterator<Item = u32>,
    ) -> Example<'a> {
        self.own.clear();
        self.own.extend_from_slice(example.slots);
        self.own.sort_unstable();
        self.slots.clear();
        self.slots.extend_from_slice(example.slots);
        self.slots.extend(touched.filter(|slot| self.own.binary_search(slot).is_err()));
        self.values.clear();
        self.values.extend_from_slice(example.values);
        self.values.resize(self.slots.len(), 0.0);
        self.unit_values.clear();
        self.unit_values.extend_from_slice(example.unit_values);
        self.unit_values.resize(self.slots.len(), 0.0);
        let WithTouched { slots, values, unit_values, .. } = self;
        Example { slots, values, unit_values, ..*example }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_coordinates_come_last_at_value_0() {
        let (slots, values) = (&[7, 2][..], &[0.5, -1.0][..]);
        let own =
            Example { label: 1.0, importance: 2.0, base: 0.0, slots, values, unit_values: values };
        let mut completed = WithTouched::default();
        for _ in 0..2 {
            let example = completed.complete(&own, [1, 2, 3, 7, 9].into_iter());
            assert_eq!(example.slots, [7, 2, 1, 3, 9]);
            assert_eq!(example.values, [0.5, -1.0, 0.0, 0.0, 0.0]);
            assert_eq!((example.label, example.importance), (1.0, 2.0));
        }
    }
}
