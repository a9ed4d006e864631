//! The schema of a table: what each of its columns is.
//!
//! ```text
//! number     feature `column` with the number as its value
//! category   feature `column=value` with value 1
//! text       feature `column=word` with the number of times as its value; with `words` 2 also `column=word_word`
//! time       features `column.hour=…`, `column.weekday=…`, `column.month=…`, and `column` with the days since 1970
//! missing    feature `column=missing` with value 1, in place of all others of the column
//! ```
//!
//! The slot of a feature is that of its name in Vowpal Wabbit's default namespace (`example/hash.rs`). A schema is
//! part of the feature space, so a model reads the columns of new tables as it read those it was trained on.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::loss::Labels;

/// The longest run of words that can be a feature of a text column.
pub const MOST_WORDS: u32 = 3;

/// What the columns of a table are, and how its cells are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The columns, in the order of the table that the schema was made for.
    pub columns: Vec<Column>,
    /// The spellings of a missing cell.
    pub missing: Vec<String>,
    /// The two classes as the table spells them. `None` if labels are numbers or there are none.
    pub classes: Option<Classes>,
    /// The names of many classes; the label of a class is the place of its name. Empty unless there may be more than
    /// two classes, and they have names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The crosses, each a list of column names. A cross has a feature for every combination of its columns' features.
    pub crosses: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name in the header of the table.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
    /// The longest run of words that is a feature; 1 unless the column is text.
    #[serde(default = "one_word")]
    pub words: u32,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Numbers, or true and false.
    Number,
    /// One of many values, which have no order.
    Category,
    /// Words.
    Text,
    /// Dates, with or without a time of day.
    Time,
    /// What is to be predicted.
    Label,
    /// The importance of the row.
    Weight,
    /// The base margin of the row: a score of another model, added to the margin.
    Base,
    /// A name of the row, which is written beside its prediction.
    Tag,
    /// Not used.
    Ignore,
}

/// The names of two classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classes {
    /// The class of label −1; `None` if it is every value other than the positive one.
    pub negative: Option<String>,
    /// The class of label 1.
    pub positive: String,
}

impl Kind {
    /// The name of the kind, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Category => "category",
            Kind::Text => "text",
            Kind::Time => "time",
            Kind::Label => "label",
            Kind::Weight => "weight",
            Kind::Base => "base",
            Kind::Tag => "tag",
            Kind::Ignore => "ignore",
        }
    }

    /// Whether cells of this kind become features.
    pub fn has_features(self) -> bool {
        matches!(self, Kind::Number | Kind::Category | Kind::Text | Kind::Time)
    }
}

