//! The parameters of rules as in a spec, and their limits.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Interval, Rate, Rule};
use crate::error::{Error, Result};

/// The parameters of a rule, as in a spec.
pub trait Parameters: Serialize + DeserializeOwned {
    /// The rule with these parameters.
    type Rule: Rule;
    /// Whether the rule learns only from labels -1 and 1.
    const CLASSIFIES: bool = false;
    /// Whether the rule moves the margin to the label, so that the margin must be the prediction.
    const MEETS_LABELS: bool = false;

    /// Build the rule; an error names the parameter that is out of its limits.
    fn rule(&self) -> Result<Self::Rule>;

    /// Whether the rule has a rate that can be "auto". Of the other rules no learner with lanes is compiled.
    const CAN_BE_AUTO: bool = false;

    /// Whether the rate is "auto": several lanes, mixed.
    fn is_auto(&self) -> bool {
        false
    }
}

/// The two ends of a box that is not symmetric, used instead of the radius.
pub type Ends = Option<[f64; 2]>;

/// The rate of a rule at "auto", which is not used because every lane has its own.
const ANY_RATE: f32 = 1.0;

/// A rate as users write it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RateSpec {
    /// A number.
    Number(f64),
    /// A word.
    Word(RateWord),
}

/// The words that a rate can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateWord {
    /// The rate of the theorem.
    Theory,
    /// Several lanes, mixed.
    Auto,
}

impl RateSpec {
    /// Whether the rate is "auto": several lanes, mixed.
    pub fn is_auto(self) -> bool {
        self == RateSpec::Word(RateWord::Auto)
    }

    /// The rate. For "auto" it is arbitrary, since each lane has its own.
    pub fn rate(self) -> Result<Rate> {
        match self {
            RateSpec::Number(rate) => Ok(Rate::Number(positive("rate", rate)?)),
            RateSpec::Word(RateWord::Theory) => Ok(Rate::Theory),
            RateSpec::Word(RateWord::Auto) => Ok(Rate::Number(ANY_RATE)),
        }
    }

    /// The rate of a rule for which no theorem gives one.
    pub fn number(self) -> Result<f32> {
        match self.rate()? {
            Rate::Number(rate) => Ok(rate),
            Rate::Theory => {
                Err(Error::Spec("this rule has no rate 'theory'; give a number".into()))
            }
        }
    }
}

/// Check that a parameter is above 0, in float32.
pub fn positive(name: &str, number: f64) -> Result<f32> {
    let small = number as f32;
    if small > 0.0 && small.is_normal() {
        return Ok(small);
    }
    Err(Error::Spec(format!(
        "{name} must be a positive number that fits a float32, found {number:?}"
    )))
}

/// Check that a parameter is not below 0.
pub fn not_negative(name: &str, number: f64) -> Result<f64> {
    if number >= 0.0 && (number as f32).is_finite() {
        return Ok(number);
    }
    Err(Error::Spec(format!("{name} must be a number from 0 up, found {number}")))
}

/// The feasible interval: the box if there is one, else `[-radius, radius]`.
pub fn interval(radius: f64, ends: Ends) -> Result<Interval> {
    let interval = match ends {
        Some([low, high]) => Interval { low: low as f32, high: high as f32 },
        None => {
            let radius = positive("radius", radius)?;
            Interval { low: -radius, high: radius }
        }
    };
    check_interval(interval).map(|()| interval)
}

/// Check that the width of an interval is positive and finite.
pub fn check_interval(interval: Interval) -> Result<()> {
    let Interval { low, high } = interval;
    // With an infinite width the theory's rate would be infinite, and so would the bound.
    if low < high && (high - low).is_finite() {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "a box needs low < high and a width that fits a float32, found [{low:?}, {high:?}]"
    )))
}
