//! The names of a column's features, hashed once when the encoder is made.

use crate::example::hash::{self, ColumnPrefix};
use crate::spec::{Column, Kind};

/// The days of the week as they are in the names of features.
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The hashed names of a column.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The name `column` itself.
    pub number: Hashed,
    /// The name of a missing cell.
    pub missing: Hashed,
    /// The start `column=` of the names of categories and words.
    pub prefix: ColumnPrefix,
    /// For times: the hours.
    pub hours: Vec<Hashed>,
    /// For times: the weekdays.
    pub weekdays: Vec<Hashed>,
    /// For times: the months.
    pub months: Vec<Hashed>,
}

/// A name and its hash.
#[derive(Clone, Debug)]
pub struct Hashed {
    /// The name.
    pub name: String,
    /// Its hash, not masked.
    pub hash: u64,
}

impl Prepared {
    /// The names of a column.
    pub fn new(column: &Column) -> Self {
        let name = &column.name;
        let all = |part: &str, values: Vec<String>| {
            let is_time = column.kind == Kind::Time;
            let values = values.into_iter().filter(|_| is_time);
            values.map(|value| Hashed::new(format!("{name}.{part}={value}"))).collect()
        };
        Prepared {
            number: Hashed::new(name.clone()),
            missing: Hashed::new(format!("{name}=missing")),
            prefix: ColumnPrefix::new(name),
            hours: all("hour", (0..24).map(|hour| hour.to_string()).collect()),
            weekdays: all("weekday", WEEKDAYS.map(str::to_owned).to_vec()),
            months: all("month", (1..13).map(|month| month.to_string()).collect()),
        }
    }
}

impl Hashed {
    fn new(name: String) -> Self {
        let hash = hash::feature(name.as_bytes(), 0);
        Hashed { name, hash }
    }
}
