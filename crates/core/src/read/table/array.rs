//! A column of a table as an array in memory that others own, such as an Arrow array.
//!
//! ```text
//! array = { present: a bit a row, or none if all are; values: a slice of one type }
//! ```
//!
//! The layouts are those of Arrow, so that its arrays are borrowed and not copied. What a cell is depends on the type
//! of its array only, so the branch on the type is the same for all rows of a column and is predicted.
//!
//! Cost: nothing is copied, with one exception. float16, float32, decimals and large unsigned integers have no cell of
//! their own. Where their text matters, [`Array::with_text`] writes it once for a piece of a column.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

use super::cell::Cell;
use super::time::Moment;

/// The cells of a column, for the rows of a piece.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    /// Which cells are there; `None` if all are.
    pub present: Option<Bits<'a>>,
    /// The cells. Those that are not there may be anything.
    pub values: Values<'a>,
}

/// Bits, the lowest of a byte first.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The number of bits before the first.
    pub offset: usize,
}

/// The values of an array.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Values<'a> {
    /// No cell is there.
    Missing,
    /// All cells are this number.
    Constant(i64),
    Flags(Bits<'a>),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Float32(Cow<'a, [f32]>),
    Float64(&'a [f64]),
    /// Numbers that are divided by 10^scale.
    Decimal {
        digits: Cow<'a, [i128]>,
        scale: i8,
    },
    /// Text, with one end more than there are rows: the first is the start of the first.
    Text {
        ends: &'a [i32],
        bytes: &'a [u8],
    },
    /// Text whose ends are 64-bit integers.
    LargeText {
        ends: &'a [i64],
        bytes: &'a [u8],
    },
    /// Text as Arrow's views: 12 bytes in place, or a place in one of the buffers.
    TextViews {
        views: &'a [u128],
        buffers: Vec<&'a [u8]>,
    },
    /// Text that was written here.
    Written {
        cells: Vec<Option<Range<usize>>>,
        bytes: Vec<u8>,
    },
    /// Days since 1970.
    Days(&'a [i32]),
    /// Dates as milliseconds since 1970.
    DateMillis(&'a [i64]),
    /// Times since 1970 in UTC.
    Times {
        ticks: &'a [i64],
        unit: TimeUnit,
    },
    /// Integers that are places in other values.
    Dictionary {
        keys: Box<Array<'a>>,
        values: Box<Array<'a>>,
    },
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TimeUnit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

/// What stands for a time that is hundreds of thousands of years away; it is no date, so it is refused.
const FAR_AWAY: Cell<'static> = Cell::Text(b"a time far away");
const DAY: i64 = 86_400_000_000;

impl Bits<'_> {
    /// Bit number `k`.
    #[inline]
    pub fn get(&self, k: usize) -> bool {
        let at = self.offset + k;
        self.bytes[at / 8] >> (at % 8) & 1 == 1
    }
}

impl Array<'_> {
    /// An array without a cell.
    pub fn missing() -> Self {
        Array { present: None, values: Values::Missing }
    }

    /// The cell of a row.
    #[inline]
    pub fn cell(&self, row: usize) -> Cell<'_> {
        if self.present.is_some_and(|present| !present.get(row)) {
            return Cell::Missing;
        }
        match &self.values {
            Values::Missing => Cell::Missing,
            Values::Constant(number) => Cell::Whole(*number),
            Values::Flags(flags) => Cell::Flag(flags.get(row)),
            Values::Int8(numbers) => Cell::Whole(numbers[row].into()),
            Values::Int16(numbers) => Cell::Whole(numbers[row].into()),
            Values::Int32(numbers) => Cell::Whole(numbers[row].into()),
            Values::Int64(numbers) => Cell::Whole(numbers[row]),
            Values::UInt8(numbers) => Cell::Whole(numbers[row].into()),
            Values::UInt16(numbers) => Cell::Whole(numbers[row].into()),
            Values::UInt32(numbers) => Cell::Whole(numbers[row].into()),
            Values::UInt64(numbers) => whole(numbers[row]),
            Values::Float32(numbers) => Cell::Number(numbers[row].into()),
            Values::Float64(numbers) => Cell::Number(numbers[row]),
            Values::Decimal { digits, scale } => Cell::Number(decimal(digits[row], *scale)),
            Values::Text { ends, bytes } => {
                Cell::Text(&bytes[ends[row] as usize..ends[row + 1] as usize])
            }
            Values::LargeText { ends, bytes } => {
                Cell::Text(&bytes[ends[row] as usize..ends[row + 1] as usize])
            }
            Values::TextViews { views, buffers } => Cell::Text(view(&views[row], buffers)),
            Values::Written { cells, bytes } => match &cells[row] {
                Some(place) => Cell::Text(&bytes[place.clone()]),
                None => Cell::Missing,
            },
            Values::Days(days) => date(i64::from(days[row])),
            Values::DateMillis(millis) => date(millis[row].div_euclid(86_400_000)),
            Values::Times { ticks, unit } => time(ticks[row], *unit),
            Values::Dictionary { keys, values } => match keys.cell(row) {
                Cell::Whole(key) => values.cell(key as usize),
                _ => Cell::Missing,
            },
        }
    }

    /// Whether the cells are decimals, which are numbers only as text.
    pub fn is_decimal(&self) -> bool {
        match &self.values {
            Values::Decimal { .. } => true,
            Values::Dictionary { values, .. } => values.is_decimal(),
            _ => false,
        }
    }

    /// This array of `rows` cells such that each has the text that a CSV file has.
    pub fn with_text(self, rows: usize) -> Self {
        let written = match &self.values {
            Values::Float32(numbers) => self.write(rows, |row, text| {
                let number = numbers[row];
                (!number.is_nan()).then(|| write!(text, "{number:?}"))
            }),
            Values::UInt64(numbers) => {
                self.write(rows, |row, text| Some(write!(text, "{}", numbers[row])))
            }
            Values::Decimal { digits, scale } => {
                self.write(rows, |row, text| Some(write_decimal(text, digits[row], *scale)))
            }
            Values::Dictionary { values, .. } => {
                return match values.values {
                    Values::Float32(_) | Values::UInt64(_) | Values::Decimal { .. } => {
                        self.with_text_of_values()
                    }
                    _ => self,
                };
            }
            _ => return self,
        };
        Array { present: None, values: written }
    }

    fn with_text_of_values(self) -> Self {
        let Values::Dictionary { keys, values } = self.values else { return self };
        let count = values.len();
        let values = Box::new(values.with_text(count));
        Array { present: self.present, values: Values::Dictionary { keys, values } }
    }

    /// The number of values of an array whose text is written.
    fn len(&self) -> usize {
        match &self.values {
            Values::Float32(numbers) => numbers.len(),
            Values::UInt64(numbers) => numbers.len(),
            Values::Decimal { digits, .. } => digits.len(),
            _ => 0,
        }
    }

    /// Write the text of every cell that is there; `write` gives nothing for one that is missing all the same.
    fn write(
        &self,
        rows: usize,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Option<std::io::Result<()>>,
    ) -> Values<'static> {
        let (mut cells, mut bytes) = (Vec::with_capacity(rows), Vec::new());
        for row in 0..rows {
            let start = bytes.len();
            let is_present = self.present.is_none_or(|present| present.get(row));
            let written = if is_present { write(row, &mut bytes) } else { None };
            cells.push(written.map(|_| start..bytes.len()));
        }
        Values::Written { cells, bytes }
    }
}

