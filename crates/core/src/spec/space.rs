//! The feature space: the settings that examples and learners must share.
//!
//! It defines how names become slots, what the labels are, whether there is an intercept and how values are
//! scaled. A spec contains one, and so does the model file. Every source of examples has the feature space
//! that it was read for. A learner compares the two once, before it learns or predicts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::namespaces::{Groups, Namespaces};
use super::schema::Schema;
use crate::error::{Error, Result};
use crate::loss::{Labels, Loss};

/// The greatest number of bits: slots are numbered by 32 bits and one is the intercept's.
pub const MAX_BITS: u32 = 31;

/// The greatest number of columns: slots are numbered by 32 bits and one is the intercept's.
pub const MAX_COLUMNS: u32 = u32::MAX - 1;

/// The settings that examples and learners must share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSpace {
    /// How features are mapped to slots.
    pub table: Table,
    /// The kind of the labels.
    pub labels: Labels,
    /// Whether every example has a feature of value 1 in a slot of its own.
    pub intercept: bool,
    /// How values are scaled. In a learner's space the learner scales them; in that of examples they are
    /// scaled already.
    pub scale: Scale,
    /// What the columns of a table are; `None` for other examples.
    #[serde(default)]
    pub schema: Option<Arc<Schema>>,
    /// Which namespaces are read and which are crossed; `None` if all are read and none is crossed.
    #[serde(default)]
    pub namespaces: Option<Arc<Namespaces>>,
}

/// How features are mapped to slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Hashed or masked to 2^bits slots.
    Bits(u32),
    /// One slot per column, for this many columns.
    Columns(u32),
}

/// How values are scaled: what they are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Values are not scaled.
    #[default]
    None,
    /// The largest absolute value met, if it is above 1.
    Cap,
    /// The largest absolute value met.
    Full,
    /// Mean and spread of the values met, for features in every example; their size for others.
    Standard,
}

impl Scale {
    /// The name of the scale, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Scale::None => "none",
            Scale::Cap => "cap",
            Scale::Full => "full",
            Scale::Standard => "standard",
        }
    }
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

    /// Check that the slots can be numbered by 32 bits.
    pub fn check(self) -> Result<()> {
        match self {
            Table::Bits(bits) if !(1..=MAX_BITS).contains(&bits) => {
                Err(Error::Spec(format!("bits must be from 1 to {MAX_BITS}, found {bits}")))
            }
            Table::Columns(columns) if columns > MAX_COLUMNS => Err(Error::Spec(format!(
                "columns must be from 0 to {MAX_COLUMNS}, found {columns}"
            ))),
            _ => Ok(()),
        }
    }

    fn described(self) -> String {
        match self {
            Table::Bits(bits) => format!("bits={bits}"),
            Table::Columns(columns) => format!("columns={columns}"),
        }
    }
}

impl FeatureSpace {
    /// Features of text hashed to 2^bits slots, not scaled and without an intercept.
    pub const fn text(bits: u32, labels: Labels) -> Self {
        FeatureSpace {
            table: Table::Bits(bits),
            labels,
            intercept: false,
            scale: Scale::None,
            schema: None,
            namespaces: None,
        }
    }

    /// Parse and check a feature space in JSON.
    pub fn parse(text: &str) -> Result<Self> {
        let space: FeatureSpace = serde_json::from_str(text).map_err(|error| {
            Error::Spec(format!("the feature space cannot be understood: {error}"))
        })?;
        space.check().map(|()| space)
    }

    /// Check that the slots can be numbered and that the columns can be read.
    pub fn check(&self) -> Result<()> {
        self.table.check()?;
        if let Some(schema) = &self.schema {
            schema.check(self.labels)?;
        }
        if self.has_columns() {
            self.bits()?;
        }
        match &self.namespaces {
            None => Ok(()),
            Some(_) if self.has_columns() => Err(Error::Spec(
                "a table has columns, not namespaces; cross and ignore them in its schema".into(),
            )),
            Some(namespaces) => self.bits().and_then(|_| namespaces.check()),
        }
    }

