//! From the cells of a row to the features of an example.
//!
//! ```text
//! for every column of the schema, in its order:
//!     cell ─kind─▶ names and values ─hash─▶ slots and values
//! for every cross: the product of its columns' features
//! ```
//!
//! Cost: one hash of `column=value` a cell. The names of what a column can be (missing, hours, weekdays, months) are
//! hashed once, when the encoder is made. Nothing is allocated per row, except for typed cells of a category.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::cell::Cell;
use super::classes::ClassNames;
use super::faults::CellFault;
use super::missing::Spellings;
use super::prepared::{Hashed, Prepared};
use super::time::Moment;
use super::words::each_word;
use crate::error::{Error, Result};
use crate::example::{Chunk, Name, Names, push_fields};
use crate::loss::Labels;
use crate::spec::{Column, FeatureSpace, Kind, Schema};

/// The multiplier of Vowpal Wabbit's hash of a cross, a prime of Fowler, Noll and Vo.
const FNV_PRIME: u64 = 16_777_619;

/// What an example is beside its features.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    label: f32,
    importance: f32,
    base: f32,
}

/// Turns rows into examples.
#[derive(Clone, Debug)]
pub struct Encoder {
    schema: Arc<Schema>,
    pub(in crate::read) labels: Labels,
    /// Whether a row may have no label although labels are of a kind.
    may_lack_labels: bool,
    mask: u64,
    /// The names of every column.
    pub(in crate::read) columns: Vec<Prepared>,
    pub(in crate::read) classes: Option<ClassNames>,
    pub(in crate::read) missing: Spellings,
    /// The columns of every cross.
    crosses: Vec<Vec<usize>>,
    /// The features of the row; the hashes are not masked.
    features: Vec<(u64, f32)>,
    /// The names of the features one after another, and where each ends; empty unless names are recorded.
    names: Vec<u8>,
    name_ends: Vec<usize>,
    keeps_names: bool,
    /// The features of every column, as a range.
    spans: Vec<Range<usize>>,
    tag: Vec<u8>,
    /// The columns whose cells are written behind the tag.
    by: Vec<usize>,
}

impl Encoder {
    /// An encoder for a feature space with a schema.
    pub fn new(space: &FeatureSpace, schema: &Arc<Schema>) -> Result<Self> {
        let bits = space.bits()?;
        let place = |name: &String| schema.columns.iter().position(|column| column.name == *name);
        let columns_of = |cross: &Vec<String>| cross.iter().filter_map(place).collect();
        Ok(Encoder {
            schema: Arc::clone(schema),
            labels: space.labels,
            may_lack_labels: false,
            mask: (1 << bits) - 1,
            columns: schema.columns.iter().map(Prepared::new).collect(),
            classes: ClassNames::of(schema),
            missing: Spellings::new(&schema.missing),
            crosses: schema.crosses.iter().map(columns_of).collect(),
            features: Vec::new(),
            names: Vec::new(),
            name_ends: Vec::new(),
            keeps_names: false,
            spans: Vec::new(),
            tag: Vec::new(),
            by: Vec::new(),
        })
    }

    /// Let a cell of the label be missing.
    pub fn unlabelled(self, may_lack_labels: bool) -> Self {
        Encoder { may_lack_labels, ..self }
    }

    /// Write the cells of these columns behind the tag of every example; see `example/fields.rs`.
    pub fn by(mut self, columns: &[String]) -> Result<Self> {
        let known = &self.schema.columns;
        let place = |name: &String| {
            known.iter().position(|column| column.name == *name).ok_or_else(|| {
                let names: Vec<_> = known.iter().map(|column| column.name.as_str()).collect();
                let names = names.join(", ");
                Error::Spec(format!("by: the model has no column '{name}'; it has {names}"))
            })
        };
        self.by = columns.iter().map(place).collect::<Result<_>>()?;
        Ok(self)
    }

    /// Whether cells are written behind the tags.
    pub fn has_by(&self) -> bool {
        !self.by.is_empty()
    }