impl Schema {
    /// The first column of a kind.
    pub fn first(&self, kind: Kind) -> Option<&Column> {
        self.columns.iter().find(|column| column.kind == kind)
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Check that such a table can be read, with labels of this kind.
    pub fn check(&self, labels: Labels) -> Result<()> {
        let mut names = HashSet::new();
        for column in &self.columns {
            if !names.insert(column.name.as_str()) {
                return refuse(format!("two columns have the name '{}'", column.name));
            }
            column.check()?;
        }
        for kind in [Kind::Label, Kind::Weight, Kind::Base, Kind::Tag] {
            self.check_single(kind)?;
        }
        if let Some(base) = self.first(Kind::Base)
            && !labels.takes_base()
        {
            return refuse(format!(
                "labels are {}, which have no base margin, and column '{}' is a base",
                labels.plural(),
                base.name
            ));
        }
        self.check_classes(labels)?;
        self.crosses.iter().try_for_each(|cross| self.check_cross(cross))
    }

    /// What differs first between this schema, which is a learner's, and that of examples.
    pub fn difference(&self, examples: &Schema) -> Option<String> {
        for own in &self.columns {
            match examples.column(&own.name) {
                None => return Some(format!("the examples have no column '{}'", own.name)),
                Some(other) if other != own => {
                    let (name, own, other) = (&own.name, own.described(), other.described());
                    return Some(format!("column '{name}' is a {own}, in the examples a {other}"));
                }
                Some(_) => {}
            }
        }
        let differs = self.missing != examples.missing || self.crosses != examples.crosses;
        let differs = differs || self.classes != examples.classes || self.names != examples.names;
        differs.then(|| "the spellings of missing cells, the classes or the crosses".to_owned())
    }

    fn check_single(&self, kind: Kind) -> Result<()> {
        let mut found = self.columns.iter().filter(|column| column.kind == kind);
        match (found.next(), found.next()) {
            (Some(one), Some(two)) => refuse(format!(
                "the columns '{}' and '{}' are both {}; a table has at most one",
                one.name,
                two.name,
                kind.name()
            )),
            _ => Ok(()),
        }
    }

    fn check_classes(&self, labels: Labels) -> Result<()> {
        let is_needed = labels == Labels::Binary && self.first(Kind::Label).is_some();
        if labels == Labels::Classes && self.first(Kind::Label).is_some() && self.names.is_empty() {
            return refuse("the names of the classes are not given".to_owned());
        }
        if self.names.iter().collect::<HashSet<_>>().len() < self.names.len() {
            return refuse("two classes have the same name".to_owned());
        }
        match &self.classes {
            None if is_needed => refuse("the names of the two classes are not given".to_owned()),
            Some(_) if matches!(labels, Labels::Real | Labels::Count) => {
                refuse("labels are numbers, and names of classes are given".to_owned())
            }
            Some(_) if labels == Labels::Classes => {
                refuse("there are many classes, and names of two are given".to_owned())
            }
            Some(Classes { negative: Some(negative), positive }) if negative == positive => {
                refuse(format!("both classes have the name '{positive}'"))
            }
            _ => Ok(()),
        }
    }

    fn check_cross(&self, cross: &[String]) -> Result<()> {
        if cross.len() < 2 {
            return refuse(format!("a cross needs at least two columns, found {cross:?}"));
        }
        for (place, name) in cross.iter().enumerate() {
            if cross[..place].contains(name) {
                return refuse(format!("column '{name}' cannot be crossed with itself"));
            }
            match self.column(name) {
                None => return refuse(format!("the cross {cross:?} names no column '{name}'")),
                Some(column) if !column.kind.has_features() => {
                    let kind = column.kind.name();
                    return refuse(format!("column '{name}' is a {kind} and cannot be crossed"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

impl Column {
    fn check(&self) -> Result<()> {
        let most = if self.kind == Kind::Text { MOST_WORDS } else { 1 };
        if (1..=most).contains(&self.words) {
            return Ok(());
        }
        let Column { name, words, .. } = self;
        refuse(format!("words of column '{name}' must be from 1 to {most}, found {words}"))
    }

    fn described(&self) -> String {
        match self.words {
            1 => self.kind.name().to_owned(),
            words => format!("{} with runs of {words} words", self.kind.name()),
        }
    }
}

fn one_word() -> u32 {
    1
}

fn refuse<T>(reason: String) -> Result<T> {
    Err(Error::Spec(format!("the columns of the table: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(columns: &[(&str, Kind)]) -> Schema {
        let column =
            |&(name, kind): &(&str, Kind)| Column { name: name.to_owned(), kind, words: 1 };
        let classes = Classes { negative: None, positive: "yes".to_owned() };
        Schema {
            columns: columns.iter().map(column).collect(),
            missing: vec![String::new()],
            classes: Some(classes),
            names: Vec::new(),
            crosses: Vec::new(),
        }
    }

    fn told(schema: &Schema) -> String {
        schema.check(Labels::Binary).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_schema_says_what_is_wrong_with_it() {
        let good = schema(&[("age", Kind::Number), ("user", Kind::Category), ("y", Kind::Label)]);
        assert_eq!(told(&good), "");
        let twice = schema(&[("age", Kind::Number), ("age", Kind::Text)]);
        assert!(told(&twice).contains("two columns have the name 'age'"));
        let labels = schema(&[("a", Kind::Label), ("b", Kind::Label)]);
        assert!(told(&labels).contains("'a' and 'b' are both label"));
        let crossed = |cross: &[&str]| Schema {
            crosses: vec![cross.iter().map(|&name| name.to_owned()).collect()],
            ..good.clone()
        };
        assert_eq!(told(&crossed(&["age", "user"])), "");
        assert!(told(&crossed(&["age"])).contains("at least two columns"));
        assert!(told(&crossed(&["age", "age"])).contains("cannot be crossed with itself"));
        assert!(told(&crossed(&["age", "x"])).contains("names no column 'x'"));
        assert!(told(&crossed(&["age", "y"])).contains("'y' is a label and cannot be crossed"));
        assert!(told(&Schema { classes: None, ..good.clone() }).contains("are not given"));
        let mut long = good;
        long.columns[0].words = 2;
        assert!(told(&long).contains("words of column 'age' must be from 1 to 1, found 2"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let own = schema(&[("age", Kind::Number), ("user", Kind::Category)]);
        assert_eq!(own.difference(&own), None);
        let changed = schema(&[("age", Kind::Category), ("user", Kind::Category)]);
        let found = own.difference(&changed).unwrap_or_default();
        assert_eq!(found, "column 'age' is a number, in the examples a category");
        let missing = schema(&[("age", Kind::Number)]);
        let found = own.difference(&missing).unwrap_or_default();
        assert_eq!(found, "the examples have no column 'user'");
    }
}
