//! The request, turned once into a concrete learner.
//!
//! A spec is a small JSON document, the same in the API, the command line and the model file.
//! [`Spec::build`] picks the loop for its rule in one `match`; afterwards no name is looked at.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::{Learner, Model, Uniform};
use crate::loss::Loss;
use crate::rule::{
    Interval, Rate, Rule, constant::Constant, global::Global, inverse_sqrt::InverseSqrt,
    per_coordinate::PerCoordinate,
};

/// The greatest number of bits: slots are numbered by 32 bits and one is the intercept's.
pub const MAX_BITS: u32 = 31;

/// Everything that says which learner this is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The loss.
    pub loss: Loss,
    /// The rule and its parameters.
    pub rule: RuleSpec,
    /// How features find their slots.
    pub table: Table,
    /// Whether every example has a feature of value 1 in a slot of its own.
    pub intercept: bool,
    /// Whether the gradients are summed for the linearised regret.
    pub certify: bool,
}

/// How features find their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Hashed or masked into 2^bits slots.
    Bits(u32),
    /// One slot a column, of so many columns.
    Columns(u32),
}

impl Table {
    /// The number of slots for features.
    pub fn len(self) -> usize {
        match self {
            Table::Bits(bits) => 1 << bits,
            Table::Columns(columns) => columns as usize,
        }
    }

    /// Whether there is no slot at all.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A rule by name, with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum RuleSpec {
    Constant { rate: f64, radius: f64, r#box: Ends },
    InverseSqrt { rate: f64, radius: f64, r#box: Ends },
    Global { rate: RateSpec, radius: f64, r#box: Ends },
    PerCoordinate { rate: RateSpec, radius: f64, r#box: Ends },
}

/// The two ends of a box that is not symmetric, in place of the radius.
pub type Ends = Option<[f64; 2]>;

/// The names of all rules, as users write them.
pub const RULES: [&str; 4] = ["constant", "inverse-sqrt", "global", "per-coordinate"];

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
}

impl Spec {
    /// Read a spec from JSON.
    pub fn parse(text: &str) -> Result<Spec> {
        let spec: Spec = serde_json::from_str(text)
            .map_err(|error| Error::Spec(format!("the spec cannot be understood: {error}")))?;
        spec.check_table().map(|()| spec)
    }

    /// Whether the table can be: without that, not even its length is known.
    pub fn check_table(&self) -> Result<()> {
        match self.table {
            Table::Bits(bits) if !(1..=MAX_BITS).contains(&bits) => {
                Err(Error::Spec(format!("bits must be from 1 to {MAX_BITS}, found {bits}")))
            }
            _ => Ok(()),
        }
    }

    /// The slot of the intercept, if there is one: the last.
    pub fn intercept_slot(&self) -> Option<u32> {
        self.intercept.then_some(self.table.len() as u32)
    }

    /// The number of slots of the learner.
    pub fn slots(&self) -> usize {
        self.table.len() + usize::from(self.intercept)
    }

    /// The learner, untouched. `intervals`, if given, has one interval for each slot.
    pub fn build(&self, intervals: Option<Vec<Interval>>) -> Result<Box<dyn Model>> {
        if let Some(intervals) = &intervals {
            check_intervals(intervals, self.slots())?;
        }
        match self.rule {
            RuleSpec::Constant { rate, radius, r#box } => {
                let rule = Constant::new(positive("rate", rate)?, interval(radius, r#box)?);
                self.learner(rule, intervals)
            }
            RuleSpec::InverseSqrt { rate, radius, r#box } => {
                let rule = InverseSqrt::new(positive("rate", rate)?, interval(radius, r#box)?);
                self.learner(rule, intervals)
            }
            RuleSpec::Global { rate, radius, r#box } => {
                self.learner(Global::new(rate.rate()?, interval(radius, r#box)?), intervals)
            }
            RuleSpec::PerCoordinate { rate, radius, r#box } => {
                let rule = PerCoordinate::new(rate.rate()?, interval(radius, r#box)?);
                self.learner(rule, intervals)
            }
        }
    }

    fn learner<R: Rule>(
        &self,
        rule: R,
        intervals: Option<Vec<Interval>>,
    ) -> Result<Box<dyn Model>> {
        let (loss, slots, certify) = (self.loss, self.slots(), self.certify);
        Ok(match intervals {
            None => Box::new(Learner::new(loss, [rule], Uniform, slots, certify)?),
            Some(own) => Box::new(Learner::new(loss, [rule], own, slots, certify)?),
        })
    }
}

impl RateSpec {
    fn rate(self) -> Result<Rate> {
        match self {
            RateSpec::Number(rate) => Ok(Rate::Number(positive("rate", rate)?)),
            RateSpec::Word(RateWord::Theory) => Ok(Rate::Theory),
        }
    }
}

fn positive(name: &str, number: f64) -> Result<f32> {
    let small = number as f32;
    if small > 0.0 && small.is_normal() {
        return Ok(small);
    }
    Err(Error::Spec(format!(
        "{name} must be a positive number that fits a float32, found {number:?}"
    )))
}

fn interval(radius: f64, ends: Ends) -> Result<Interval> {
    let interval = match ends {
        Some([low, high]) => Interval { low: low as f32, high: high as f32 },
        None => {
            let radius = positive("radius", radius)?;
            Interval { low: -radius, high: radius }
        }
    };
    check_interval(interval).map(|()| interval)
}

fn check_interval(interval: Interval) -> Result<()> {
    let Interval { low, high } = interval;
    // An infinite width would make the theory's rate, and with it the bound, infinite.
    if low < high && (high - low).is_finite() {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "a box needs low < high and a width that fits a float32, found [{low:?}, {high:?}]"
    )))
}

fn check_intervals(intervals: &[Interval], slots: usize) -> Result<()> {
    if intervals.len() != slots {
        return Err(Error::Spec(format!(
            "a box for each coordinate needs {slots} intervals, found {}",
            intervals.len()
        )));
    }
    intervals.iter().try_for_each(|&interval| check_interval(interval))
}
