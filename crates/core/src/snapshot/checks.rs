//! Checks of the numbers of a model file that their types do not express: sums that cannot be negative,
//! counters that a run can reach. A file with the right checksum may still be that of another program.

use serde_json::Value;

use super::Header;
use super::refusal::{Reading, Refusal, damaged, wrong};
use crate::error::Result;
use crate::example::{LabelStatistics, Moments};
use crate::learn::slim::SlimModel;
use crate::learn::tally::Tally;
use crate::rule::{Parameters, Rule, WithRule};

/// The most rounds, features or lines of a run: up to here a float64 counts without gaps.
const MOST: u64 = 1 << 53;

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    Finite,
    Float32,
    Float32FromZero,
    NotNegative,
    FromOne,
    FromZeroToOne,
    ZeroOrOne,
}

impl Expected {
    /// What the field of this name may be, in the slots or in the shared state.
    fn of(field: &str) -> Option<Expected> {
        Some(match field {
            "losses" | "energies" | "standardised_loss" | "stake" | "largest" | "examples"
            | "squares" | "size" | "granted" => Expected::NotNegative,
            "shares" => Expected::FromZeroToOne,
            "at_rate" => Expected::NotNegative,
            "codes" | "weights" | "covariance" | "weight" | "z" | "reward" | "gradient_sum"
            | "played" | "entry" | "surplus" => Expected::Finite,
            "energy" | "n" | "precision" | "rates" | "widths" | "inverse" | "climb" | "loss"
            | "penalty" | "sharing" | "clipping" => Expected::NotNegative,
            "rate" => Expected::Float32,
            "tighten" => Expected::Float32FromZero,
            "heaviest" => Expected::FromOne,
            "seen" | "counted" => Expected::ZeroOrOne,
            _ => return None,
        })
    }

    fn holds(self, number: f64) -> bool {
        let least = match self {
            Expected::Float32 => return (number as f32).is_finite(),
            Expected::Float32FromZero => return number >= 0.0 && (number as f32).is_finite(),
            Expected::ZeroOrOne => return number == 0.0 || number == 1.0,
            Expected::FromZeroToOne => return (0.0..=1.0).contains(&number),
            Expected::Finite => f64::MIN,
            Expected::NotNegative => 0.0,
            Expected::FromOne => 1.0,
        };
        number >= least && number.is_finite()
    }

    fn text(self) -> &'static str {
        match self {
            Expected::Finite => "a finite number",
            Expected::Float32 => "a finite number that fits a float32",
            Expected::Float32FromZero => "a number from 0 up that fits a float32",
            Expected::NotNegative => "a finite number from 0 up",
            Expected::FromOne => "a finite number from 1 up",
            Expected::FromZeroToOne => "a number from 0 to 1",
            Expected::ZeroOrOne => "0 or 1",
        }
    }
}

/// Check the entries of a tensor with one number, or one for each lane, for these slots.
pub(super) fn check_field<T: Copy + Into<f64>>(
    name: &str,
    slots: &[u32],
    numbers: &[T],
) -> Reading<()> {
    let expected = Expected::of(name).unwrap_or(Expected::Finite);
    match numbers.iter().position(|&number| !expected.holds(number.into())) {
        None => Ok(()),
        Some(k) => {
            let slot = slots[k * slots.len() / numbers.len()];
            Err(wrong(&format!("{name} of slot {slot}"), numbers[k].into(), expected.text()))
        }
    }
}

/// Check the statistics of the values of these slots, except those that only a scale can check.
pub(super) fn check_moments(slots: &[u32], moments: &[Moments], tally: &Tally) -> Reading<()> {
    let mut total = 0.0;
    for (slot, moments) in slots.iter().zip(moments) {
        let Moments { count, mean, squares } = *moments;
        for (name, number, expected) in [
            ("count", count, Expected::NotNegative),
            ("mean", mean, Expected::Finite),
            ("squares", squares, Expected::NotNegative),
        ] {
            if !expected.holds(number) {
                return Err(wrong(&format!("{name} of slot {slot}"), number, expected.text()));
            }
            if count == 0.0 && number != 0.0 {
                return Err(wrong(&format!("{name} of slot {slot}"), number, "0 of no values"));
            }
        }
        total += count;
    }
    // Twice, since some features count one value more than they had.
    if total > 2.0 * tally.features as f64 {
        return Err(wrong("sum of count", total, "at most twice 'tally.features'"));
    }
    Ok(())
}

