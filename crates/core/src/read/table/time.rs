//! Dates and times of day in the proleptic Gregorian calendar.
//!
//! ```text
//! moment = date [("T" | " ") time [zone]]
//! date   = year "-" month "-" day             four, two and two digits
//! time   = hour ":" minute [":" second ["." digits]]
//! zone   = "Z" | sign hour [[":"] minute]
//! ```
//!
//! This is ISO 8601 as databases and pandas write it. A time with a zone is converted to UTC, which is how Arrow
//! arrays hold it. The algorithms from days to dates and back are those of Howard Hinnant (2013), "chrono-Compatible
//! Low-Level Date Algorithms".

use std::fmt;

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// A date, or a date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The microseconds since the beginning of 1970, in UTC.
    pub micros: i64,
    /// Whether there is no time of day.
    pub is_date: bool,
}

impl Moment {
    /// A date, from its days since 1970.
    pub fn of_days(days: i32) -> Self {
        Moment { micros: i64::from(days) * DAY, is_date: true }
    }

    /// A date and a time of day, from microseconds since 1970.
    pub fn of_micros(micros: i64) -> Self {
        Moment { micros, is_date: false }
    }

    /// Parse a whole text.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (date, rest) = (text.get(..10)?, &text[10..]);
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else { return None };
        let year = 100 * two(*y1, *y2)? + two(*y3, *y4)?;
        let days = days_of(year, two(*m1, *m2)?, two(*d1, *d2)?)?;
        if rest.is_empty() {
            return Some(Moment { micros: days * DAY, is_date: true });
        }
        let [b'T' | b' ', rest @ ..] = rest else { return None };
        let (time, rest) = time_of_day(rest)?;
        Some(Moment { micros: days * DAY + time - zone(rest)?, is_date: false })
    }

    /// The days since 1970, with the part of the day that has passed.
    pub fn days(self) -> f64 {
        self.micros as f64 / DAY as f64
    }

    /// The hour of the day, 0 to 23; `None` if there is no time of day.
    pub fn hour(self) -> Option<usize> {
        (!self.is_date).then(|| (self.micros.rem_euclid(DAY) / 3_600_000_000) as usize)
    }

    /// The day of the week, from Monday, 0, to Sunday, 6.
    pub fn weekday(self) -> usize {
        // The first day of 1970 was a Thursday.
        (self.micros.div_euclid(DAY) + 3).rem_euclid(7) as usize
    }

    /// The month, from January, 0, to December, 11.
    pub fn month(self) -> usize {
        date_of(self.micros.div_euclid(DAY)).1 as usize - 1
    }
}

impl fmt::Display for Moment {
    /// As it would be written in a CSV file.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.micros.div_euclid(DAY));
        write!(out, "{year:04}-{month:02}-{day:02}")?;
        if self.is_date {
            return Ok(());
        }
        let micros = self.micros.rem_euclid(DAY);
        let seconds = micros / 1_000_000;
        write!(out, " {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        match micros % 1_000_000 {
            0 => Ok(()),
            rest => write!(out, ".{rest:06}"),
        }
    }
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| i64::from(10 * (tens - b'0') + (ones - b'0')))
}

/// The microseconds since midnight, and what follows the time.
fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let [h1, h2, b':', m1, m2, rest @ ..] = text else { return None };
    let (hour, minute) = (two(*h1, *h2)?, two(*m1, *m2)?);
    let (seconds, micros, rest) = match rest {
        [b':', s1, s2, b'.', rest @ ..] => {
            let (micros, rest) = fraction(rest)?;
            (two(*s1, *s2)?, micros, rest)
        }
        [b':', s1, s2, rest @ ..] => (two(*s1, *s2)?, 0, rest),
        _ => (0, 0, rest),
    };
    let valid = hour < 24 && minute < 60 && seconds < 60;
    valid.then_some((((hour * 60 + minute) * 60 + seconds) * 1_000_000 + micros, rest))
}

/// The microseconds of the digits after a point; digits beyond the sixth are dropped.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digit = |k: usize| if k < count { i64::from(text[k] - b'0') } else { 0 };
    (count > 0).then(|| ((0..6).fold(0, |micros, k| 10 * micros + digit(k)), &text[count..]))
}

/// How far a zone is ahead of UTC, in microseconds. No zone is UTC.
fn zone(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [] | [b'Z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hour, minute) = match rest {
        [h1, h2] => (two(*h1, *h2)?, 0),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => (two(*h1, *h2)?, two(*m1, *m2)?),
        _ => return None,
    };
    (hour < 24 && minute < 60).then_some(sign * (hour * 60 + minute) * 60_000_000)
}

/// The days since 1970 of a date; `None` if there is no such date.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let shifted = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    (date_of(days) == (year, month, day)).then_some(days)
}

/// The year, month and day of a number of days since 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (month, day) = ((shifted + 2) % 12 + 1, day_of_year - (153 * shifted + 2) / 5 + 1);
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        Moment::parse(text.as_bytes()).map(|moment| moment.to_string())
    }

    #[test]
    fn moments_are_read_and_written() {
        for text in
            ["1970-01-01", "2026-11-17", "2000-02-29", "0001-01-01", "2011-12-30 23:59:59.000001"]
        {
            assert_eq!(written(text).as_deref(), Some(text));
        }
        for (text, expected) in [
            ("2026-11-17T08:05", "2026-11-17 08:05:00"),
            ("2026-11-17 08:05:09.5Z", "2026-11-17 08:05:09.500000"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31 23:30:00"),
            ("2026-01-01T00:30:00-0230", "2026-01-01 03:00:00"),
        ] {
            assert_eq!(written(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-30",
            "1900-02-29",
            "2026-00-10",
            "2026-01-00",
            "2026-1-1",
            "17/11/2026",
            "2026-11-17x",
            "2026-11-17 24:00",
            "2026-11-17 10:60",
            "2026-11-17 10:00:60",
            "2026-11-17 10",
            "2026-11-17 10:00 UTC",
            "2026-11-17 10:00:00.",
        ] {
            assert_eq!(written(text), None, "{text}");
        }
    }

    #[test]
    fn the_parts_of_a_moment() {
        let moment = Moment::parse(b"2026-11-17 23:14:00").unwrap();
        assert_eq!((moment.hour(), moment.weekday(), moment.month()), (Some(23), 1, 10));
        let date = Moment::of_days(-1);
        assert_eq!((date.hour(), date.weekday(), date.month(), date.days()), (None, 2, 11, -1.0));
        assert_eq!(Moment::of_micros(DAY + DAY / 4).days(), 1.25);
    }
}
