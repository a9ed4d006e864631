//! The classes of a table's labels: two of them, or many.

use std::collections::HashMap;

use super::cell::Cell;
use crate::spec::{Classes, Schema};

/// The names of the classes.
#[derive(Clone, Debug)]
pub enum ClassNames {
    /// Negative and positive.
    Two([ClassName; 2]),
    /// Many, each with its place.
    Many(ManyNames),
}

/// The places of many classes, by their spelling and by their number.
#[derive(Clone, Debug, Default)]
pub struct ManyNames {
    spelled: HashMap<Vec<u8>, f32>,
    numbers: HashMap<u64, f32>,
}

/// The name of a class; `None` is any other.
#[derive(Clone, Debug)]
pub struct ClassName {
    name: Option<String>,
    number: Option<f64>,
}

impl ManyNames {
    fn new(names: &[String]) -> Self {
        let mut known = ManyNames::default();
        for (place, name) in names.iter().enumerate() {
            let (text, place) = (name.as_bytes(), place as f32);
            if let Some(number) = Cell::Text(text).number() {
                known.numbers.insert(number.to_bits(), place);
            }
            known.spelled.insert(text.to_vec(), place);
        }
        known
    }

    fn label(&self, cell: Cell<'_>) -> Option<f32> {
        let number = || self.numbers.get(&cell.number()?.to_bits());
        self.spelled.get(&*cell.text()).or_else(number).copied()
    }
}

impl ClassNames {
    /// The classes of a schema; `None` if labels are numbers.
    pub fn of(schema: &Schema) -> Option<Self> {
        if !schema.names.is_empty() {
            return Some(ClassNames::Many(ManyNames::new(&schema.names)));
        }
        schema.classes.as_ref().map(ClassNames::new)
    }

    /// Two classes.
    pub fn new(classes: &Classes) -> Self {
        let names = [classes.negative.clone(), Some(classes.positive.clone())];
        ClassNames::Two(names.map(|name| {
            let number = name.as_ref().and_then(|name| Cell::Text(name.as_bytes()).number());
            ClassName { name, number }
        }))
    }

    /// The label of a cell: 1 or −1 of two classes, the place of the class of many.
    pub fn label(&self, cell: Cell<'_>) -> Option<f32> {
        let [negative, positive] = match self {
            ClassNames::Two(names) => names,
            ClassNames::Many(names) => return names.label(cell),
        };
        let text = cell.text();
        if let Some(label) = self.label_of_text(&text) {
            return Some(label);
        }
        // Numbers may be spelled in different ways, such as 1 and 1.0.
        let equals = |class: &ClassName| class.number.is_some() && class.number == cell.number();
        if equals(positive) {
            return Some(1.0);
        }
        (equals(negative) || negative.name.is_none()).then_some(-1.0)
    }

    /// The label of a class that is spelled like this, if there is one.
    #[inline]
    pub fn label_of_text(&self, text: &[u8]) -> Option<f32> {
        let [negative, positive] = match self {
            ClassNames::Two(names) => names,
            ClassNames::Many(names) => return names.spelled.get(text).copied(),
        };
        let is =
            |class: &ClassName| class.name.as_ref().is_some_and(|name| name.as_bytes() == text);
        match is(positive) {
            true => Some(1.0),
            false => is(negative).then_some(-1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_words_or_numbers() {
        let named = |negative: Option<&str>, positive: &str| {
            ClassNames::new(&Classes {
                negative: negative.map(str::to_owned),
                positive: positive.into(),
            })
        };
        let numbers = named(Some("0"), "1");
        assert_eq!(numbers.label(Cell::Number(1.0)), Some(1.0));
        assert_eq!(numbers.label(Cell::Text(b"0.0")), Some(-1.0));
        assert_eq!(numbers.label(Cell::Flag(true)), Some(1.0));
        assert_eq!(numbers.label(Cell::Text(b"2")), None);
        let rest = named(None, "a");
        assert_eq!(rest.label(Cell::Text(b"a")), Some(1.0));
        assert_eq!(rest.label(Cell::Text(b"b")), Some(-1.0));
        let many = ClassNames::of(&Schema {
            names: ["cat", "7", "dog"].map(str::to_owned).to_vec(),
            ..Schema::default()
        });
        let many = many.expect("it has names");
        assert_eq!(many.label(Cell::Text(b"dog")), Some(2.0));
        assert_eq!(
            (many.label(Cell::Number(7.0)), many.label(Cell::Text(b"7.0"))),
            (Some(1.0), Some(1.0))
        );
        assert_eq!((many.label(Cell::Text(b"cow")), many.label_of_text(b"7.0")), (None, None));
        // A spelling counts for more than a number.
        let spelled = named(Some("1.0"), "1");
        assert_eq!(spelled.label(Cell::Text(b"1.0")), Some(-1.0));
        assert_eq!(spelled.label(Cell::Text(b"1")), Some(1.0));
    }
}
