//! Losses ℓ(p, y) of the margin p = w·x, in float64: one loss per file.
//!
//! A loss's file implements [`LossFunction`], which is all that the learners, the mixture of the lanes and
//! the comparator need from a loss; no code outside this folder names a particular loss. Common parts are in
//! `loss/kinds.rs` (labels, link, mixing), `loss/tail.rs` (the exponential that value and slope share) and
//! `loss/target.rs` (merged examples, for the comparator). `loss/push.rs` defines importance-aware updates,
//! `loss/wide.rs` computes eight lanes at once and `loss/classes.rs` many classes.
//!
//! [`Loss`] is a plain enum, dispatched once per example: that is not measurable compared with the loop over
//! the features.
//!
//! A loss may have one parameter, a number after a colon in its name (`quantile:0.9`). Then its struct and its
//! variant hold the number, and its file implements [`Parameter`] too.
//!
//! To add a loss:
//! 1. write one file here, with the header block of the others: a struct and its [`LossFunction`]. Nothing in
//!    the trait has a default, so the compiler asks for every part;
//! 2. add one line to the table at the end of this file, which declares the file's module too. The tests
//!    below and those of `push.rs`, `target.rs` and `wide.rs` go over the table and check the new loss;
//! 3. write the readable twin in `python/lessregret/learners/losses/`, which is found by its name;
//! 4. document it in `docs/reference/rules.md`, under "Losses".

pub mod classes;
mod kinds;
pub mod push;
mod tail;
mod target;
pub mod wide;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::simd::PerLane;
pub use kinds::{Labels, Link, Mixing};
pub use tail::Tail;
pub use target::{Point, Target};
use wide::Tails;

/// A convex loss of the margin: everything that is specific to it.
pub trait LossFunction: Copy {
    /// The kind of its labels.
    const LABELS: Labels;
    /// What a margin predicts.
    const LINK: Link;
    /// How lanes are mixed under this loss.
    const MIXING: Mixing;
    /// d: if labels are measured in a unit that is u times smaller, losses are u^d times larger. 0 for labels
    /// that have no unit.
    const DEGREE: i32;
    /// Whether a target can hold several labels. Otherwise only examples with the same label are merged.
    const MERGES_LABELS: bool;

    /// The loss with which predictions and labels in the user's units lose u^d times as much as this loss says
    /// of standardised ones; u is the unit, the standard deviation of the labels or the mean count.
    fn in_units(self, unit: f64) -> Self;

    /// The exponential that value and slope share; [`Tail::NONE`] for a loss without one.
    fn tail(self, margin: f64) -> Tail;
    /// ℓ(p, y); `tail` is that of the margin.
    fn value(self, tail: Tail, margin: f64, label: f64) -> f64;
    /// dℓ/dp, a subgradient at a kink; `tail` is that of the margin.
    fn slope(self, tail: Tail, margin: f64, label: f64) -> f64;
    /// The importance-aware push u (`loss/push.rs`), for an importance and a response above 0.
    fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64;

    /// Merge an example into a target; returns the part of the loss that does not depend on the margin.
    fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64;
    /// Evaluate the target at a margin. A loss with a kink is smoothed by `temperature`, above 0.
    fn point(self, target: &Target, margin: f64, temperature: f64) -> Point;
}

/// The limits of the parameter of a loss that has one.
pub trait Parameter {
    /// What the parameter must be, for errors.
    const EXPECTED: &'static str;

    /// Whether the parameter is within its limits.
    fn is_valid(parameter: f64) -> bool;
}

