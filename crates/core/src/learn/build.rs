//! Builds a learner from a spec: the only file where names become types.

use super::classes::Classes;
use super::frame::{Boxes, Plan, Uniform};
use super::lanes::Lanes;
use super::model::Model;
use super::penalty::Penalty;
use super::single::Single;
use super::slim::SlimModel;
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::example::Scales;
use crate::rule::{Interval, Parameters, Rule, WithRule, check_interval};
use crate::spec::Spec;

impl Spec {
    /// Builds the learner in its initial state. `intervals`, if given, has one interval for each slot.
    pub fn build(&self, intervals: Option<Vec<Interval>>) -> Result<Box<dyn Model>> {
        self.check()?;
        if let Some(intervals) = &intervals {
            check_intervals(intervals, self.space.slots())?;
        }
        self.rule.with(Build { spec: self, intervals })
    }

    /// Builds the slim model of a learner with this spec and this tally. All its weights are 0.
    pub fn build_slim(&self, tally: Tally) -> Result<SlimModel> {
        let slots = self.space.slots();
        let unit_values = self.rule.with(AskUnitValues)?;
        SlimModel::new(slots, Scales::new(&self.space)?, unit_values, tally)
    }

    fn plan(&self) -> Result<Plan> {
        let slots = self.space.slots();
        Ok(Plan {
            loss: self.loss,
            penalty: Penalty { l2: self.l2, scope: self.l2_scope },
            importance_aware: self.importance_aware,
            fixed_share: self.fixed_share,
            scales: Scales::new(&self.space)?,
            slots,
            certify: self.certify,
        })
    }
}

/// Asks a rule whether it plays on unit values.
struct AskUnitValues;

impl WithRule for AskUnitValues {
    type Output = bool;

    fn call<P: Parameters>(self, _rule: P::Rule, _parameters: &P) -> Result<bool> {
        Ok(P::Rule::UNIT_VALUES)
    }
}

/// Builds the learner of a rule, with one lane or eight, and with one interval or one for each slot.
struct Build<'a> {
    spec: &'a Spec,
    intervals: Option<Vec<Interval>>,
}

impl WithRule for Build<'_> {
    type Output = Box<dyn Model>;

    fn call<P: Parameters>(self, rule: P::Rule, parameters: &P) -> Result<Box<dyn Model>> {
        let plan = self.spec.plan()?;
        match self.intervals {
            None => build_within(plan, self.spec, rule, parameters, Uniform),
            Some(own) => {
                if P::Rule::BOUNDED {
                    return build_within(plan, self.spec, rule, parameters, own);
                }
                let name = self.spec.rule.name();
                Err(Error::Spec(format!(
                    "rule '{name}' has no feasible set, so it cannot be given a box"
                )))
            }
        }
    }
}

fn build_within<P: Parameters, B: Boxes>(
    plan: Plan,
    spec: &Spec,
    rule: P::Rule,
    parameters: &P,
    boxes: B,
) -> Result<Box<dyn Model>> {
    // The constant comes first: the compiler then leaves out learners with lanes of rules that have none.
    if P::CAN_BE_AUTO && parameters.is_auto() {
        return Ok(match &spec.classes {
            None => Box::new(Lanes::new(plan, rule, boxes)?),
            Some(classes) => Box::new(Classes::<_, _, true>::new(plan, classes, rule, boxes)?),
        });
    }
    Ok(match &spec.classes {
        None => Box::new(Single::new(plan, rule, boxes)?),
        Some(classes) => Box::new(Classes::<_, _, false>::new(plan, classes, rule, boxes)?),
    })
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
