//! Rules: the state of one coordinate, its update, and the weight it plays.
//!
//! A rule is a one-dimensional online algorithm (the paper's Lemma 2): a slot and two pure functions,
//! [`Rule::weight`] and [`Rule::absorb`]. A rule whose step depends on the whole example is *coupled*:
//! [`Rule::look`] accumulates the stats of the example, and [`Rule::step`] computes from them, and from a
//! small shared state, the step that every coordinate of the example absorbs with. Nothing else distinguishes
//! the two kinds.
//!
//! A rule's file also holds its parameters ([`Parameters`]), as they are in a spec. The table at the end of
//! this file names every rule; nothing else lists them.
//!
//! The readable twins are in `python/lessregret/learners/rules/`, one file per rule, with the same names.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

mod dither;
mod interval;
pub mod merging;
mod parameters;
mod slot;
mod stats;

pub use dither::Dither;
use dither::square;
use interval::lesser;
pub use interval::{Interval, Rate};
use merging::{Heavy, narrowed, narrowed_sum};
pub use merging::{Merges, Merging, NewUnit};
use parameters::{Ends, RateSpec, interval, not_negative, positive};
pub use parameters::{Parameters, check_interval};
use slot::slot;
pub use slot::{Line, Slot};
pub use stats::{ExampleStats, Step};

/// A one-dimensional online algorithm.
pub trait Rule: Copy + Send + Sync + 'static {
    /// The state of a coordinate.
    type Slot: Slot;
    /// The state that the coordinates of a coupled rule share.
    type Shared: Copy + Default + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Whether `look` and `step` are called.
    const COUPLED: bool = false;
    /// Whether the rule has a feasible set, a rate and so a bound on its regret.
    const BOUNDED: bool = true;
    /// Whether `absorb` moves the weight by −rate · gradient, at the rate that it returns, so that `place`
    /// can move it differently.
    const DESCENDS: bool = false;
    /// Whether the rule plays on values from −1 to 1 (`Example::unit_values`).
    const UNIT_VALUES: bool = false;
    /// Whether at rate "auto" the last lane plays the rule `coin` in place of an eighth rate.
    const COIN_LANE: bool = false;
    /// Whether the rule is played so often that its kernels are compiled for AVX-512, too.
    const IS_COMMON: bool = false;
    /// Whether the rule takes gradients that come late, by `reading` and `revise`.
    const REVISES: bool = false;
    /// The ways in which learners with this rule can be merged.
    const MERGES: Merges = Merges::Never;

    /// The feasible interval of the coordinate, for rules that have one.
    fn interval(&self) -> Interval {
        Interval::EVERYWHERE
    }
    /// This rule with another feasible interval; a rule without one is unchanged.
    fn within(self, _interval: Interval) -> Self {
        self
    }
    /// This rule with another rate; a rule without one is unchanged.
    fn at(self, _rate: f32) -> Self {
        self
    }
    /// Coupled rules: this rule with what its weights need from the shared state.
    fn knowing(self, _shared: &Self::Shared) -> Self {
        self
    }
    /// Whether the bound was proved for rounds that led to this shared state.
    fn is_proved(&self, _shared: &Self::Shared) -> bool {
        true
    }
    /// The weight that the coordinate plays.
    fn weight(&self, slot: &Self::Slot, value: f32) -> f32;
    /// Update the slot after the round, and return the rate η of the round: 0 for rules without a bound. A
    /// rule that is not coupled is never called with gradient 0. Every sum in the slot is rounded with the
    /// dither, so that it does not stall.
    fn absorb(
        &self,
        slot: &mut Self::Slot,
        value: f32,
        gradient: f32,
        step: Step,
        dither: Dither,
    ) -> f32;
    /// Rules that revise: what a prediction keeps of the slot until its label comes.
    fn reading(&self, _slot: &Self::Slot) -> f32 {
        0.0
    }
    /// Rules that revise: [`Rule::absorb`], for a gradient of weights that were played when `reading` was read.
    fn revise(
        &self,
        slot: &mut Self::Slot,
        value: f32,
        gradient: f32,
        _reading: f32,
        dither: Dither,
    ) -> f32 {
        self.absorb(slot, value, gradient, Step::default(), dither)
    }
    /// Rules that descend: set the weight, clipped to the interval, in a slot that has absorbed. Everything
    /// else in the slot is unchanged.
    fn place(&self, _slot: &mut Self::Slot, _weight: f64, _dither: Dither) {}

    /// Coupled rules: add this coordinate's terms to the stats of the example.
    fn look(&self, _slot: &Self::Slot, _value: f32, _stats: &mut ExampleStats) {}
    /// Coupled rules: the step of this round.
    fn step(&self, _shared: &mut Self::Shared, _stats: &ExampleStats) -> Step {
        Step::default()
    }

    /// D_i²/(2 η_T,i) of one touched coordinate, for rules with a bound; `step` is that of the last round.
    fn spread(&self, _slot: &Self::Slot, _step: Step) -> f64 {
        0.0
    }
    /// The part of the spread that depends on the shared state.
    fn shared_spread(&self, _shared: &Self::Shared) -> f64 {
        0.0
    }
    /// One coordinate's part of the theorem's closed form, if the rule has one.
    fn theorem(&self, _slot: &Self::Slot) -> Option<f64> {
        None
    }
    /// The closed form of the theorem, if it depends on the shared state.
    fn shared_theorem(&self, _shared: &Self::Shared) -> Option<f64> {
        None
    }

    /// Rules that merge: the slot of one learner, from the slots of shards that went on from `start`, of which
    /// several have moved. All are in the same unit.
    fn merge(&self, start: &Self::Slot, _shards: &[Self::Slot], _merging: &Merging) -> Self::Slot {
        *start
    }
    /// Rules that merge: the slot in another unit of the values.
    fn in_unit(&self, slot: &Self::Slot, _unit: NewUnit) -> Self::Slot {
        *slot
    }
    /// Rules that merge: the shared state of one learner.
    fn merge_shared(&self, start: &Self::Shared, _shards: &[Self::Shared]) -> Self::Shared {
        *start
    }
}

