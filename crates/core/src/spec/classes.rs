//! More than two classes: which ones a learner knows from the start.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::Spec;
use crate::error::{Error, Result};

/// A float32 holds every whole number up to here, and labels are float32.
const MOST: i32 = 1 << 24;

/// The classes of a learner that may have more than two.
///
/// A class is known by its code, the number that examples have as their label. The names of classes are in the schema:
/// the code of a name is its place there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManyClasses {
    /// The codes of the classes that are known.
    pub known: Vec<i32>,
    /// Whether classes are found as they come, and count from their first example on. Otherwise the classes that are
    /// known count from the first round on, and any other label is an error.
    pub auto: bool,
}

impl ManyClasses {
    /// Check that a learner of many classes exists with the other settings of its spec.
    pub fn check(&self, spec: &Spec, follows_gradient: bool) -> Result<()> {
        let (rule, loss) = (spec.rule.name(), spec.loss.name());
        if !follows_gradient {
            return refuse(format!("rule '{rule}' learns two classes only"), "use another rule");
        }
        if !spec.loss.is_classification() {
            return refuse(
                format!("loss '{loss}' is not of classes"),
                "use logistic or hinge loss",
            );
        }
        if spec.l2 > 0.0 {
            let cure = "leave out l2, or use rule 'ftrl' with its own l2";
            return refuse("l2 is for two classes and for numbers".into(), cure);
        }
        if spec.importance_aware {
            let why = "importance-aware updates follow one margin, and each class has its own";
            return refuse(why.into(), "leave out importance_aware");
        }
        self.check_codes()
    }

    fn check_codes(&self) -> Result<()> {
        if !self.auto && self.known.len() < 2 {
            let found = format!("{} declared", self.known.len());
            return refuse(found, "declare at least two, or let classes be found as they come");
        }
        let mut met = HashSet::new();
        for &code in &self.known {
            if !(-MOST..=MOST).contains(&code) {
                return refuse(format!("class {code}"), "classes are whole numbers up to 2^24");
            }
            if !met.insert(code) {
                return refuse(format!("class {code} twice"), "declare every class once");
            }
        }
        Ok(())
    }
}

fn refuse(found: String, cure: &str) -> Result<()> {
    Err(Error::Spec(format!("many classes: {found}; {cure}")))
}