/// Declares the table of losses: their names as users write them, and the types of their files. A loss with a
/// parameter has its name here, and the number that tests and examples use.
macro_rules! losses {
    ($($name:literal => $file:ident::$loss:ident $(($parameter:ident = $sample:literal))?),+ $(,)?) => {
        $(mod $file;)+

        /// A convex loss ℓ(p, y) of the margin p = w·x, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum Loss {
            $(
                #[doc = concat!("The loss of `loss/", stringify!($file), ".rs`.")]
                $loss $((#[doc = concat!("Its ", stringify!($parameter), ".")] f64))?
            ),+
        }

        /// All losses; of those with a parameter, one.
        pub const LOSSES: &[Loss] = &[$(Loss::$loss $(($sample))?),+];

        impl Loss {
            /// The loss with this name, the part before a colon, and this parameter, the part after it.
            fn with(name: &str, mut parameter: Option<&str>) -> Result<Loss> {
                let loss = match name {
                    $($name => {
                        $(let $parameter = number::<$file::$loss>($name, $sample, parameter.take())?;)?
                        Loss::$loss $(($parameter))?
                    })+
                    _ => return Err(unknown(name)),
                };
                match parameter {
                    None => Ok(loss),
                    Some(rest) => Err(Error::Spec(format!(
                        "the loss '{name}' has no parameter, found '{name}:{rest}'; leave out ':{rest}'"
                    ))),
                }
            }

            /// The name, as users write it.
            pub fn name(self) -> String {
                match self {
                    $(Loss::$loss $(($parameter))? => {
                        let name = $name.to_owned();
                        $(let name = format!("{name}:{}", $parameter);)?
                        name
                    }),+
                }
            }

            /// The kind of its labels.
            #[inline(always)]
            pub fn labels(self) -> Labels {
                match self {
                    $(Loss::$loss { .. } => $file::$loss::LABELS),+
                }
            }

            /// What a margin predicts.
            #[inline(always)]
            pub fn link(self) -> Link {
                match self {
                    $(Loss::$loss { .. } => $file::$loss::LINK),+
                }
            }

            /// How lanes are mixed under this loss.
            #[inline(always)]
            pub fn mixing(self) -> Mixing {
                match self {
                    $(Loss::$loss { .. } => $file::$loss::MIXING),+
                }
            }

            /// d: if labels are measured in a unit that is u times smaller, losses are u^d times larger.
            #[inline(always)]
            pub fn degree(self) -> i32 {
                match self {
                    $(Loss::$loss { .. } => $file::$loss::DEGREE),+
                }
            }

            /// Whether a target can hold several labels.
            pub fn merges_labels(self) -> bool {
                match self {
                    $(Loss::$loss { .. } => $file::$loss::MERGES_LABELS),+
                }
            }

            /// The loss for predictions and labels in the user's units.
            #[inline(always)]
            pub fn in_units(self, unit: f64) -> Loss {
                match self {
                    $(Loss::$loss $(($parameter))? => {
                        let _loss = $file::$loss $(($parameter))?.in_units(unit);
                        $(let $parameter = _loss.0;)?
                        Loss::$loss $(($parameter))?
                    }),+
                }
            }

            /// ℓ(p, y).
            #[inline(always)]
            pub fn value(self, margin: f64, label: f64) -> f64 {
                match self {
                    $(Loss::$loss $(($parameter))? => {
                        $file::$loss $(($parameter))?.value($file::$loss $(($parameter))?.tail(margin), margin, label)
                    }),+
                }
            }

            /// dℓ/dp, a subgradient at a kink.
            #[inline(always)]
            pub fn slope(self, margin: f64, label: f64) -> f64 {
                match self {
                    $(Loss::$loss $(($parameter))? => {
                        $file::$loss $(($parameter))?.slope($file::$loss $(($parameter))?.tail(margin), margin, label)
                    }),+
                }
            }

            /// The tail of a margin; `Tail::NONE` for a loss without tails.
            #[inline(always)]
            pub fn tail(self, margin: f64) -> Tail {
                match self {
                    $(Loss::$loss $(($parameter))? => $file::$loss $(($parameter))?.tail(margin)),+
                }
            }

            /// ℓ(p, y), given the tail of the margin.
            #[inline(always)]
            pub fn value_at(self, tail: Tail, margin: f64, label: f64) -> f64 {
                match self {
                    $(Loss::$loss $(($parameter))? => $file::$loss $(($parameter))?.value(tail, margin, label)),+
                }
            }

            /// dℓ/dp, given the tail of the margin.
            #[inline(always)]
            pub fn slope_at(self, tail: Tail, margin: f64, label: f64) -> f64 {
                match self {
                    $(Loss::$loss $(($parameter))? => $file::$loss $(($parameter))?.slope(tail, margin, label)),+
                }
            }

            /// ℓ(p, y) of many rounds. The loss is dispatched once, so that the loop vectorises.
            #[inline(always)]
            pub fn values_of_many(self, margins: &[f64], labels: &[f64], values: &mut [f64]) {
                match self {
                    $(Loss::$loss $(($parameter))? => {
                        for ((&margin, &label), value) in margins.iter().zip(labels).zip(values) {
                            *value = $file::$loss $(($parameter))?.value($file::$loss $(($parameter))?.tail(margin), margin, label);
                        }
                    }),+
                }
            }

            /// ∂ℓ/∂p of many rounds. The loss is dispatched once, so that the loop vectorises.
            #[inline(always)]
            pub fn slopes_of_many(self, margins: &[f64], labels: &[f64], slopes: &mut [f64]) {
                match self {
                    $(Loss::$loss $(($parameter))? => {
                        for ((&margin, &label), slope) in margins.iter().zip(labels).zip(slopes) {
                            *slope = $file::$loss $(($parameter))?.slope($file::$loss $(($parameter))?.tail(margin), margin, label);
                        }
                    }),+
                }
            }

            /// The tails of all lanes' margins; zeros for a loss without tails.
            #[inline(always)]
            fn tails(self, margins: &PerLane) -> Tails {
                match self {
                    $(Loss::$loss $(($parameter))? => wide::tails_of($file::$loss $(($parameter))?, margins)),+
                }
            }

            /// ℓ(p, y) in every lane.
            #[inline(always)]
            fn values(self, margins: &PerLane, label: f64, tails: &Tails) -> PerLane {
                match self {
                    $(Loss::$loss $(($parameter))? => wide::values_of($file::$loss $(($parameter))?, margins, label, tails)),+
                }
            }

            /// dℓ/dp in every lane.
            #[inline(always)]
            fn slopes(self, margins: &PerLane, label: f64, tails: &Tails) -> PerLane {
                match self {
                    $(Loss::$loss $(($parameter))? => wide::slopes_of($file::$loss $(($parameter))?, margins, label, tails)),+
                }
            }

            /// The importance-aware push, for an importance and a response above 0.
            fn push(self, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
                match self {
                    $(Loss::$loss $(($parameter))? => $file::$loss $(($parameter))?.push(margin, label, importance, response)),+
                }
            }

            /// Merge an example into a target; returns the part of the loss that does not depend on the
            /// margin.
            pub fn merge(self, target: &mut Target, label: f64, importance: f64) -> f64 {
                match self {
                    $(Loss::$loss $(($parameter))? => $file::$loss $(($parameter))?.merge(target, label, importance)),+
                }
            }

            /// Evaluate the target at a margin. A loss with a kink is smoothed by `temperature`, above 0.
            #[inline]
            pub fn point(self, target: &Target, margin: f64, temperature: f64) -> Point {
                match self {
                    $(Loss::$loss $(($parameter))? => $file::$loss $(($parameter))?.point(target, margin, temperature)),+
                }
            }
        }
    };
}

impl Loss {
    /// The loss with this name, as users write it.
    pub fn named(name: &str) -> Result<Loss> {
        match name.split_once(':') {
            None => Loss::with(name, None),
            Some((name, parameter)) => Loss::with(name, Some(parameter)),
        }
    }

    /// Whether labels are -1 and +1 and mistakes are counted.
    pub fn is_classification(self) -> bool {
        self.labels() == Labels::Binary
    }

    /// Whether the sign of the margin is wrong. A margin of 0 counts as a mistake.
    pub fn is_mistake(self, margin: f64, label: f64) -> bool {
        self.is_classification() && label * margin <= 0.0
    }
}

impl TryFrom<String> for Loss {
    type Error = Error;

    fn try_from(name: String) -> Result<Loss> {
        Loss::named(&name)
    }
}

impl From<Loss> for String {
    fn from(loss: Loss) -> String {
        loss.name()
    }
}

fn unknown(name: &str) -> Error {
    let names: Vec<_> = LOSSES.iter().map(|loss| loss.name()).collect();
    Error::Spec(format!("unknown loss '{name}'; the losses are {}", names.join(", ")))
}

/// The parameter of a loss with this name, within its limits.
fn number<P: Parameter>(name: &str, sample: f64, parameter: Option<&str>) -> Result<f64> {
    let number = parameter.and_then(|text| text.parse().ok()).filter(|&number| P::is_valid(number));
    number.ok_or_else(|| {
        let found = parameter.map_or(name.to_owned(), |parameter| format!("{name}:{parameter}"));
        let expected = P::EXPECTED;
        Error::Spec(format!(
            "the loss '{name}' needs {expected} after a colon, as in '{name}:{sample}'; found '{found}'"
        ))
    })
}

losses! {
    "logistic" => logistic::Logistic,
    "hinge" => hinge::Hinge,
    "squared" => squared::Squared,
    "squared-hinge" => squared_hinge::SquaredHinge,
    "poisson" => poisson::Poisson,
    "absolute" => absolute::Absolute,
    "quantile" => quantile::Quantile(level = 0.9),
    "huber" => huber::Huber(delta = 1.0),
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    const MARGINS: [f64; 7] = [-30.0, -3.0, -0.4, 0.0, 0.7, 2.5, 40.0];

    #[test]
    fn slopes_are_finite_differences() {
        for &loss in LOSSES {
            for margin in MARGINS {
                for &label in loss.labels().some() {
                    let h = 1e-6;
                    let difference =
                        (loss.value(margin + h, label) - loss.value(margin - h, label)) / (2.0 * h);
                    let slope = loss.slope(margin, label);
                    assert!((difference - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{loss:?}");
                }
            }
        }
    }

    #[test]
    fn a_loss_is_above_its_tangents() {
        for &loss in LOSSES {
            for (margin, other) in MARGINS.iter().flat_map(|&p| MARGINS.map(|q| (p, q))) {
                for &label in loss.labels().some() {
                    let (value, slope) = (loss.value(margin, label), loss.slope(margin, label));
                    let tangent = value + slope * (other - margin);
                    let above = loss.value(other, label);
                    assert!(tangent <= above + 1e-12 * (1.0 + above), "{loss:?} {margin} {other}");
                }
            }
        }
    }

    #[test]
    fn names_are_those_of_a_spec() {
        for &loss in LOSSES {
            assert_eq!(Loss::named(&loss.name()).unwrap(), loss);
            assert_eq!(serde_json::to_value(loss).unwrap(), loss.name());
        }
        let names: Vec<_> = LOSSES.iter().map(|loss| loss.name()).collect();
        let expected = format!("unknown loss 'magic'; the losses are {}", names.join(", "));
        assert_eq!(Loss::named("magic").unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_parameter_is_a_number_after_a_colon() {
        assert_eq!(Loss::named("quantile:0.50").unwrap(), Loss::Quantile(0.5));
        assert_eq!(Loss::Quantile(0.5).name(), "quantile:0.5");
        assert_eq!(Loss::named("huber:2").unwrap().name(), "huber:2");
        let told = |name| Loss::named(name).unwrap_err().to_string();
        let expected = "the loss 'quantile' needs a number above 0 and below 1 after a colon, as in \
                        'quantile:0.9'; found ";
        for name in ["quantile", "quantile:", "quantile:1", "quantile:nan", "quantile:a:b"] {
            assert_eq!(told(name), format!("{expected}'{name}'"));
        }
        assert!(told("huber:inf").contains("a finite number above 0"));
        let expected = "the loss 'hinge' has no parameter, found 'hinge:1'; leave out ':1'";
        assert_eq!(told("hinge:1"), expected);
    }

    /// The losses of standardised predictions and labels are those in the user's units, but for a factor.
    #[test]
    fn a_degree_is_that_of_the_unit() {
        for &loss in LOSSES.iter().filter(|loss| loss.labels() == Labels::Real) {
            let unit = 3.5_f64;
            for (margin, label) in [(0.2, 0.4), (-3.0, 7.0), (5.0, 1.0)] {
                let in_units = loss.in_units(unit).value(unit * margin, unit * label);
                let factor = unit.powi(loss.degree());
                assert!((in_units / (factor * loss.value(margin, label)) - 1.0).abs() < 1e-12);
            }
        }
    }

    /// All `.rs` files in a folder and below it.
    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        let sources = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
        folders.iter().flat_map(|folder| self::sources(folder)).chain(sources).collect()
    }

    #[test]
    fn no_code_outside_this_folder_names_a_loss() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let others = sources(&root).into_iter().filter(|path| !path.starts_with(root.join("loss")));
        for path in others {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for loss in LOSSES {
                let variant = format!("Loss::{loss:?}");
                let variant = variant.split('(').next().unwrap();
                assert!(!code.contains(variant), "{loss:?} in {path:?}");
            }
        }
    }

    #[test]
    fn labels_that_a_link_predicts_are_those_of_the_loss() {
        for &loss in LOSSES {
            assert_eq!(loss.link() == Link::Number, loss.labels() == Labels::Real, "{loss:?}");
            assert_eq!(loss.link() == Link::Count, loss.labels() == Labels::Count, "{loss:?}");
            assert_eq!(loss.degree() == 0, loss.labels() == Labels::Binary, "{loss:?}");
        }
    }

    /// For labels that are +1 with the predicted probability, the expected loss has slope 0.
    #[test]
    fn a_predicted_probability_is_calibrated() {
        for loss in LOSSES.iter().filter(|loss| loss.link() == Link::Probability) {
            for margin in MARGINS {
                let positive = loss.link().prediction(margin);
                let slope = positive * loss.slope(margin, 1.0)
                    + (1.0 - positive) * loss.slope(margin, -1.0);
                assert!(slope.abs() < 1e-15, "{loss:?} {margin} {slope}");
            }
        }
    }

    /// The mixture's log odds are computed from the tails, and its mix loss is the loss of the mean.
    #[test]
    fn losses_mixed_by_their_log_odds_are_log_losses_with_tails() {
        for loss in LOSSES.iter().filter(|loss| loss.mixing() == Mixing::LogOdds) {
            for margin in MARGINS {
                let (tails, own) = (Tails::of(*loss, &[margin; 8]), Tail::of(margin));
                assert_eq!((tails.tail[0], tails.sure[0]), (own.tail, own.sure));
                for label in [-1.0, 1.0] {
                    assert_eq!(loss.value(margin, label), own.log_loss(margin, label));
                }
            }
        }
    }
}
