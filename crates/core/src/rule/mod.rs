//! Rules: what one coordinate remembers, and how that becomes a weight.
//!
//! A rule is a one-dimensional online algorithm (the paper's Lemma 2): a slot and two pure
//! functions, [`Rule::weight`] and [`Rule::absorb`]. A rule whose coordinates must talk, because
//! its step depends on the whole example, is *coupled*: [`Rule::look`] gathers what the example
//! shows and [`Rule::step`] turns it, with a little shared state, into the step that every
//! coordinate of the example absorbs with. Nothing else distinguishes the two kinds.
//!
//! The readable twins are in `python/lessregret/rules/`, one file a rule, under the same names.

use bytemuck::Pod;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::mixture::LANES;

pub mod arow;
pub mod confidence_weighted;
pub mod constant;
pub mod fixed;
pub mod ftrl;
pub mod global;
pub mod inverse_sqrt;
pub mod passive_aggressive;
pub mod per_coordinate;

/// One coordinate's feasible set [low, high].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// a_i
    pub low: f32,
    /// b_i
    pub high: f32,
}

impl Interval {
    /// No limit but that of float32, for rules without a feasible set.
    pub const EVERYWHERE: Interval = Interval { low: f32::MIN, high: f32::MAX };

    /// The nearest point of the interval.
    #[inline]
    pub fn clip(self, weight: f32) -> f32 {
        lesser(if weight > self.low { weight } else { self.low }, self.high)
    }

    /// D_i = b_i - a_i.
    pub fn width(self) -> f64 {
        f64::from(self.high) - f64::from(self.low)
    }

    /// The least value of `slope · x` for x in the interval.
    pub fn least(self, slope: f64) -> f64 {
        (slope * f64::from(self.low)).min(slope * f64::from(self.high))
    }
}

/// The lesser of two numbers: one instruction, where `f32::min`, with its care for NaN, is three.
#[inline]
pub(crate) fn lesser(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}

/// The rate a user asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// A number.
    Number(f32),
    /// What the corrected Theorem 3 says: D_i/√2 (erratum E7).
    Theory,
}

impl Rate {
    /// The rate as a number for a coordinate with this feasible set.
    pub fn number(self, interval: Interval) -> f32 {
        match self {
            Rate::Number(rate) => rate,
            Rate::Theory => (interval.width() / std::f64::consts::SQRT_2) as f32,
        }
    }
}

/// What the coordinates of an example are told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How far to move, per unit of the gradient or of the value.
    pub rate: f32,
    /// How much surer to become, per unit of the squared value.
    pub tighten: f32,
}

impl Step {
    /// A step in float32; what is too large stays finite.
    pub fn new(rate: f64, tighten: f64) -> Self {
        let narrow = |number: f64| number.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        Step { rate: narrow(rate), tighten: narrow(tighten) }
    }
}

/// What one example showed, for the rules whose coordinates talk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sight {
    /// The round, from 1.
    pub round: u64,
    /// Whether labels are numbers, not -1 and +1.
    pub regression: bool,
    /// y.
    pub label: f64,
    /// p, as it was played.
    pub margin: f64,
    /// The importance of the round.
    pub importance: f64,
    /// The gradient in the margin: importance · slope.
    pub slope: f64,
    /// |x|².
    pub square_norm: f64,
    /// Σ variance_i x_i², for the rules that are more or less sure of each coordinate.
    pub variance: f64,
    /// Σ rate_i² over the newcomers, the coordinates never met before this example.
    pub newcomer_rates: f64,
    /// Σ D_i² over the newcomers.
    pub newcomer_widths: f64,
    /// importance · λ: a coordinate's gradient is slope · value + shrink · weight.
    pub shrink: f64,
    /// Σ w_i² of the weights played; 0 without L2.
    pub square_weights: f64,
}

impl Sight {
    /// |g|² of the round, that of L2 included: |slope x + shrink w|².
    #[inline]
    pub fn square_gradient(&self) -> f64 {
        let of_loss = self.slope * self.slope * self.square_norm;
        if self.shrink == 0.0 {
            return of_loss;
        }
        let crossed = 2.0 * self.slope * self.shrink * self.margin;
        let of_penalty = self.shrink * self.shrink * self.square_weights;
        // Where the two parts cancel, rounding could leave a square below 0.
        (of_loss + crossed + of_penalty).max(0.0)
    }

    /// g·w of the round, that of L2 included.
    #[inline]
    pub fn played(&self) -> f64 {
        let of_loss = self.slope * self.margin;
        if self.shrink == 0.0 { of_loss } else { of_loss + self.shrink * self.square_weights }
    }
}

/// What a coordinate remembers: a few named floats, all zero at first.
pub trait Slot: Copy + Default + Pod + Send + Sync + 'static {
    /// The names of the floats, as in the model file.
    const FIELDS: &'static [&'static str];
    /// The float with this number.
    fn get(&self, field: usize) -> f32;
    /// Set the float with this number.
    fn set(&mut self, field: usize, value: f32);
    /// The slots of one coordinate in all lanes.
    type Line: Line<Self>;
    /// Whether the slot is as it began, to the bit.
    fn is_untouched(&self) -> bool {
        (0..Self::FIELDS.len()).all(|field| self.get(field).to_bits() == 0)
    }
}

