//! What is known of the values of many features, so that whole chunks can skip work.

/// Properties of values. A chunk keeps them, because another scan of all values takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValueSizes {
    /// Whether any value may be outside `[-1, 1]`.
    pub any_large: bool,
    /// Whether any value may be other than 1.
    pub any_not_one: bool,
    /// Whether any value may be 0.
    pub any_zero: bool,
}

impl ValueSizes {
    /// The properties of values of which nothing is known.
    pub(super) const UNKNOWN: ValueSizes =
        ValueSizes { any_large: true, any_not_one: true, any_zero: true };

    /// The properties of these and those values.
    pub fn and(self, other: ValueSizes) -> ValueSizes {
        ValueSizes {
            any_large: self.any_large | other.any_large,
            any_not_one: self.any_not_one | other.any_not_one,
            any_zero: self.any_zero | other.any_zero,
        }
    }

    /// The properties of some values.
    pub(super) fn of(values: &[f32]) -> ValueSizes {
        // No early exit, and masks as wide as the values, so that the loop vectorises.
        let (mut zeros, mut large, mut not_one) = (0, 0, 0);
        for &value in values {
            zeros |= u32::from(value == 0.0);
            large |= u32::from(value.abs() > 1.0);
            not_one |= u32::from(value != 1.0);
        }
        ValueSizes { any_large: large != 0, any_not_one: not_one != 0, any_zero: zeros != 0 }
    }
}
