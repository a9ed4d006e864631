//! The two classes of a table's labels.

use super::cell::Cell;
use crate::spec::Classes;

/// The names of the classes, negative and positive.
#[derive(Clone, Debug)]
pub struct ClassNames([ClassName; 2]);

/// The name of a class; `None` is any other.
#[derive(Clone, Debug)]
struct ClassName {
    name: Option<String>,
    number: Option<f64>,
}

impl ClassNames {
    /// The classes of a schema.
    pub fn new(classes: &Classes) -> Self {
        ClassNames([classes.negative.clone(), Some(classes.positive.clone())].map(|name| {
            let number = name.as_ref().and_then(|name| Cell::Text(name.as_bytes()).number());
            ClassName { name, number }
        }))
    }

    /// The label of a cell: 1 or −1.
    pub fn label(&self, cell: Cell<'_>) -> Option<f32> {
        let text = cell.text();
        if let Some(label) = self.label_of_text(&text) {
            return Some(label);
        }
        let ClassNames([negative, positive]) = self;
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
        let ClassNames([negative, positive]) = self;
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
        // A spelling counts for more than a number.
        let spelled = named(Some("1.0"), "1");
        assert_eq!(spelled.label(Cell::Text(b"1.0")), Some(-1.0));
        assert_eq!(spelled.label(Cell::Text(b"1")), Some(1.0));
    }
}