fn whole(number: u64) -> Cell<'static> {
    i64::try_from(number).map_or(Cell::Number(number as f64), Cell::Whole)
}

/// The number of a decimal, as the text of it would be parsed.
fn decimal(digits: i128, scale: i8) -> f64 {
    let mut text = Vec::new();
    let _ = write_decimal(&mut text, digits, scale);
    Cell::Text(&text).number().unwrap_or(f64::NAN)
}

fn write_decimal(text: &mut Vec<u8>, digits: i128, scale: i8) -> std::io::Result<()> {
    let sign = if digits < 0 { "-" } else { "" };
    let all = digits.unsigned_abs().to_string();
    if scale <= 0 {
        let zeros = if digits == 0 { 0 } else { -i32::from(scale) as usize };
        return write!(text, "{sign}{all}{}", "0".repeat(zeros));
    }
    let all = format!("{all:0>width$}", width = scale as usize + 1);
    let (whole, part) = all.split_at(all.len() - scale as usize);
    write!(text, "{sign}{whole}.{part}")
}

/// The text of one of Arrow's views: its length, then itself, or its first bytes, its buffer and its place there.
fn view<'a>(view: &'a u128, buffers: &[&'a [u8]]) -> &'a [u8] {
    let bytes: &[u8; 16] = bytemuck::cast_ref(view);
    let word = |at: usize| {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u32::from_le_bytes(four) as usize
    };
    match word(0) {
        length @ ..=12 => &bytes[4..4 + length],
        length => &buffers[word(8)][word(12)..word(12) + length],
    }
}

fn date(days: i64) -> Cell<'static> {
    match days.checked_mul(DAY) {
        Some(micros) => Cell::Time(Moment { micros, is_date: true }),
        None => FAR_AWAY,
    }
}