    /// The schema of the rows.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The bits of a hash that are a slot.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Append a row to the chunk. `cell` gives the cell of a column of the schema. After a fault the chunk is as it
    /// was before.
    pub fn encode<'a>(
        &mut self,
        cell: impl FnMut(usize) -> Cell<'a>,
        chunk: &mut Chunk,
    ) -> std::result::Result<(), CellFault> {
        self.keeps_names = false;
        let row = self.read(cell)?;
        self.finish(row, chunk);
        Ok(())
    }

    /// Like [`Encoder::encode`], and record the names of the features.
    pub fn encode_named<'a>(
        &mut self,
        cell: impl FnMut(usize) -> Cell<'a>,
        chunk: &mut Chunk,
        names: &mut Names,
    ) -> std::result::Result<(), CellFault> {
        self.keeps_names = true;
        let row = self.read(cell)?;
        let mut start = 0;
        for (&(hash, value), &end) in self.features.iter().zip(&self.name_ends) {
            if value != 0.0 || chunk.requirements().zeros {
                let feature = &self.names[start..end];
                names.note((hash & self.mask) as u32, Name::Word { namespace: b"", feature });
            }
            start = end;
        }
        names.keep();
        self.finish(row, chunk);
        Ok(())
    }

    fn finish(&mut self, row: Row, chunk: &mut Chunk) {
        let mask = self.mask;
        chunk.extend_with(
            self.features.iter().map(|&(hash, _)| (hash & mask) as u32),
            self.features.iter().map(|&(_, value)| value),
        );
        chunk.set_base(row.base);
        chunk.finish(row.label, row.importance, &self.tag);
    }

    /// Read all cells of a row into the encoder's own memory.
    fn read<'a>(
        &mut self,
        mut cell: impl FnMut(usize) -> Cell<'a>,
    ) -> std::result::Result<Row, CellFault> {
        self.features.clear();
        self.names.clear();
        self.name_ends.clear();
        self.spans.clear();
        self.tag.clear();
        let mut row = Row { label: f32::NAN, importance: 1.0, base: 0.0 };
        let schema = Arc::clone(&self.schema);
        for (k, column) in schema.columns.iter().enumerate() {
            let start = self.features.len();
            if column.kind != Kind::Ignore {
                self.read_cell(k, column, cell(k), &mut row)?;
            }
            self.spans.push(start..self.features.len());
        }
        self.cross_all()?;
        let values: Vec<_> = self.by.iter().map(|&k| self.sliced(cell(k))).collect();
        push_fields(&mut self.tag, values.iter().map(AsRef::as_ref));
        Ok(row)
    }

    /// The value that a cell is sliced by; empty if it is missing.
    fn sliced<'a>(&self, cell: Cell<'a>) -> Cow<'a, [u8]> {
        if cell.is_missing(&self.missing) { Cow::Borrowed(b"") } else { cell.text() }
    }

    fn read_cell(
        &mut self,
        k: usize,
        column: &Column,
        cell: Cell<'_>,
        row: &mut Row,
    ) -> std::result::Result<(), CellFault> {
        let is_missing = cell.is_missing(&self.missing);
        match column.kind {
            Kind::Label => row.label = self.label(k, column, cell, is_missing)?,
            Kind::Weight => row.importance = self.weight(k, column, cell)?,
            Kind::Base => row.base = base(k, column, cell)?,
            Kind::Tag => self.tag.extend_from_slice(&cell.text()),
            Kind::Ignore => {}
            _ if is_missing => self.push_prepared(k, |column| &column.missing, 1.0),
            Kind::Number => {
                let number = number(k, column, cell)?;
                self.push_prepared(k, |column| &column.number, number);
            }
            Kind::Category => self.push_named(k, &cell.text(), 1.0),
            Kind::Text => self.read_words(k, column, &cell.text()),
            Kind::Time => {
                let moment =
                    cell.moment().ok_or_else(|| CellFault::of_kind(k, column, cell, "a date"))?;
                self.read_time(k, moment);
            }
        }
        Ok(())
    }

    fn label(
        &self,
        k: usize,
        column: &Column,
        cell: Cell<'_>,
        is_missing: bool,
    ) -> std::result::Result<f32, CellFault> {
        let may_be_absent = self.labels == Labels::Any || (self.may_lack_labels && is_missing);
        let label = match &self.classes {
            _ if is_missing => None,
            Some(classes) => classes.label(cell),
            None => cell
                .number()
                .map(|number| number as f32)
                .filter(|&number| number.is_finite() && self.labels.holds(number)),
        };
        match label {
            Some(label) => Ok(label),
            None if may_be_absent => Ok(f32::NAN),
            None => Err(CellFault::of_label(k, column, &self.schema, self.labels, cell)),
        }
    }

    fn weight(
        &self,
        k: usize,
        column: &Column,
        cell: Cell<'_>,
    ) -> std::result::Result<f32, CellFault> {
        if cell == Cell::Missing && self.labels == Labels::Any {
            // Rows that are only predicted need no weight.
            return Ok(1.0);
        }
        let weight = cell.number().map(|number| number as f32);
        let weight = weight.filter(|weight| weight.is_finite() && *weight >= 0.0);
        let expected = "a finite number from 0 up, the weight of the row,";
        weight.ok_or_else(|| CellFault::of_kind(k, column, cell, expected))
    }

    fn read_words(&mut self, k: usize, column: &Column, text: &[u8]) {
        let (mut words, mut ends) = (Vec::new(), vec![0]);
        each_word(text, |word| {
            if !words.is_empty() {
                words.push(b'_');
            }
            words.extend_from_slice(word);
            ends.push(words.len());
        });
        for last in 1..ends.len() {
            for run in 1..=(column.words as usize).min(last) {
                let start = ends[last - run];
                // The words before this one end with an underscore.
                let start = if start == 0 { 0 } else { start + 1 };
                self.push_named(k, &words[start..ends[last]], 1.0);
            }
        }
    }

    fn read_time(&mut self, k: usize, moment: Moment) {
        if let Some(hour) = moment.hour() {
            self.push_prepared(k, |column| &column.hours[hour], 1.0);
        }
        self.push_prepared(k, |column| &column.weekdays[moment.weekday()], 1.0);
        self.push_prepared(k, |column| &column.months[moment.month()], 1.0);
        self.push_prepared(k, |column| &column.number, moment.days() as f32);
    }

    /// Append a feature whose name was hashed before.
    #[inline]
    fn push_prepared(&mut self, k: usize, of: impl Fn(&Prepared) -> &Hashed, value: f32) {
        let Hashed { name, hash } = of(&self.columns[k]);
        self.features.push((*hash, value));
        if self.keeps_names {
            self.names.extend_from_slice(name.as_bytes());
            self.name_ends.push(self.names.len());
        }
    }

    /// Append the feature `column=word`.
    #[inline]
    fn push_named(&mut self, k: usize, word: &[u8], value: f32) {
        self.features.push((self.columns[k].prefix.feature(word), value));
        if self.keeps_names {
            self.names.extend_from_slice(self.schema.columns[k].name.as_bytes());
            self.names.push(b'=');
            self.names.extend_from_slice(word);
            self.name_ends.push(self.names.len());
        }
    }

    fn cross_all(&mut self) -> std::result::Result<(), CellFault> {
        let crosses = std::mem::take(&mut self.crosses);
        let mut outcome = Ok(());
        for (number, cross) in crosses.iter().enumerate() {
            let start = self.features.len();
            let Some((&first, rest)) = cross.split_first() else { continue };
            for k in self.spans[first].clone() {
                let (hash, value) = self.features[k];
                self.cross(rest, hash, value, &[k]);
            }
            if self.features[start..].iter().any(|(_, value)| !value.is_finite()) {
                outcome = Err(CellFault::of_cross(first, &self.schema.crosses[number]));
            }
        }
        self.crosses = crosses;
        outcome
    }

    /// Append the products of a feature, which is itself one of the features `path`, with those of more columns.
    fn cross(&mut self, columns: &[usize], hash: u64, value: f32, path: &[usize]) {
        let Some((&first, rest)) = columns.split_first() else {
            self.features.push((hash, value));
            self.note_cross(path);
            return;
        };
        for k in self.spans[first].clone() {
            let (other, factor) = self.features[k];
            let crossed = hash.wrapping_mul(FNV_PRIME) ^ other;
            self.cross(rest, crossed, value * factor, &[path, &[k]].concat());
        }
    }

    fn note_cross(&mut self, path: &[usize]) {
        if !self.keeps_names {
            return;
        }
        for (place, &k) in path.iter().enumerate() {
            let start = if k == 0 { 0 } else { self.name_ends[k - 1] };
            if place > 0 {
                self.names.push(b'*');
            }
            self.names.extend_from_within(start..self.name_ends[k]);
        }
        self.name_ends.push(self.names.len());
    }
}

