//! Cells that their columns cannot hold.

use super::cell::Cell;
use crate::loss::Labels;
use crate::read::format::quote;
use crate::spec::{Classes, Column, Kind, Schema};

/// A cell that its column cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellFault {
    /// The number of the column in the schema.
    pub column: usize,
    /// What was expected, with the name of the column and what to do.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl CellFault {
    /// A cell that is not what its kind needs.
    pub fn of_kind(k: usize, column: &Column, cell: Cell<'_>, expected: &str) -> Self {
        let (name, kind) = (&column.name, column.kind);
        let cure = match kind {
            Kind::Number | Kind::Time => {
                format!("; train with --category {name} if its cells are not all {}s", kind.name())
            }
            _ => String::new(),
        };
        CellFault {
            column: k,
            expected: format!("{expected} in column '{name}'{cure}"),
            found: shown(cell),
        }
    }

    /// A label that is none of the classes, or not a number.
    pub fn of_label(
        k: usize,
        column: &Column,
        schema: &Schema,
        labels: Labels,
        cell: Cell<'_>,
    ) -> Self {
        let name = &column.name;
        let expected = match &schema.classes {
            None if !schema.names.is_empty() => format!(
                "one of the {} classes as label in column '{name}'; declare a new one with --classes",
                schema.names.len()
            ),
            None => format!("{} in column '{name}'", labels.expected()),
            Some(Classes { negative: None, .. }) => format!("a label in column '{name}'"),
            Some(Classes { negative: Some(negative), positive }) => {
                format!("the label '{negative}' or '{positive}' in column '{name}'")
            }
        };
        CellFault { column: k, expected, found: shown(cell) }
    }

    /// A product of columns that is too large. It is found in the first column of the cross.
    pub fn of_cross(k: usize, cross: &[String]) -> Self {
        CellFault {
            column: k,
            expected: format!(
                "a product of the columns '{}' within ±3.4e38; divide their numbers, or cross fewer columns",
                cross.join("', '")
            ),
            found: "a larger one".to_owned(),
        }
    }
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => "nothing".to_owned(),
        cell => quote(&cell.text()),
    }
}