/// Check all numbers of the metadata.
pub(super) fn check_header(header: &Header) -> Reading<()> {
    check_counters(header)?;
    check_sums(header)?;
    check_labels(header)?;
    let kind = header.spec.rule.with(AskKind)?;
    if !header.slim {
        return check_shared(&header.shared, kind, header.spec.classes.is_some());
    }
    if header.shared != SlimModel::no_shared() || header.boxes {
        return Err(damaged("a slim file has no shared state and no boxes, and this one has"));
    }
    Ok(())
}

fn check_counters(header: &Header) -> Reading<()> {
    let Header { tally, touched, skipped, spec, .. } = header;
    let counters = [("tally.rounds", tally.rounds), ("tally.features", tally.features)];
    for (field, count) in [counters[0], counters[1], ("skipped", *skipped)] {
        if count > MOST {
            return Err(wrong(field, count, "a number of at most 2^53"));
        }
    }
    let slots = spec.space.slots() as u64;
    if header.collisions > slots {
        return Err(wrong("collisions", header.collisions, "a number of slots"));
    }
    // Every stored slot was met, and every round met the intercept. A slim file may store slots never met.
    let met = if header.slim { 0 } else { *touched };
    let least = met.max(if spec.space.intercept { tally.rounds } else { 0 });
    if tally.features < least {
        return Err(wrong("tally.features", tally.features, &format!("a number from {least} up")));
    }
    Ok(())
}

fn check_sums(header: &Header) -> Reading<()> {
    let tally = &header.tally;
    let sums = [
        ("tally.importance", tally.importance),
        ("tally.loss", tally.loss),
        ("tally.mistakes", tally.mistakes),
        ("tally.energy", tally.energy),
        ("tally.penalty", tally.penalty),
        ("tally.standardised_loss", tally.standardised_loss),
    ];
    for (field, sum) in sums {
        if !Expected::NotNegative.holds(sum) {
            return Err(wrong(field, sum, Expected::NotNegative.text()));
        }
        if tally.rounds == 0 && sum != 0.0 {
            return Err(wrong(field, sum, "0 before the first round"));
        }
    }
    if tally.mistakes > tally.importance {
        return Err(wrong("tally.mistakes", tally.mistakes, "at most 'tally.importance'"));
    }
    // Twice, since the sum is rounded.
    if tally.importance > 2.0 * tally.rounds as f64 * f64::from(f32::MAX) {
        return Err(wrong("tally.importance", tally.importance, "a sum of that many float32"));
    }
    Ok(())
}

/// Check the statistics of the labels, which are there exactly if labels are standardised.
fn check_labels(header: &Header) -> Reading<()> {
    let Some(labels) = header.labels else {
        let sum = header.tally.standardised_loss;
        return match header.spec.space.standardises_labels() {
            true => Err(damaged("it has no 'labels', the statistics of the labels")),
            false if sum != 0.0 => Err(wrong("tally.standardised_loss", sum, "0 for this spec")),
            false => Ok(()),
        };
    };
    if !header.spec.space.standardises_labels() {
        return Err(damaged("'labels' is no part of this model"));
    }
    let LabelStatistics { importance, mean, squares, range } = labels;
    for (field, number, expected) in [
        ("labels.importance", importance, Expected::NotNegative),
        ("labels.mean", mean, Expected::Finite),
        ("labels.squares", squares, Expected::NotNegative),
    ] {
        if !expected.holds(number) {
            return Err(wrong(field, number, expected.text()));
        }
        if range.is_none() && number != 0.0 {
            return Err(wrong(field, number, "0 before the first label"));
        }
    }
    match range {
        Some(_) if importance == 0.0 => {
            Err(wrong("labels.importance", importance, "a number above 0 of so many labels"))
        }
        Some([low, high]) if !(low <= high && low.is_finite() && high.is_finite()) => {
            Err(wrong("labels.range", [low, high], "the lowest and the highest label"))
        }
        _ => Ok(()),
    }
}

