//! L2 in the stream: what every round adds for the weights it uses.
//!
//! ```text
//! f_t(x) = h [ℓ(x·θ_t, y_t) + (λ/2) Σ_i x_i²]      h the importance, i over the scope
//! g_t,i  = h [ℓ'(p, y_t) θ_t,i + λ w_i]            w the weights played
//! ```
//!
//! The rules see the gradient of the whole f_t and know nothing of its parts, so regret, linearised
//! regret and bound are those of Σ f_t. Decision 15 says why.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::example::Example;

/// Which coordinates the regulariser of a round acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those of the example's features.
    #[default]
    Active,
    /// All that were ever touched; every round walks over all slots.
    All,
}

impl Scope {
    /// Whether this is the default, which a spec need not say.
    pub fn is_active(&self) -> bool {
        *self == Scope::Active
    }
}

/// The regulariser of every round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// λ, 0 for none.
    pub l2: f64,
    /// Which coordinates it acts on.
    pub scope: Scope,
}

impl Penalty {
    /// The penalty; only a rule that is `bounded`, with a box and a rate, may have one above 0.
    pub fn new(l2: f64, scope: Scope, bounded: bool) -> Result<Self> {
        if !(l2 >= 0.0 && (l2 as f32).is_finite()) {
            let expected = "a number from 0 up that fits a float32";
            return Err(Error::Spec(format!("l2 must be {expected}, found {l2:?}")));
        }
        if l2 > 0.0 && !bounded {
            let why = "l2 is for rules that follow the gradient on a box, and this rule does not";
            return Err(Error::Spec(format!("{why}; leave out l2, or use another rule")));
        }
        Ok(Penalty { l2, scope })
    }

    /// (λ/2) Σ w².
    pub fn of(&self, square_weights: f64) -> f64 {
        0.5 * self.l2 * square_weights
    }
}

/// An example with the touched coordinates that it lacks, at value 0.
#[derive(Debug, Default)]
pub struct Whole {
    own: Vec<u32>,
    slots: Vec<u32>,
    values: Vec<f32>,
}

impl Whole {
    /// Put the absent ones, in the order given, behind the example's own features.
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
        Example { slots: &self.slots, values: &self.values, ..*example }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_coordinates_come_last_at_value_0() {
        let own = Example { label: 1.0, importance: 2.0, slots: &[7, 2], values: &[0.5, -1.0] };
        let mut whole = Whole::default();
        for _ in 0..2 {
            let example = whole.complete(&own, [1, 2, 3, 7, 9].into_iter());
            assert_eq!(example.slots, [7, 2, 1, 3, 9]);
            assert_eq!(example.values, [0.5, -1.0, 0.0, 0.0, 0.0]);
            assert_eq!((example.label, example.importance), (1.0, 2.0));
        }
    }

    #[test]
    fn only_a_number_that_fits_is_a_strength() {
        for l2 in [-1e-9, f64::NAN, f64::INFINITY, 1e39] {
            let told = format!("l2 must be a number from 0 up that fits a float32, found {l2:?}");
            assert_eq!(Penalty::new(l2, Scope::Active, true), Err(Error::Spec(told)));
        }
        assert!(Penalty::new(0.0, Scope::All, false).is_ok());
        assert!(Penalty::new(1e-9, Scope::Active, false).is_err());
    }
}
