//! What a loss shows to all lanes, each thing computed once for all of them.
//!
//! Every loop is over all lanes and without branches, so that it becomes vector instructions.

use crate::loss::{Loss, Tail};
use crate::mixture::{LANES, PerLane};

/// The [`Tail`] of every lane's margin; zeros for a loss that is not logistic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tails {
    /// e^−|p|.
    pub tail: PerLane,
    /// 1/(1 + e^−|p|).
    pub sure: PerLane,
}

impl Tails {
    /// Those of the margins.
    #[inline(always)]
    pub fn of(loss: Loss, margins: &PerLane) -> Self {
        let mut tails = Tails::default();
        if loss == Loss::Logistic {
            for lane in 0..LANES {
                let Tail { tail, sure } = Tail::of(margins[lane]);
                tails.tail[lane] = tail;
                tails.sure[lane] = sure;
            }
        }
        tails
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> Tail {
        Tail { tail: self.tail[lane], sure: self.sure[lane] }
    }
}

/// Value and slope of the loss in every lane.
#[derive(Clone, Copy, Debug)]
pub struct Faces {
    /// ℓ(p, y).
    pub values: PerLane,
    /// dℓ/dp.
    pub slopes: PerLane,
}

impl Faces {
    /// Those of the margins, the bits that [`Loss::value`] and [`Loss::slope`] give.
    #[inline(always)]
    pub fn of(loss: Loss, margins: &PerLane, label: f64, tails: &Tails) -> Self {
        let (mut values, mut slopes) = ([0.0; LANES], [0.0; LANES]);
        if loss == Loss::Logistic {
            for lane in 0..LANES {
                values[lane] = tails.get(lane).value(margins[lane], label);
                slopes[lane] = tails.get(lane).slope(margins[lane], label);
            }
        } else {
            for lane in 0..LANES {
                values[lane] = loss.value(margins[lane], label);
                slopes[lane] = loss.slope(margins[lane], label);
            }
        }
        Faces { values, slopes }
    }
}