fn time(ticks: i64, unit: TimeUnit) -> Cell<'static> {
    let micros = match unit {
        TimeUnit::Second => ticks.checked_mul(1_000_000),
        TimeUnit::Millisecond => ticks.checked_mul(1000),
        TimeUnit::Microsecond => Some(ticks),
        // As in text: digits beyond the sixth are dropped.
        TimeUnit::Nanosecond => Some(ticks.div_euclid(1000)),
    };
    micros.map_or(FAR_AWAY, |micros| Cell::Time(Moment::of_micros(micros)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(array: Array<'_>, rows: usize) -> Vec<String> {
        let array = array.with_text(rows);
        let text = |row| String::from_utf8(array.cell(row).text().into_owned()).unwrap();
        (0..rows).map(text).collect()
    }

    fn all(values: Values<'_>) -> Array<'_> {
        Array { present: None, values }
    }

    #[test]
    fn cells_have_the_text_of_a_csv_file() {
        let numbers = Cow::Owned(vec![0.1, 3.0, f32::NAN]);
        assert_eq!(texts(all(Values::Float32(numbers)), 3), ["0.1", "3.0", ""]);
        let numbers = [0, u64::MAX];
        assert_eq!(texts(all(Values::UInt64(&numbers)), 2), ["0", "18446744073709551615"]);
        let decimals = |scale| Values::Decimal { digits: Cow::Owned(vec![-5, 1234, 0]), scale };
        assert_eq!(texts(all(decimals(2)), 3), ["-0.05", "12.34", "0.00"]);
        assert_eq!(texts(all(decimals(-2)), 3), ["-500", "123400", "0"]);
        let (ends, bytes) = ([1, 3, 3], b"xab");
        assert_eq!(texts(all(Values::Text { ends: &ends, bytes }), 2), ["ab", ""]);
    }

    #[test]
    fn a_decimal_is_the_number_that_its_text_is() {
        let array = all(Values::Decimal { digits: Cow::Owned(vec![3, 12_345]), scale: 1 });
        assert_eq!((array.cell(0), array.cell(1)), (Cell::Number(0.3), Cell::Number(1234.5)));
    }

    #[test]
    fn absent_cells_are_missing_wherever_the_bits_begin() {
        let present = Some(Bits { bytes: &[0b0010_1000], offset: 3 });
        let array = Array { present, values: Values::Int8(&[1, 2, 3]) };
        let cells = [0, 1, 2].map(|row| array.cell(row));
        assert_eq!(cells, [Cell::Whole(1), Cell::Missing, Cell::Whole(3)]);
        let keys = Box::new(array);
        let flags = Values::Flags(Bits { bytes: &[0b1000], offset: 0 });
        let array = all(Values::Dictionary { keys, values: Box::new(all(flags)) });
        let cells = [0, 1, 2].map(|row| array.cell(row));
        assert_eq!(cells, [Cell::Flag(false), Cell::Missing, Cell::Flag(true)]);
    }

    #[test]
    fn views_are_in_place_or_in_a_buffer() {
        let mut short = [0; 16];
        short[0] = 3;
        short[4..7].copy_from_slice(b"abc");
        let mut long = [0; 16];
        (long[0], long[8], long[12]) = (13, 1, 2);
        let views = [u128::from_le_bytes(short), u128::from_le_bytes(long)];
        let buffers = vec![&b""[..], b"..thirteen byte."];
        let array = all(Values::TextViews { views: &views, buffers });
        assert_eq!(array.cell(0), Cell::Text(b"abc"));
        assert_eq!(array.cell(1), Cell::Text(b"thirteen byte"));
    }

    #[test]
    fn times_of_all_units_are_microseconds() {
        for (unit, ticks) in [
            (TimeUnit::Second, 7),
            (TimeUnit::Millisecond, 7_000),
            (TimeUnit::Microsecond, 7_000_000),
            (TimeUnit::Nanosecond, 7_000_000_999),
        ] {
            assert_eq!(time(ticks, unit), Cell::Time(Moment::of_micros(7_000_000)));
        }
        assert_eq!(time(i64::MAX, TimeUnit::Second), FAR_AWAY);
        assert_eq!(date(i64::from(i32::MAX)), FAR_AWAY);
        assert_eq!(date(-1), Cell::Time(Moment::of_days(-1)));
    }
}
