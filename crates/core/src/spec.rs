//! The request, turned once into a concrete learner.
//!
//! A spec is a small JSON document, the same in the API, the command line and the model file.
//! [`Spec::build`] picks the loop for its rule in one `match`; afterwards no name is looked at.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::lanes::Lanes;
use crate::learner::Learner;
use crate::loss::Loss;
use crate::mixture::LEAST_RATE;
use crate::model::{Model, Plan, Uniform};
use crate::penalty::{Penalty, Scope};
use crate::rule::arow::{self, Arow};
use crate::rule::confidence_weighted::{ConfidenceWeighted, Constraint};
use crate::rule::constant::Constant;
use crate::rule::fixed::Fixed;
use crate::rule::ftrl::Ftrl;
use crate::rule::global::Global;
use crate::rule::inverse_sqrt::InverseSqrt;
use crate::rule::passive_aggressive::{PassiveAggressive, Variant};
use crate::rule::per_coordinate::PerCoordinate;
use crate::rule::{Interval, Rate, Rule};
use crate::scale::{Scale, Scales};
use crate::tally::is_zero;

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
    /// λ of the regulariser that every round has; said only where it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub l2: f64,
    /// Which coordinates that acts on; said only where it is not the default.
    #[serde(default, skip_serializing_if = "Scope::is_active")]
    pub l2_scope: Scope,
    /// What values are divided by; said only where it is not the default.
    #[serde(default, skip_serializing_if = "Scale::is_none")]
    pub scale: Scale,
    /// Whether weights go as far as the importance leads them; said only where they do.
    #[serde(default, skip_serializing_if = "is_false")]
    pub importance_aware: bool,
    /// Which part of the lanes' shares every round deals out evenly; said only where it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed_share: f64,
}

fn is_false(said: &bool) -> bool {
    !said
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
    Constant {
        rate: f64,
        radius: f64,
        r#box: Ends,
    },
    InverseSqrt {
        rate: f64,
        radius: f64,
        r#box: Ends,
    },
    Global {
        rate: RateSpec,
        radius: f64,
        r#box: Ends,
    },
    PerCoordinate {
        rate: RateSpec,
        /// Said only where it is not 0, as it was before there was one.
        #[serde(default, skip_serializing_if = "is_zero")]
        offset: f64,
        radius: f64,
        r#box: Ends,
    },
    Ftrl {
        rate: RateSpec,
        offset: f64,
        l1: f64,
        l2: f64,
        radius: f64,
        r#box: Ends,
    },
    Pa {
        epsilon: f64,
    },
    PaI {
        aggressiveness: f64,
        epsilon: f64,
    },
    PaIi {
        aggressiveness: f64,
        epsilon: f64,
    },
    Cw {
        confidence: f64,
        variance: f64,
    },
    CwStdev {
        confidence: f64,
        variance: f64,
    },
    Arow {
        regularisation: f64,
        form: Form,
    },
}

/// Which off-diagonals AROW drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Those of the covariance.
    Covariance,
    /// Those of its inverse.
    Precision,
}

/// The two ends of a box that is not symmetric, in place of the radius.
pub type Ends = Option<[f64; 2]>;