fn base(k: usize, column: &Column, cell: Cell<'_>) -> std::result::Result<f32, CellFault> {
    let base = cell.number().map(|number| number as f32).filter(|base| base.is_finite());
    let expected = "a finite number, the score that is added to the margin,";
    base.ok_or_else(|| CellFault::of_kind(k, column, cell, expected))
}

fn number(k: usize, column: &Column, cell: Cell<'_>) -> std::result::Result<f32, CellFault> {
    match cell.number() {
        Some(number) if (number as f32).is_finite() => Ok(number as f32),
        Some(_) => Err(CellFault::of_kind(k, column, cell, "a number within ±3.4e38")),
        None => Err(CellFault::of_kind(k, column, cell, "a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::hash;
    use crate::spec::Classes;

    fn column(name: &str, kind: Kind) -> Column {
        Column { name: name.to_owned(), kind, words: if kind == Kind::Text { 2 } else { 1 } }
    }

    fn encoder(labels: Labels, columns: &[(&str, Kind)], crosses: &[&[&str]]) -> Encoder {
        let classes = Classes { negative: Some("no".to_owned()), positive: "yes".to_owned() };
        let schema = Arc::new(Schema {
            columns: columns.iter().map(|&(name, kind)| column(name, kind)).collect(),
            missing: vec![String::new(), "?".to_owned()],
            classes: (labels == Labels::Binary).then_some(classes),
            names: Vec::new(),
            crosses: crosses
                .iter()
                .map(|cross| cross.iter().map(|&n| n.to_owned()).collect())
                .collect(),
        });
        let space =
            FeatureSpace { schema: Some(Arc::clone(&schema)), ..FeatureSpace::text(20, labels) };
        Encoder::new(&space, &schema).unwrap()
    }

    /// The label, importance and tag of a row, and the names and values of its features.
    fn encoded(encoder: &mut Encoder, row: &[Cell<'_>]) -> (f32, f32, Vec<(String, f32)>) {
        let (mut chunk, mut names) = (Chunk::new(None), Names::default());
        encoder.encode_named(|k| row[k], &mut chunk, &mut names).unwrap();
        let mut plain = Chunk::new(None);
        encoder.encode(|k| row[k], &mut plain).unwrap();
        // As text, since a label may be NaN.
        assert_eq!(format!("{plain:?}"), format!("{chunk:?}"));
        let example = chunk.example(0);
        let features = example.slots.iter().zip(example.values);
        let named = |(&slot, &value): (&u32, &f32)| {
            let name = names.get(slot).unwrap();
            assert_eq!(hash::slot(name, 20), slot, "a name is hashed as it is told");
            (String::from_utf8(name.to_vec()).unwrap(), value)
        };
        (example.label, example.importance, features.map(named).collect())
    }

    fn told(encoder: &mut Encoder, row: &[Cell<'_>]) -> String {
        let mut chunk = Chunk::new(None);
        let fault = encoder.encode(|k| row[k], &mut chunk).unwrap_err();
        assert!(chunk.is_empty());
        format!("expected {}, found {}", fault.expected, fault.found)
    }

    #[test]
    fn every_kind_has_its_features() {
        let mut encoder = encoder(
            Labels::Binary,
            &[
                ("age", Kind::Number),
                ("city", Kind::Category),
                ("body", Kind::Text),
                ("at", Kind::Time),
                ("id", Kind::Ignore),
                ("w", Kind::Weight),
                ("y", Kind::Label),
            ],
            &[],
        );
        let text = |text: &'static str| Cell::Text(text.as_bytes());
        let row = [
            text(" 37"),
            text("New York "),
            text("To be, to BE"),
            text("1970-01-02 06:00"),
            text("x"),
            text("2.5"),
            text("yes"),
        ];
        let (label, importance, features) = encoded(&mut encoder, &row);
        assert_eq!((label, importance), (1.0, 2.5));
        let expected = [
            ("age", 37.0),
            ("city=New York", 1.0),
            ("body=to", 2.0),
            ("body=be", 2.0),
            ("body=to_be", 2.0),
            ("body=be_to", 1.0),
            ("at.hour=6", 1.0),
            ("at.weekday=fri", 1.0),
            ("at.month=1", 1.0),
            ("at", 1.25),
        ];
        assert_eq!(features, expected.map(|(name, value)| (name.to_owned(), value)));
        let missing = [Cell::Missing; 4].into_iter().chain([text("x"), text("1"), text("no")]);
        let (label, _, features) = encoded(&mut encoder, &missing.collect::<Vec<_>>());
        let names: Vec<&str> = features.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(label, -1.0);
        assert_eq!(names, ["age=missing", "city=missing", "body=missing", "at=missing"]);
    }

    #[test]
    fn typed_cells_are_as_good_as_text() {
        let columns = [("n", Kind::Number), ("c", Kind::Category), ("t", Kind::Time)];
        let mut encoder = encoder(Labels::Any, &columns, &[]);
        let moment = Moment::parse(b"2026-11-17 23:14:00").unwrap();
        let typed = [Cell::Number(0.1), Cell::Whole(7), Cell::Time(moment)];
        let text = [Cell::Text(b"0.1"), Cell::Text(b"7"), Cell::Text(b"2026-11-17T23:14:00Z")];
        let (_, _, one) = encoded(&mut encoder, &typed);
        let (_, _, other) = encoded(&mut encoder, &text);
        assert_eq!(one, other);
    }

    #[test]
    fn crosses_are_hashed_as_in_vowpal_wabbit() {
        let columns = [("a", Kind::Category), ("b", Kind::Category), ("n", Kind::Number)];
        let mut encoder = encoder(Labels::Any, &columns, &[&["a", "b"], &["a", "b", "n"]]);
        let mut chunk = Chunk::new(None);
        let row = [Cell::Text(b"x"), Cell::Text(b"y"), Cell::Number(3.0)];
        encoder.encode(|k| row[k], &mut chunk).unwrap();
        let [a, b, n] = ["a=x", "b=y", "n"].map(|name| hash::feature(name.as_bytes(), 0));
        let pair = a.wrapping_mul(FNV_PRIME) ^ b;
        let triple = pair.wrapping_mul(FNV_PRIME) ^ n;
        let example = chunk.example(0);
        let slots = [a, b, n, pair, triple].map(|hash| (hash & 0xf_ffff) as u32);
        assert_eq!((example.slots, example.values), (&slots[..], &[1.0, 1.0, 3.0, 1.0, 3.0][..]));
    }

    #[test]
    fn a_product_that_is_too_large_is_refused() {
        let columns = [("a", Kind::Number), ("b", Kind::Number)];
        let mut encoder = encoder(Labels::Any, &columns, &[&["a", "b"]]);
        let row = [Cell::Text(b"1e30"), Cell::Text(b"1e30")];
        assert_eq!(
            told(&mut encoder, &row),
            "expected a product of the columns 'a', 'b' within ±3.4e38; divide their numbers, or cross fewer \
             columns, found a larger one"
        );
    }

    #[test]
    fn a_cell_that_does_not_fit_is_named() {
        let columns =
            [("age", Kind::Number), ("at", Kind::Time), ("w", Kind::Weight), ("y", Kind::Label)];
        let mut encoder = encoder(Labels::Binary, &columns, &[]);
        let good = [b"1".as_slice(), b"2026-11-17", b"1", b"yes"];
        for (place, cell, expected) in [
            (
                0,
                "old",
                "a number in column 'age'; train with --category age if its cells are not all numbers, found 'old'",
            ),
            (
                0,
                "1e39",
                "a number within ±3.4e38 in column 'age'; train with --category age if its cells are not all numbers, found '1e39'",
            ),
            (
                1,
                "noon",
                "a date in column 'at'; train with --category at if its cells are not all times, found 'noon'",
            ),
            (
                2,
                "-1",
                "a finite number from 0 up, the weight of the row, in column 'w', found '-1'",
            ),
            (3, "maybe", "the label 'no' or 'yes' in column 'y', found 'maybe'"),
            (3, "", "the label 'no' or 'yes' in column 'y', found ''"),
        ] {
            let mut row = good.map(Cell::Text);
            row[place] = Cell::Text(cell.as_bytes());
            assert_eq!(told(&mut encoder, &row), format!("expected {expected}"));
        }
    }
}
