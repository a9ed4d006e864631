//! The parameters of rules as a spec gives them, and their limits.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Interval, Rate, Rule};
use crate::error::{Error, Result};

/// The parameters of a rule, as they stand in a spec.
pub trait Parameters: Serialize + DeserializeOwned {
    /// The rule that they make.
    type Rule: Rule;
    /// Whether the rule learns from labels -1 and 1 only.
    const CLASSIFIES: bool = false;

    /// The rule, or which parameter is out of its limits.
    fn rule(&self) -> Result<Self::Rule>;

    /// Whether the rate is "auto": eight rates, mixed.
    fn is_auto(&self) -> bool {
        false
    }
}

/// The two ends of a box that is not symmetric, in place of the radius.
pub type Ends = Option<[f64; 2]>;

/// The rate of a rule that a theorem gives none is a number, though a lane may change it.
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

/// The words a rate can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateWord {
    /// The rate of the theorem.
    Theory,
    /// Eight rates, mixed.
    Auto,
}

impl RateSpec {
    /// Whether this is eight rates, mixed.
    pub fn is_auto(self) -> bool {
        self == RateSpec::Word(RateWord::Auto)
    }

    /// The rate; at "auto" any, since each lane has its own.
    pub fn rate(self) -> Result<Rate> {
        match self {
            RateSpec::Number(rate) => Ok(Rate::Number(positive("rate", rate)?)),
            RateSpec::Word(RateWord::Theory) => Ok(Rate::Theory),
            RateSpec::Word(RateWord::Auto) => Ok(Rate::Number(ANY_RATE)),
        }
    }

    /// The rate of a rule that no theorem gives one.
    pub fn number(self) -> Result<f32> {
        match self.rate()? {
            Rate::Number(rate) => Ok(rate),
            Rate::Theory => {
                Err(Error::Spec("this rule has no rate 'theory'; give a number".into()))
            }
        }
    }
}

/// A parameter that must be above 0, in float32.
pub fn positive(name: &str, number: f64) -> Result<f32> {
    let small = number as f32;
    if small > 0.0 && small.is_normal() {
        return Ok(small);
    }
    Err(Error::Spec(format!(
        "{name} must be a positive number that fits a float32, found {number:?}"
    )))
}

/// A parameter that must not be below 0.
pub fn not_negative(name: &str, number: f64) -> Result<f64> {
    if number >= 0.0 && (number as f32).is_finite() {
        return Ok(number);
    }
    Err(Error::Spec(format!("{name} must be a number from 0 up, found {number}")))
}

/// The feasible set: the box if there is one, else [-radius, radius].
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

/// Whether a feasible set has a width that can be computed with.
pub fn check_interval(interval: Interval) -> Result<()> {
    let Interval { low, high } = interval;
    // An infinite width would make the theory's rate, and with it the bound, infinite.
    if low < high && (high - low).is_finite() {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "a box needs low < high and a width that fits a float32, found [{low:?}, {high:?}]"
    )))
}
