//! A spec turned into a learner: the one place where names become types.

use super::fixed::Fixed;
use super::lanes::Lanes;
use super::model::{Model, Plan, Uniform};
use super::penalty::Penalty;
use super::single::Learner;
use crate::error::{Error, Result};
use crate::example::Scales;
use crate::rule::{Interval, Parameters, WithRule, check_interval};
use crate::spec::Spec;

impl Spec {
    /// The learner, untouched. `intervals`, if given, has one interval for each slot.
    pub fn build(&self, intervals: Option<Vec<Interval>>) -> Result<Box<dyn Model>> {
        self.check()?;
        if let Some(intervals) = &intervals {
            check_intervals(intervals, self.space.slots())?;
        }
        self.rule.with(Build { spec: self, intervals })
    }

    /// Weights that do not learn, for a slim model of this spec.
    pub fn build_fixed(&self) -> Result<Box<dyn Model>> {
        let plan = self.plan()?;
        let plan = Plan { penalty: Penalty::default(), importance_aware: false, ..plan };
        Ok(Box::new(Learner::new(
            Plan { certify: false, fixed_share: 0.0, ..plan },
            Fixed,
            Uniform,
        )?))
    }

    fn plan(&self) -> Result<Plan> {
        let slots = self.space.slots();
        Ok(Plan {
            loss: self.loss,
            penalty: Penalty { l2: self.l2, scope: self.l2_scope },
            importance_aware: self.importance_aware,
            fixed_share: self.fixed_share,
            scales: Scales::new(self.space.scale, slots)?,
            slots,
            certify: self.certify,
        })
    }
}

/// The learner of a rule, in one lane or in eight, with one interval or one for each slot.
struct Build<'a> {
    spec: &'a Spec,
    intervals: Option<Vec<Interval>>,
}

impl WithRule for Build<'_> {
    type Output = Box<dyn Model>;

    fn call<P: Parameters>(self, rule: P::Rule, parameters: &P) -> Result<Box<dyn Model>> {
        let plan = self.spec.plan()?;
        Ok(match (parameters.is_auto(), self.intervals) {
            (false, None) => Box::new(Learner::new(plan, rule, Uniform)?),
            (false, Some(own)) => Box::new(Learner::new(plan, rule, own)?),
            (true, None) => Box::new(Lanes::new(plan, rule, Uniform)?),
            (true, Some(own)) => Box::new(Lanes::new(plan, rule, own)?),
        })
    }
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
