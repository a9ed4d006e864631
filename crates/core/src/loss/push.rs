//! Importance-aware updates: how far weights go when a round counts h times.
//!
//! A step of h times the gradient goes on though the slope has fallen on the way. With the round's
//! rates η_i, weights that follow the slope move along η_i x_i, so the margin obeys
//!
//! ```text
//! dp/dh = −k ℓ'(p),   k = Σ_i x_i² η_i     k the response: what a unit of push does to the margin
//! ```
//!
//! and all of it is one number, the push u, with w_i ← clip(w_i + u η_i x_i):
//!
//! ```text
//! squared    u = (y − p)(1 − e^(−2hk))/k
//! hinge      u = y min(h, (1 − yp)/k)          0 if yp ≥ 1
//! logistic   u = y δ/k,  δ + e^m (e^δ − 1) = hk,  m = yp
//! ```
//!
//! Karampatziakis & Langford 2011. At fixed rates a round of importance h is h rounds of importance
//! 1, and no importance makes the margin go beyond the label or the kink. The twin is
//! `python/lessregret/importance.py`; decision 18 says what it does to the bound.

use crate::loss::Loss;

/// Beyond this e^m has no number, and what is left of the loss moves nothing.
const SURE: f64 = 700.0;

/// u, for a margin whose response is k.
pub fn push(loss: Loss, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
    let weight = importance * response;
    // Where nothing responds there is no way to follow; it is the limit of all three.
    if weight == 0.0 {
        return -importance * loss.slope(margin, label);
    }
    match loss {
        Loss::Squared => (margin - label) * (-2.0 * weight).exp_m1() / response,
        Loss::Hinge => label * importance.min((1.0 - label * margin).max(0.0) / response),
        Loss::Logistic => label * rise(label * margin, weight) / response,
    }
}

/// δ with δ + e^m (e^δ − 1) = weight: how far a margin of the right sign rises.
///
/// Newton from above on a convex function, so every step is down to the root and none beyond it.
/// In this form nothing cancels, be δ small or e^m.
fn rise(m: f64, weight: f64) -> f64 {
    if m > SURE {
        return 0.0;
    }
    // Above the root, since e^δ − 1 ≥ δ.
    let mut delta = weight / (1.0 + m.exp());
    if delta > 1.0 {
        // So is this, since the second part is not more than the whole; and e^(m + δ) fits.
        delta = delta.min(softplus(weight.ln() - m));
    }
    loop {
        let peak = (m + delta).exp();
        let step = (delta - peak * (-delta).exp_m1() - weight) / (1.0 + peak);
        delta -= step;
        // Quadratic: the next step would be below the last digit.
        if step <= 1e-9 * delta {
            return delta;
        }
    }
}

fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Loss; 3] = [Loss::Logistic, Loss::Hinge, Loss::Squared];

    /// Two pushes of half the importance, the second from where the first led.
    fn in_halves(loss: Loss, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        let first = push(loss, margin, label, importance / 2.0, response);
        let there = margin + response * first;
        first + push(loss, there, label, importance / 2.0, response)
    }

    #[test]
    fn one_push_is_two_of_half_the_importance() {
        for loss in ALL {
            for margin in [-800.0, -40.0, -3.0, -0.4, 0.0, 0.7, 2.5, 40.0] {
                for importance in [1e-8, 1e-3, 1.0, 30.0, 1e4, 1e30] {
                    for response in [1e-9, 0.1, 1.0, 50.0] {
                        for label in [-1.0, 1.0] {
                            let whole = push(loss, margin, label, importance, response);
                            let halves = in_halves(loss, margin, label, importance, response);
                            let fault = (whole - halves).abs();
                            // The margin in between is rounded, and that is seen in what is left.
                            let rounding = 1e-15 * (1.0 + margin.abs()) / response;
                            assert!(fault <= 1e-12 * whole.abs() + rounding.max(1e-300));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_small_push_is_the_gradient() {
        for loss in ALL {
            for margin in [-30.0, -0.4, 0.7, 30.0] {
                let (u, slope) = (push(loss, margin, -1.0, 1e-9, 0.1), loss.slope(margin, -1.0));
                assert!((u + 1e-9 * slope).abs() <= 1e-8 * u.abs());
                assert_eq!(push(loss, margin, -1.0, 3.0, 0.0), -3.0 * slope);
                assert_eq!(push(loss, margin, -1.0, 0.0, 2.0), 0.0);
            }
        }
    }

    #[test]
    fn nothing_overflows() {
        for loss in ALL {
            for margin in [-3e38, -1e3, 0.0, 1e3, 3e38] {
                for importance in [1e-38, 1.0, 3e38] {
                    for response in [1e-60, 1.0, 1e60] {
                        assert!(push(loss, margin, 1.0, importance, response).is_finite());
                    }
                }
            }
        }
    }
}