/// The names of all rules, as users write them.
pub const RULES: [&str; 11] = [
    "constant",
    "inverse-sqrt",
    "global",
    "per-coordinate",
    "ftrl",
    "pa",
    "pa-i",
    "pa-ii",
    "cw",
    "cw-stdev",
    "arow",
];

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
        check_fixed_share(self.fixed_share)?;
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
                let rule = Global::new(rate.rate()?, interval(radius, r#box)?);
                self.learner_or_lanes(rate, rule, intervals)
            }
            RuleSpec::PerCoordinate { rate, offset, radius, r#box } => {
                let offset = not_negative("offset", offset)? as f32;
                let rule = PerCoordinate::new(rate.rate()?, offset, interval(radius, r#box)?);
                self.learner_or_lanes(rate, rule, intervals)
            }
            RuleSpec::Ftrl { rate, offset, l1, l2, radius, r#box } => {
                let interval = interval(radius, r#box)?;
                let rule = Ftrl {
                    rate: rate.number()?,
                    offset: not_negative("offset", offset)? as f32,
                    l1: not_negative("l1", l1)? as f32,
                    l2: not_negative("l2", l2)? as f32,
                    interval,
                };
                self.learner_or_lanes(rate, rule, intervals)
            }
            RuleSpec::Pa { epsilon } => self.passive_aggressive(Variant::Pa, epsilon),
            RuleSpec::PaI { aggressiveness, epsilon } => {
                let aggressiveness = positive("aggressiveness", aggressiveness)?.into();
                self.passive_aggressive(Variant::PaI { aggressiveness }, epsilon)
            }
            RuleSpec::PaIi { aggressiveness, epsilon } => {
                let aggressiveness = positive("aggressiveness", aggressiveness)?.into();
                self.passive_aggressive(Variant::PaII { aggressiveness }, epsilon)
            }
            RuleSpec::Cw { confidence, variance } => {
                self.confidence_weighted(Constraint::Variance, confidence, variance)
            }
            RuleSpec::CwStdev { confidence, variance } => {
                self.confidence_weighted(Constraint::Stdev, confidence, variance)
            }
            RuleSpec::Arow { regularisation, form } => {
                self.check_classification("arow")?;
                let form = match form {
                    Form::Covariance => arow::Form::Covariance,
                    Form::Precision => arow::Form::Precision,
                };
                let regularisation = positive("regularisation", regularisation)?.into();
                self.learner(Arow::new(form, regularisation), None)
            }
        }
    }

    /// Weights that do not learn, for a slim model of this spec.
    pub fn build_fixed(&self) -> Result<Box<dyn Model>> {
        let plain = Spec { certify: false, l2: 0.0, ..self.clone() };
        Spec { importance_aware: false, fixed_share: 0.0, ..plain }.learner(Fixed, None)
    }

    fn passive_aggressive(&self, variant: Variant, epsilon: f64) -> Result<Box<dyn Model>> {
        let epsilon = not_negative("epsilon", epsilon)?;
        self.learner(PassiveAggressive::new(variant, epsilon), None)
    }

    fn confidence_weighted(
        &self,
        constraint: Constraint,
        confidence: f64,
        variance: f64,
    ) -> Result<Box<dyn Model>> {
        self.check_classification("cw")?;
        let confidence = positive("confidence", confidence)?.into();
        let variance = positive("variance", variance)?.into();
        self.learner(ConfidenceWeighted::new(constraint, confidence, variance), None)
    }

    fn check_classification(&self, rule: &str) -> Result<()> {
        if self.loss.is_classification() {
            return Ok(());
        }
        let cure = "use hinge or logistic loss, or another rule";
        Err(Error::Spec(format!("rule '{rule}' learns from labels -1 and 1; {cure}")))
    }

    /// The learner; with rate "auto" that in eight lanes.
    fn learner_or_lanes<R: Rule>(
        &self,
        rate: RateSpec,
        rule: R,
        intervals: Option<Vec<Interval>>,
    ) -> Result<Box<dyn Model>> {
        if rate != RateSpec::Word(RateWord::Auto) {
            return self.learner(rule, intervals);
        }
        let plan = self.plan::<R>()?;
        Ok(match intervals {
            None => Box::new(Lanes::new(plan, rule, Uniform)?),
            Some(own) => Box::new(Lanes::new(plan, rule, own)?),
        })
    }

    fn learner<R: Rule>(
        &self,
        rule: R,
        intervals: Option<Vec<Interval>>,
    ) -> Result<Box<dyn Model>> {
        let plan = self.plan::<R>()?;
        if plan.fixed_share > 0.0 {
            let why = "fixed_share is a matter of lanes, which only rate 'auto' has";
            return Err(Error::Spec(format!("{why}; leave out fixed_share, or use rate 'auto'")));
        }
        if plan.certify && !R::BOUNDED {
            let why = "the linearised regret is measured against a box, and this rule has none";
            return Err(Error::Spec(format!("{why}; leave out certify, or use another rule")));
        }
        Ok(match intervals {
            None => Box::new(Learner::new(plan, rule, Uniform)?),
            Some(own) => Box::new(Learner::new(plan, rule, own)?),
        })
    }

    fn plan<R: Rule>(&self) -> Result<Plan> {
        self.check_importance::<R>()?;
        Ok(Plan {
            loss: self.loss,
            penalty: Penalty::new(self.l2, self.l2_scope, R::BOUNDED)?,
            importance_aware: self.importance_aware,
            fixed_share: self.fixed_share,
            scales: Scales::new(self.scale, self.slots())?,
            slots: self.slots(),
            certify: self.certify,
        })
    }

    /// Whether importance-aware updates can be, if they are asked for.
    fn check_importance<R: Rule>(&self) -> Result<()> {
        if !self.importance_aware {
            return Ok(());
        }
        if !R::DESCENDS {
            let why = "importance-aware updates are for rules that step by rate times gradient, \
                       and this rule does not";
            let cure = "leave out importance_aware, or use another rule";
            return Err(Error::Spec(format!("{why}; {cure}")));
        }
        if self.l2 > 0.0 {
            let why = "importance-aware updates follow the loss alone, and l2 adds a penalty to it";
            return Err(Error::Spec(format!("{why}; leave out importance_aware, or l2")));
        }
        Ok(())
    }
}

impl RateSpec {
    fn rate(self) -> Result<Rate> {
        match self {
            RateSpec::Number(rate) => Ok(Rate::Number(positive("rate", rate)?)),
            RateSpec::Word(RateWord::Theory) => Ok(Rate::Theory),
            RateSpec::Word(RateWord::Auto) => Ok(Rate::Number(LEAST_RATE)),
        }
    }

    /// The rate of a rule that no theorem gives one.
    fn number(self) -> Result<f32> {
        match self.rate()? {
            Rate::Number(rate) => Ok(rate),
            Rate::Theory => {
                Err(Error::Spec("this rule has no rate 'theory'; give a number".into()))
            }
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

fn not_negative(name: &str, number: f64) -> Result<f64> {
    if number >= 0.0 && (number as f32).is_finite() {
        return Ok(number);
    }
    Err(Error::Spec(format!("{name} must be a number from 0 up, found {number}")))
}

fn check_fixed_share(share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::Spec(format!("fixed_share must be a number from 0 up and below 1, found {share:?}")))
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
