//! A loss in all lanes at once.
//!
//! Every loop is over all lanes and branchless, so that it vectorises.

use crate::loss::{Loss, LossFunction, Tail};
use crate::simd::{LANES, PerLane};

/// The [`Tail`] of every lane's margin; zeros for a loss without tails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tails {
    /// e^−|p|.
    pub tail: PerLane,
    /// 1/(1 + e^−|p|).
    pub sure: PerLane,
}

impl Tails {
    /// The tails of these margins.
    #[inline(always)]
    pub fn of(loss: Loss, margins: &PerLane) -> Self {
        loss.tails(margins)
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> Tail {
        Tail { tail: self.tail[lane], sure: self.sure[lane] }
    }
}

/// ℓ(p, y) in every lane, bit-identical to [`Loss::value`].
#[inline(always)]
pub fn values(loss: Loss, margins: &PerLane, label: f64, tails: &Tails) -> PerLane {
    loss.values(margins, label, tails)
}

/// dℓ/dp in every lane, bit-identical to [`Loss::slope`].
#[inline(always)]
pub fn slopes(loss: Loss, margins: &PerLane, label: f64, tails: &Tails) -> PerLane {
    loss.slopes(margins, label, tails)
}

/// The tails of the margins, for a loss whose type is known.
#[inline(always)]
pub(super) fn tails_of<L: LossFunction>(loss: L, margins: &PerLane) -> Tails {
    let mut tails = Tails::default();
    for (lane, &margin) in margins.iter().enumerate() {
        let Tail { tail, sure } = loss.tail(margin);
        tails.tail[lane] = tail;
        tails.sure[lane] = sure;
    }
    tails
}

/// ℓ(p, y) in every lane, for a loss whose type is known.
#[inline(always)]
pub(super) fn values_of<L: LossFunction>(
    loss: L,
    margins: &PerLane,
    label: f64,
    tails: &Tails,
) -> PerLane {
    let mut values = [0.0; LANES];
    for lane in 0..LANES {
        values[lane] = loss.value(tails.get(lane), margins[lane], label);
    }
    values
}

/// dℓ/dp in every lane, for a loss whose type is known.
#[inline(always)]
pub(super) fn slopes_of<L: LossFunction>(
    loss: L,
    margins: &PerLane,
    label: f64,
    tails: &Tails,
) -> PerLane {
    let mut slopes = [0.0; LANES];
    for lane in 0..LANES {
        slopes[lane] = loss.slope(tails.get(lane), margins[lane], label);
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LOSSES;
    use crate::simd::{InstructionSet, Simd, WithSimd};

    struct Facing(Loss, PerLane, f64);

    impl WithSimd for Facing {
        type Output = [PerLane; 2];

        #[inline(always)]
        fn call<V: Simd>(self, _vectors: V) -> [PerLane; 2] {
            let Facing(loss, margins, label) = self;
            let tails = Tails::of(loss, &margins);
            [values(loss, &margins, label, &tails), slopes(loss, &margins, label, &tails)]
        }
    }

    #[test]
    fn a_lane_among_others_has_the_bits_of_one_alone() {
        for &loss in LOSSES {
            for step in 0..2000 {
                let lane_margin = |lane: usize| (lane as f64 - 3.5) * f64::from(step) * 0.117;
                let labels = loss.labels().some();
                let (margins, label) =
                    (std::array::from_fn(lane_margin), labels[step as usize % labels.len()]);
                for path in InstructionSet::available() {
                    let [values, slopes] = path.run(Facing(loss, margins, label));
                    for (lane, &margin) in margins.iter().enumerate() {
                        let alone = [loss.value(margin, label), loss.slope(margin, label)];
                        let together = [values[lane], slopes[lane]];
                        assert_eq!(together.map(f64::to_bits), alone.map(f64::to_bits), "{path:?}");
                    }
                }
            }
        }
    }
}
