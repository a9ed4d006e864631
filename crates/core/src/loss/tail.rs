//! The exponential of a margin, from which the log loss, its slope and probabilities are computed.

use crate::simd::exp_log::{exp_neg, ln_1p};

/// e^−|p| and a function of it, without overflow and without cancellation.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// e^−|p|.
    pub tail: f64,
    /// 1/(1 + e^−|p|), the probability of the likelier label.
    pub sure: f64,
}

impl Tail {
    /// The tail of a loss without an exponential; it is never used.
    pub const NONE: Tail = Tail { tail: 0.0, sure: 0.0 };

    /// The tail of a margin.
    #[inline(always)]
    pub fn of(margin: f64) -> Self {
        let tail = exp_neg(margin.abs());
        Tail { tail, sure: 1.0 / (1.0 + tail) }
    }

    /// log(1 + exp(-yp)), the negative logarithm of the label's probability.
    #[inline(always)]
    pub fn log_loss(self, margin: f64, label: f64) -> f64 {
        (-label * margin).max(0.0) + ln_1p(self.tail)
    }

    /// 1/(1 + e^−p), the probability of the label +1.
    #[inline(always)]
    pub fn positive(self, margin: f64) -> f64 {
        if margin < 0.0 { self.tail * self.sure } else { self.sure }
    }
}
