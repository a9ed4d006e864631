//! The spec of a learner, checked once.
//!
//! A spec is a small JSON document, the same in the API, the command line and the model file. Parsing checks
//! all of it and fills in defaults, so that a spec that is written has every key.

mod classes;
mod namespaces;
mod schema;
mod space;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::loss::{Labels, Loss};
use crate::rule::{Parameters, Rule, RuleSpec, WithRule};
pub use classes::ManyClasses;
pub use namespaces::{ANY, Groups, Namespaces, distinct};
pub use schema::{Classes, Column, Kind, MOST_WORDS, Schema};
pub use space::{FeatureSpace, MAX_BITS, MAX_COLUMNS, Scale, Table};

/// All settings of a learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Document", into = "Document")]
pub struct Spec {
    /// The loss.
    pub loss: Loss,
    /// The rule and its parameters.
    pub rule: RuleSpec,
    /// The feature space, which the learner's examples must share.
    pub space: FeatureSpace,
    /// Whether the gradients are summed, for the linearised regret.
    pub certify: bool,
    /// λ of the L2 penalty in every round.
    pub l2: f64,
    /// Which coordinates the L2 penalty acts on.
    pub l2_scope: Scope,
    /// Whether updates are importance-aware.
    pub importance_aware: bool,
    /// The fixed share: the part of the lanes' shares that every round redistributes evenly.
    pub fixed_share: f64,
    /// The classes, if there may be more than two; `None` for two classes and for numbers.
    pub classes: Option<ManyClasses>,
}

/// Which coordinates the L2 penalty of a round acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The features of the example.
    #[default]
    Active,
    /// All touched coordinates; every round loops over all slots.
    All,
}

/// A spec as it is written. Keys with a default did not exist in the first model files.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    loss: Loss,
    rule: RuleSpec,
    table: Table,
    intercept: bool,
    certify: bool,
    #[serde(default)]
    l2: f64,
    #[serde(default)]
    l2_scope: Scope,
    #[serde(default)]
    scale: Scale,
    #[serde(default)]
    importance_aware: bool,
    #[serde(default)]
    fixed_share: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<Arc<Schema>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespaces: Option<Arc<Namespaces>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<ManyClasses>,
}

impl From<Document> for Spec {
    fn from(written: Document) -> Self {
        let Document { loss, rule, table, intercept, certify, l2, l2_scope, scale, .. } = written;
        let Document { importance_aware, fixed_share, schema, namespaces, classes, .. } = written;
        let labels = if classes.is_some() { Labels::Classes } else { loss.labels() };
        let space = FeatureSpace { table, labels, intercept, scale, schema, namespaces };
        Spec { loss, rule, space, certify, l2, l2_scope, importance_aware, fixed_share, classes }
    }
}

impl From<Spec> for Document {
    fn from(spec: Spec) -> Self {
        let Spec { loss, rule, space, certify, l2, l2_scope, classes, .. } = spec;
        let Spec { importance_aware, fixed_share, .. } = spec;
        let FeatureSpace { table, intercept, scale, schema, namespaces, .. } = space;
        Document {
            loss,
            rule,
            table,
            intercept,
            certify,
            l2,
            l2_scope,
            scale,
            importance_aware,
            fixed_share,
            schema,
            namespaces,
            classes,
        }
    }
}

impl Spec {
    /// Parse and check a spec in JSON.
    pub fn parse(text: &str) -> Result<Spec> {
        let spec: Spec = serde_json::from_str(text)
            .map_err(|error| Error::Spec(format!("the spec cannot be understood: {error}")))?;
        spec.check().map(|()| spec)
    }

    /// Check that such a learner exists.
    pub fn check(&self) -> Result<()> {
        self.space.check()?;
        check_fixed_share(self.fixed_share)?;
        self.rule.with(Check(self))
    }

    fn check_rule<P: Parameters>(&self, parameters: &P) -> Result<()> {
        if P::CLASSIFIES && !self.loss.is_classification() {
            let rule = self.rule.name();
            let cure = "use hinge or logistic loss, or another rule";
            return Err(Error::Spec(format!("rule '{rule}' learns from labels -1 and 1; {cure}")));
        }
        if P::MEETS_LABELS && self.loss.labels() == Labels::Count {
            let rule = self.rule.name();
            let why = "moves predictions to labels, and a count is predicted by e to the margin";
            return Err(Error::Spec(format!("rule '{rule}' {why}; use another rule or loss")));
        }
        if let Some(classes) = &self.classes {
            classes.check(self, P::Rule::BOUNDED)?;
        }
        self.check_importance_aware(P::Rule::DESCENDS)?;
        self.check_l2(P::Rule::BOUNDED)?;
        if self.fixed_share > 0.0 && !parameters.is_auto() {
            let why = "fixed_share is a matter of lanes, which only rate 'auto' has";
            return Err(Error::Spec(format!("{why}; leave out fixed_share, or use rate 'auto'")));
        }
        Ok(())
    }

    fn check_importance_aware(&self, descends: bool) -> Result<()> {
        if !self.importance_aware {
            return Ok(());
        }
        if !descends {
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

    /// Check that L2 is used only with a rule that is `bounded`: it has a box and a rate.
    fn check_l2(&self, bounded: bool) -> Result<()> {
        let l2 = self.l2;
        if !(l2 >= 0.0 && (l2 as f32).is_finite()) {
            let expected = "a number from 0 up that fits a float32";
            return Err(Error::Spec(format!("l2 must be {expected}, found {l2:?}")));
        }
        if l2 > 0.0 && !bounded {
            let why = "l2 is for rules that follow the gradient on a box, and this rule does not";
            return Err(Error::Spec(format!("{why}; leave out l2, or use another rule")));
        }
        Ok(())
    }
}

/// The checks that depend on the rule's type.
struct Check<'a>(&'a Spec);

impl WithRule for Check<'_> {
    type Output = ();

    fn call<P: Parameters>(self, _rule: P::Rule, parameters: &P) -> Result<()> {
        self.0.check_rule(parameters)
    }
}

fn check_fixed_share(share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::Spec(format!("fixed_share must be a number from 0 up and below 1, found {share:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"loss":"logistic","rule":{"name":"per-coordinate","rate":0.5,"radius":1.0,
        "box":null},"table":{"bits":4},"intercept":true,"certify":false}"#;

    #[test]
    fn a_spec_of_the_first_model_files_is_completed() -> Result<()> {
        let spec = Spec::parse(OLD)?;
        let written: serde_json::Value = serde_json::to_value(&spec).unwrap_or_default();
        let keys: Vec<_> = written.as_object().into_iter().flatten().map(|(key, _)| key).collect();
        assert_eq!(keys.len(), 10, "{keys:?}");
        assert_eq!(Spec::parse(&written.to_string())?, spec);
        assert_eq!((written["scale"].as_str(), written["l2"].as_f64()), (Some("none"), Some(0.0)));
        Ok(())
    }

    #[test]
    fn only_a_number_that_fits_is_a_strength_of_l2() -> Result<()> {
        for l2 in [-1e-9, f64::NAN, f64::INFINITY, 1e39] {
            let told = format!("l2 must be a number from 0 up that fits a float32, found {l2:?}");
            let spec = Spec { l2, ..Spec::parse(OLD)? };
            assert_eq!(spec.check(), Err(Error::Spec(told)));
            assert!(Spec { l2: 0.0, ..spec }.check_l2(false).is_ok());
        }
        assert!(Spec { l2: 1e-9, ..Spec::parse(OLD)? }.check_l2(false).is_err());
        Ok(())
    }
}