    /// Check that the labels are those of a loss.
    pub fn check_loss(&self, loss: Loss) -> Result<()> {
        if loss.labels() == self.labels {
            return Ok(());
        }
        if self.labels == Labels::Classes {
            return Err(Error::Spec(
                "these passes are over two classes or numbers, and the examples were read for many classes; \
                 use class_passes, which needs them in memory"
                    .into(),
            ));
        }
        Err(Error::Spec(format!(
            "the {} loss needs {} labels, and the examples were read for {} labels; open them for a \
             feature space with labels '{}'",
            loss.name(),
            loss.labels().name(),
            self.labels.name(),
            loss.labels().name()
        )))
    }

    /// Whether labels are standardised: they are numbers or counts, and the scale is `standard`.
    pub fn standardises_labels(&self) -> bool {
        self.scale == Scale::Standard && matches!(self.labels, Labels::Real | Labels::Count)
    }

    /// Whether examples are rows of a table. A schema without columns only names the classes.
    pub fn has_columns(&self) -> bool {
        self.schema.as_ref().is_some_and(|schema| !schema.columns.is_empty())
    }

    /// The slot of the intercept, if there is one: the last.
    pub fn intercept_slot(&self) -> Option<u32> {
        self.intercept.then_some(self.table.len() as u32)
    }

    /// The number of slots, including the intercept's.
    pub fn slots(&self) -> usize {
        self.table.len() + usize::from(self.intercept)
    }

    /// The number of bits of a slot; an error unless the table is hashed.
    pub fn bits(&self) -> Result<u32> {
        match self.table {
            Table::Bits(bits) => Ok(bits),
            Table::Columns(_) => Err(Error::Spec(format!(
                "text and Arrow files are hashed into 2^bits slots, and this feature space has {}; \
                 use a feature space with bits, or give the rows of a matrix",
                self.table.described()
            ))),
        }
    }

    /// Check that text can be read for this space: what it crosses are namespaces.
    pub fn check_text(&self) -> Result<()> {
        match &self.namespaces {
            Some(namespaces) if namespaces.of == Groups::Keys => Err(Error::Spec(format!(
                "the model was trained on dicts whose keys are crossed ({}), and a file has no such keys; \
                 predict in Python with the estimator that trained it",
                namespaces.described()
            ))),
            _ => Ok(()),
        }
    }

    /// Check that a learner with this space may learn from examples with that one.
    pub fn check_learnable(&self, examples: &FeatureSpace) -> Result<()> {
        self.check_readable(examples)?;
        if self.labels == examples.labels {
            return Ok(());
        }
        let (own, other) = (self.labels.name(), examples.labels.name());
        let cure = match examples.labels {
            Labels::Any => "examples of which labels may be missing can only be predicted",
            _ => "open the examples for the learner's own feature space",
        };
        Err(differ("labels", &format!("'{own}'"), &format!("'{other}'"), cure))
    }

    /// Check that a learner with this space may predict examples with that one.
    pub fn check_readable(&self, examples: &FeatureSpace) -> Result<()> {
        let cure = "open the examples for the learner's own feature space";
        if self.table != examples.table {
            let (own, other) = (self.table.described(), examples.table.described());
            return Err(differ("slots", &own, &other, cure));
        }
        if self.intercept != examples.intercept {
            let said =
                |intercept: bool| format!("intercept={}", if intercept { "True" } else { "False" });
            return Err(differ(
                "intercept",
                &said(self.intercept),
                &said(examples.intercept),
                cure,
            ));
        }
        self.check_schema(examples)?;
        self.check_namespaces(examples)?;
        if self.scale != Scale::None && examples.scale != Scale::None {
            let (own, other) = (self.scale.name(), examples.scale.name());
            return Err(Error::Spec(format!(
                "the values of the examples were already divided by scale '{other}', and the learner \
                 would divide them again by scale '{own}'; open the examples with scale='none', or make \
                 the learner with scale='none'"
            )));
        }
        Ok(())
    }