/// Work that is generic in the type of a rule.
pub trait WithRule {
    /// The result of the work.
    type Output;

    /// Do the work. `parameters` are those that the rule was made from.
    fn call<P: Parameters>(
        self,
        rule: P::Rule,
        parameters: &P,
    ) -> crate::error::Result<Self::Output>;
}

/// Declares the table of rules: a line for each file, with the names of its rules as users write them and
/// their parameters.
macro_rules! rules {
    ($($file:ident: $($name:literal => $variant:ident($parameters:ident)),+;)+) => {
        $(pub mod $file;)+

        /// A rule by name, with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name")]
        #[allow(missing_docs)]
        pub enum RuleSpec {
            $($(#[serde(rename = $name)] $variant($file::$parameters)),+),+
        }

        /// The names of all rules, as users write them.
        pub const RULES: &[&str] = &[$($($name),+),+];

        impl RuleSpec {
            /// The name of the rule.
            pub fn name(&self) -> &'static str {
                match self {
                    $($(RuleSpec::$variant(_) => $name),+),+
                }
            }

            /// Build the rule, which checks its parameters, and do some work with it.
            pub fn with<W: WithRule>(&self, with: W) -> crate::error::Result<W::Output> {
                match self {
                    $($(RuleSpec::$variant(parameters) => with.call(parameters.rule()?, parameters)),+),+
                }
            }
        }
    };
}

rules! {
    constant: "constant" => Constant(ConstantParameters);
    inverse_sqrt: "inverse-sqrt" => InverseSqrt(InverseSqrtParameters);
    global: "global" => Global(GlobalParameters);
    per_coordinate: "per-coordinate" => PerCoordinate(PerCoordinateParameters);
    adaptive_revision: "adaptive-revision" => AdaptiveRevision(AdaptiveRevisionParameters);
    ftrl: "ftrl" => Ftrl(FtrlParameters);
    coin: "coin" => Coin(CoinParameters);
    passive_aggressive: "pa" => Pa(PaParameters), "pa-i" => PaI(Pa1Parameters), "pa-ii" => PaII(Pa2Parameters);
    confidence_weighted: "cw" => Cw(CwParameters), "cw-stdev" => CwStdev(CwStdevParameters);
    arow: "arow" => Arow(ArowParameters);
}
