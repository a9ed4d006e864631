//! Adaptive regularisation of weight vectors, with a diagonal covariance.
//!
//! ```text
//! Plays     the mean μ of weights ~ N(μ, diag σ²);  if y μ·x < 1:
//!           β = 1/(V + r/h),  α = (1 − y μ·x) β,  V = Σ σ_i² x_i²,  h the importance
//!           μ_i ← μ_i + α y σ_i² x_i
//!           covariance   σ_i² ← σ_i² − β σ_i⁴ x_i²
//!           precision    1/σ_i² ← 1/σ_i² + x_i² h/r
//! Slot      weight μ, precision         1/σ² = 1 + precision
//! Regret    none stated; a mistake bound in the source
//! Source    Crammer, Kulesza & Dredze 2009
//! Departs   the covariance form is kept as a precision too, 1/σ² ← 1/σ² + βx²/(1 − βσ²x²), which
//!           is the same number and cannot fall to 0 or below in float32
//! ```

use serde::{Deserialize, Serialize};

use super::confidence_weighted::{Slot, merged};
use super::{Dither, ExampleStats, Merges, Merging, NewUnit, Parameters, Rule, Step, positive};
use crate::error::Result;

/// Of which matrix the off-diagonal entries are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Those of the covariance Σ.
    Covariance,
    /// Those of the precision Σ⁻¹.
    Precision,
}

/// Adaptive regularisation of weight vectors.
#[derive(Clone, Copy, Debug)]
pub struct Arow {
    form: Form,
    regularisation: f64,
}

/// The parameters of [`Arow`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArowParameters {
    /// r, the regularisation.
    pub regularisation: f64,
    /// Of which matrix the off-diagonal entries are dropped.
    pub form: Form,
}

impl Parameters for ArowParameters {
    type Rule = Arow;
    const CLASSIFIES: bool = true;

    fn rule(&self) -> Result<Arow> {
        let regularisation = positive("regularisation", self.regularisation)?.into();
        Ok(Arow { form: self.form, regularisation })
    }
}

impl Rule for Arow {
    type Slot = Slot;
    type Shared = ();
    const COUPLED: bool = true;
    const BOUNDED: bool = false;
    const MERGES: Merges = Merges::Always;

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        slot.weight
    }

    #[inline]
    fn absorb(
        &self,
        slot: &mut Slot,
        value: f32,
        _gradient: f32,
        step: Step,
        dither: Dither,
    ) -> f32 {
        let (value, variance) = (f64::from(value), slot.variance(1.0));
        let added = f64::from(step.tighten) * value * value;
        let added = match self.form {
            // The denominator is at least r/(V + r); rounding of the step could make it smaller.
            Form::Covariance => added / (1.0 - added * variance).max(f64::EPSILON),
            Form::Precision => added,
        };
        slot.learn(f64::from(step.rate) * variance * value, added, dither);
        0.0
    }

    #[inline]
    fn look(&self, slot: &Slot, value: f32, stats: &mut ExampleStats) {
        stats.variance += slot.variance(1.0) * f64::from(value) * f64::from(value);
    }

    fn step(&self, _shared: &mut (), stats: &ExampleStats) -> Step {
        let missing = 1.0 - stats.label * stats.margin;
        if missing <= 0.0 || stats.importance == 0.0 {
            return Step::default();
        }
        let regularisation = self.regularisation / stats.importance;
        let beta = 1.0 / (stats.variance + regularisation);
        let tighten = match self.form {
            Form::Covariance => beta,
            Form::Precision => 1.0 / regularisation,
        };
        Step::new(missing * beta * stats.label, tighten)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        merged(start, shards, 1.0, merging)
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        slot.in_unit(unit)
    }
}