    /// Check that the columns of the examples' table are the learner's. A learner without columns reads any examples.
    fn check_schema(&self, examples: &FeatureSpace) -> Result<()> {
        let difference = match (&self.schema, &examples.schema) {
            (Some(own), Some(other)) if Arc::ptr_eq(own, other) => None,
            (Some(own), Some(other)) => own.difference(other),
            (None, Some(_)) => Some("the learner was not made for the columns of a table".into()),
            (_, None) => None,
        };
        let Some(difference) = difference else { return Ok(()) };
        let cure = "open the examples for the learner's own feature space";
        Err(Error::Spec(format!("the feature spaces differ in columns: {difference}; {cure}")))
    }

    /// Check that the examples have the namespaces and the crosses that the learner has.
    fn check_namespaces(&self, examples: &FeatureSpace) -> Result<()> {
        if self.namespaces == examples.namespaces {
            return Ok(());
        }
        let [own, other] = [self, examples].map(|space| described(space.namespaces.as_ref()));
        let cure = "open the examples for the learner's own feature space";
        Err(differ("namespaces", &own, &other, cure))
    }
}

fn described(namespaces: Option<&Arc<Namespaces>>) -> String {
    namespaces.map_or("none selected or crossed".to_owned(), |given| given.described())
}

fn differ(what: &str, own: &str, other: &str, cure: &str) -> Error {
    Error::Spec(format!(
        "the feature spaces differ in {what}: the learner has {own}, the examples were read for \
         {other}; {cure}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: FeatureSpace = FeatureSpace {
        table: Table::Bits(18),
        labels: Labels::Binary,
        intercept: true,
        scale: Scale::Cap,
        schema: None,
        namespaces: None,
    };

    fn refusal(examples: FeatureSpace) -> Option<String> {
        SPACE.check_learnable(&examples).err().map(|error| error.to_string())
    }

    fn crossed() -> Namespaces {
        let crosses = vec![vec!["a".to_owned(), "b".to_owned()]];
        Namespaces { crosses, ..Namespaces::default() }
    }

    #[test]
    fn values_as_they_are_may_be_scaled_by_the_learner() {
        assert_eq!(refusal(FeatureSpace { scale: Scale::None, ..SPACE }), None);
    }

    #[test]
    fn every_difference_is_named() {
        let raw = FeatureSpace { scale: Scale::None, ..SPACE };
        for (examples, named) in [
            (
                FeatureSpace { table: Table::Bits(10), ..raw.clone() },
                "bits=18, the examples were read for bits=10",
            ),
            (FeatureSpace { table: Table::Columns(3), ..raw.clone() }, "read for columns=3"),
            (FeatureSpace { intercept: false, ..raw.clone() }, "read for intercept=False"),
            (
                FeatureSpace { labels: Labels::Real, ..raw.clone() },
                "'binary', the examples were read for 'real'",
            ),
            (FeatureSpace { labels: Labels::Any, ..raw.clone() }, "can only be predicted"),
            (FeatureSpace { scale: Scale::Full, ..raw.clone() }, "already divided by scale 'full'"),
            (
                FeatureSpace { namespaces: Some(Arc::new(crossed())), ..raw.clone() },
                "has none selected or crossed, the examples were read for crosses a*b",
            ),
        ] {
            let told = refusal(examples).unwrap_or_default();
            assert!(told.contains(named), "{told}");
        }
    }

    #[test]
    fn labels_do_not_matter_where_nothing_is_learned() {
        let unlabelled = FeatureSpace { labels: Labels::Any, scale: Scale::None, ..SPACE };
        assert_eq!(SPACE.check_readable(&unlabelled), Ok(()));
    }
}
