//! Where a file has the columns of the schema.
//!
//! Every file has a header of its own, so columns may stand in another order in every file. Names are compared
//! without blanks at their ends. A file may have more columns than the schema; those are ignored, and so are columns
//! without a name. It may lack ignored columns and, if its rows are only predicted, the label, the weight and the tag.
//!
//! Cost: made once a file; a row looks up one number for each column.

use std::collections::HashMap;

use super::cell::trimmed;
use crate::loss::Labels;
use crate::read::format::csv::{Cells, RecordFault};
use crate::read::format::quote;
use crate::spec::{Kind, Schema};

/// The most names that a message lists.
const MOST_NAMES: usize = 12;

/// Where the names of the columns come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesFrom {
    /// The header of the file.
    Header,
    /// The user.
    Given,
    /// The number of cells of the first row: c1, c2, ….
    FirstRow,
}

/// The columns of one file.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The byte between two cells.
    pub delimiter: u8,
    /// The number of cells of a row.
    pub width: usize,
    /// For every column of the schema, its cell in a row.
    pub places: Vec<Option<u32>>,
    /// The columns of the file that the schema does not have.
    pub ignored: Vec<String>,
    from: NamesFrom,
}

/// The names in a header.
pub fn names_in(header: &Cells) -> Vec<String> {
    header.iter().map(|name| String::from_utf8_lossy(trimmed(name)).into_owned()).collect()
}

/// The names of columns without a header: c1, c2, ….
pub fn numbered(width: usize) -> Vec<String> {
    (1..=width).map(|k| format!("c{k}")).collect()
}

/// Check that no two columns have the same name. `cells` are the header, for the place of the fault.
pub fn check_distinct(names: &[String], cells: Option<&Cells>) -> Result<(), RecordFault> {
    let mut met = HashMap::new();
    for (k, name) in names.iter().enumerate() {
        if let Some(first) = met.insert(name, k + 1)
            && !name.is_empty()
        {
            return Err(RecordFault {
                at: cells.map(|cells| cells.start(k)),
                expected: "a name for each column that no other has (rename one of the two)".into(),
                found: format!("{} for columns {first} and {}", quote(name.as_bytes()), k + 1),
            });
        }
    }
    Ok(())
}

impl Layout {
    /// The layout of a file with columns of these names.
    pub fn new(
        names: &[String],
        from: NamesFrom,
        delimiter: u8,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Layout, RecordFault> {
        let place = |name: &String| names.iter().position(|other| other == name);
        let mut places = Vec::with_capacity(schema.columns.len());
        for column in &schema.columns {
            let found = place(&column.name);
            if found.is_none() && !may_be_absent(column.kind, labels) {
                return Err(absent(&column.name, names, from, delimiter));
            }
            places.push(found.map(|place| place as u32));
        }
        let is_ignored = |name: &&String| schema.column(name).is_none() && !name.is_empty();
        let ignored = names.iter().filter(is_ignored).cloned().collect();
        Ok(Layout { delimiter, width: names.len(), places, ignored, from })
    }

    /// The fault of a row with another number of cells. `start` is the byte of the first cell too many.
    pub fn wrong_width(&self, found: usize, start: Option<usize>) -> RecordFault {
        let width = self.width;
        let whose = match self.from {
            NamesFrom::Header => "one for each column of the header",
            NamesFrom::Given => "one for each name that was given",
            NamesFrom::FirstRow => "as many as in the first row",
        };
        let cells = if width == 1 { "cell" } else { "cells" };
        let delimiter = quote(&[self.delimiter]);
        RecordFault {
            at: start,
            expected: format!(
                "{width} {cells}, {whose} (write a cell with {delimiter} in it in quotes)"
            ),
            found: format!("{found}"),
        }
    }
}

fn may_be_absent(kind: Kind, labels: Labels) -> bool {
    match kind {
        Kind::Ignore => true,
        Kind::Label | Kind::Weight | Kind::Tag => labels == Labels::Any,
        _ => false,
    }
}

fn absent(name: &str, names: &[String], from: NamesFrom, delimiter: u8) -> RecordFault {
    let shown: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| format!("'{name}'")).collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    let cure = match (names.len(), from) {
        (1, NamesFrom::Header) => {
            format!(" (cells are separated by {}; is that the delimiter?)", quote(&[delimiter]))
        }
        (_, NamesFrom::Header) => {
            " in the header (is the first line of the file a header?)".to_owned()
        }
        _ => " among the names of the columns".to_owned(),
    };
    RecordFault {
        at: None,
        expected: format!("a column '{name}'{cure}"),
        found: format!("{}{more}", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Column;

    fn schema() -> Schema {
        let column = |(name, kind): (&str, Kind)| Column { name: name.into(), kind, words: 1 };
        let columns =
            [("age", Kind::Number), ("id", Kind::Ignore), ("w", Kind::Weight), ("y", Kind::Label)];
        Schema {
            columns: columns.map(column).into(),
            missing: Vec::new(),
            classes: None,
            names: Vec::new(),
            crosses: Vec::new(),
        }
    }

    fn layout(names: &[&str], labels: Labels) -> Result<Layout, RecordFault> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Layout::new(&names, NamesFrom::Header, b',', &schema(), labels)
    }

    #[test]
    fn columns_may_stand_in_any_order_with_others_among_them() {
        let found = layout(&["y", "more", "", "age", "w"], Labels::Binary).unwrap();
        assert_eq!(found.places, [Some(3), None, Some(4), Some(0)]);
        assert_eq!((found.width, found.ignored), (5, vec!["more".to_owned()]));
    }

    #[test]
    fn only_rows_that_are_predicted_may_lack_label_and_weight() {
        assert_eq!(layout(&["age"], Labels::Any).unwrap().places, [Some(0), None, None, None]);
        let told = layout(&["age", "w"], Labels::Binary).unwrap_err();
        assert_eq!(
            told.expected,
            "a column 'y' in the header (is the first line of the file a header?)"
        );
        assert_eq!(told.found, "'age', 'w'");
        let told = layout(&["age;w;y"], Labels::Binary).unwrap_err();
        assert_eq!(
            told.expected,
            "a column 'age' (cells are separated by ','; is that the delimiter?)"
        );
    }

    #[test]
    fn names_are_distinct() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(check_distinct(&names(&["a", "b", "", ""]), None), Ok(()));
        let told = check_distinct(&names(&["a", "b", "a"]), None).unwrap_err();
        assert_eq!(told.found, "'a' for columns 1 and 3");
    }
}