/// The slots of one coordinate in all lanes: field by field, so that an instruction moves many lanes.
/// Two fields fill a cache line.
pub trait Line<S>: Copy + Default + Pod + Send + Sync + 'static {
    /// The slot of a lane.
    fn get(&self, lane: usize) -> S;
    /// Set the slot of a lane.
    fn put(&mut self, lane: usize, slot: S);
    /// Whether all are as they began, to the bit.
    fn is_untouched(&self) -> bool;
    /// All bits of each slot's floats together: 0 for a slot that is as it began.
    fn bits(&self) -> [u32; LANES];
}

/// Declare a slot: a struct of floats with the [`Slot`] trait, and its line.
macro_rules! slot {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),+ }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
        pub struct $name { $($(#[$field_doc])* pub $field: f32),+ }

        /// The same floats for all lanes.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, bytemuck::Zeroable, bytemuck::Pod)]
        pub struct Line { $($field: [f32; $crate::mixture::LANES]),+ }

        impl $crate::rule::Line<$name> for Line {
            #[inline]
            fn get(&self, lane: usize) -> $name { $name { $($field: self.$field[lane]),+ } }
            #[inline]
            fn put(&mut self, lane: usize, slot: $name) { $(self.$field[lane] = slot.$field;)+ }
            #[inline]
            fn is_untouched(&self) -> bool {
                // Without early exit: a few vector instructions.
                let mut bits = 0;
                $(for number in self.$field { bits |= number.to_bits(); })+
                bits == 0
            }
            #[inline]
            fn bits(&self) -> [u32; $crate::mixture::LANES] {
                let mut bits = [0; $crate::mixture::LANES];
                $(for (all, number) in bits.iter_mut().zip(self.$field) { *all |= number.to_bits(); })+
                bits
            }
        }

        impl $crate::rule::Slot for $name {
            type Line = Line;
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),+];
            fn get(&self, field: usize) -> f32 { [$(self.$field),+][field] }
            fn set(&mut self, field: usize, value: f32) { *[$(&mut self.$field),+][field] = value; }
        }
    };
}
pub(crate) use slot;

/// A one-dimensional online algorithm.
pub trait Rule: Copy + Send + Sync + 'static {
    /// What a coordinate remembers.
    type Slot: Slot;
    /// What the coordinates of a coupled rule share.
    type Shared: Copy + Default + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Whether `look` and `step` are called.
    const COUPLED: bool = false;
    /// Whether the rule has a feasible set, a rate and so a bound on its regret.
    const BOUNDED: bool = true;
    /// Whether `absorb` moves the weight by −`rate_used` · gradient, so that `place` can move it
    /// otherwise.
    const DESCENDS: bool = false;
    /// Whether the rule learns at all.
    const LEARNS: bool = true;

    /// The feasible set of the coordinate, for rules that have one.
    fn interval(&self) -> Interval {
        Interval::EVERYWHERE
    }
    /// The same rule on another feasible set; a rule without one stays as it is.
    fn within(self, _interval: Interval) -> Self {
        self
    }
    /// The same rule at another rate; a rule that has none stays as it is.
    fn at(self, _rate: f32) -> Self {
        self
    }
    /// The point the coordinate plays.
    fn weight(&self, slot: &Self::Slot, value: f32) -> f32;
    /// What it remembers after the round. A coordinate rule is not called with gradient 0.
    fn absorb(&self, slot: &mut Self::Slot, value: f32, gradient: f32, step: Step);
    /// Rules that descend: put the weight there, or to the nearest point of the interval, in a slot
    /// that has absorbed; all else stays.
    fn place(&self, _slot: &mut Self::Slot, _weight: f64) {}
    /// The rate of the last `absorb` that led to this slot; 0 for rules without a bound.
    fn rate_used(&self, _slot: &Self::Slot, _step: Step) -> f32 {
        0.0
    }

    /// Coupled rules: what this coordinate adds to the sight of the example.
    fn look(&self, _slot: &Self::Slot, _value: f32, _sight: &mut Sight) {}
    /// Coupled rules: the step of this round.
    fn step(&self, _shared: &mut Self::Shared, _sight: &Sight) -> Step {
        Step::default()
    }

    /// D_i²/(2 η_T,i) of one touched coordinate; `step` is that of the last round.
    fn spread(&self, slot: &Self::Slot, step: Step) -> f64 {
        self.interval().width().powi(2) / (2.0 * f64::from(self.rate_used(slot, step)))
    }
    /// The part of the spread that the shared state knows.
    fn shared_spread(&self, _shared: &Self::Shared) -> f64 {
        0.0
    }
    /// One coordinate's part of the theorem's closed form, if the rule has one.
    fn theorem(&self, _slot: &Self::Slot) -> Option<f64> {
        None
    }
    /// The closed form, where it is a matter of the shared state.
    fn shared_theorem(&self, _shared: &Self::Shared) -> Option<f64> {
        None
    }
}