/// The parts of the shared state. Only lanes have more than the first two, and only many classes the last.
const PARTS: [&str; 8] =
    ["state", "step", "coin", "lanes", "stack", "stack_tally", "mixture", "classes"];

/// What the shared state of a rule looks like.
#[derive(Clone, Copy)]
struct Kind {
    lanes: bool,
    bounded: bool,
}

/// Asks a rule for its kind.
struct AskKind;

impl WithRule for AskKind {
    type Output = Kind;

    fn call<P: Parameters>(self, _rule: P::Rule, parameters: &P) -> Result<Kind> {
        Ok(Kind { lanes: parameters.is_auto(), bounded: P::Rule::BOUNDED })
    }
}

fn check_shared(shared: &Value, kind: Kind, many_classes: bool) -> Reading<()> {
    let Value::Object(parts) = shared else {
        return Err(damaged("the shared state is not an object"));
    };
    let mut expected = if kind.lanes { PARTS[..7].to_vec() } else { PARTS[..2].to_vec() };
    if many_classes {
        expected.push(PARTS[7]);
    }
    let has_energies = |stack: &Value| stack.get("energies").is_some();
    let is_earlier = !parts.contains_key("coin") || parts.get("stack").is_some_and(has_energies);
    if kind.lanes && parts.contains_key("lanes") && is_earlier {
        return Err(Refusal::File(
            "was trained at rate 'auto' by an earlier version, with other experts. Train again"
                .into(),
        ));
    }
    for part in parts.keys() {
        if !expected.contains(&part.as_str()) {
            return Err(damaged(&format!("'shared' has an unknown field '{part}'")));
        }
    }
    for part in expected {
        let Some(value) = parts.get(part) else {
            return Err(damaged(&format!("'shared' has no field '{part}'")));
        };
        check_state(&format!("shared.{part}"), part, value, kind)?;
    }
    Ok(())
}

/// Check a part of the shared state: `path` is its place in the metadata, `field` the last name of the path.
fn check_state(path: &str, field: &str, value: &Value, kind: Kind) -> Reading<()> {
    match value {
        Value::Object(parts) => parts.iter().try_for_each(|(name, value)| {
            check_state(&format!("{path}.{name}"), name, value, kind)
        }),
        Value::Array(range) if field == "labels" => check_range(path, range),
        Value::Array(entries) => entries
            .iter()
            .enumerate()
            .try_for_each(|(k, value)| check_state(&format!("{path}[{k}]"), field, value, kind)),
        // A rule without shared state has none, a mixture without labels has no range, and shares may stand at
        // an infinite rate.
        Value::Null if ["state", "labels", "at_rate"].contains(&field) => Ok(()),
        _ => check_number(path, field, value, kind),
    }
}

fn check_number(path: &str, field: &str, value: &Value, kind: Kind) -> Reading<()> {
    let expected = match Expected::of(field) {
        // A rule without a bound has steps of either sign.
        Some(Expected::Float32) if kind.bounded => Expected::Float32FromZero,
        Some(expected) => expected,
        None if PARTS.contains(&field) => {
            return Err(damaged(&format!("'{path}' is {value}, expected an object")));
        }
        None => return Err(damaged(&format!("'{path}' is an unknown field"))),
    };
    match value.as_f64() {
        Some(number) if expected.holds(number) => Ok(()),
        Some(number) => Err(wrong(path, number, expected.text())),
        None => Err(damaged(&format!("'{path}' is {value}, expected {}", expected.text()))),
    }
}

fn check_range(path: &str, range: &[Value]) -> Reading<()> {
    match range.iter().map(Value::as_f64).collect::<Option<Vec<_>>>().as_deref() {
        Some([low, high]) if low <= high => Ok(()),
        _ => {
            let found = Value::from(range);
            Err(damaged(&format!("'{path}' is {found}, expected the lowest and the highest label")))
        }
    }
}
