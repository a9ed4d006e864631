//! Importance-aware updates: how far weights move when a round counts h times.
//!
//! A step of h times the gradient ignores that the slope falls on the way. With the round's rates η_i,
//! weights that follow the slope move along η_i x_i, so the margin obeys
//!
//! ```text
//! dp/dh = −k ℓ'(p),   k = Σ_i x_i² η_i     k the response: what a unit of push does to the margin
//! ```
//!
//! and the whole update is one number, the push u, with w_i ← clip(w_i + u η_i x_i). Each loss's file has its
//! u.
//!
//! Karampatziakis & Langford 2011. At fixed rates a round of importance h equals h rounds of importance 1,
//! and no importance moves the margin beyond the label or the kink. The twin is
//! `python/lessregret/learners/importance.py`; decision 18 describes the effect on the bound.

use crate::loss::Loss;

/// The push u, for a margin whose response is k.
pub fn push(loss: Loss, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
    // Without a response the margin does not move; the gradient step is the limit for every loss.
    if importance * response == 0.0 {
        return -importance * loss.slope(margin, label);
    }
    // Beyond all numbers, any push would move the margin too far.
    if !(importance * response).is_finite() {
        return 0.0;
    }
    loss.push(margin, label, importance, response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LOSSES;

    /// Two pushes of half the importance, the second from the margin after the first.
    fn in_halves(loss: Loss, margin: f64, label: f64, importance: f64, response: f64) -> f64 {
        let first = push(loss, margin, label, importance / 2.0, response);
        let there = margin + response * first;
        first + push(loss, there, label, importance / 2.0, response)
    }

    #[test]
    fn a_response_beyond_all_numbers_moves_nothing() {
        for &loss in LOSSES {
            for &label in loss.labels().some() {
                assert_eq!(push(loss, 0.3, label, 7.0, f64::INFINITY), 0.0, "{loss:?} {label}");
            }
        }
    }

    #[test]
    fn one_push_is_two_of_half_the_importance() {
        for &loss in LOSSES {
            for margin in [-800.0, -40.0, -3.0, -0.4, 0.0, 0.7, 2.5, 40.0] {
                for importance in [1e-8, 1e-3, 1.0, 30.0, 1e4, 1e30] {
                    for response in [1e-9, 0.1, 1.0, 50.0] {
                        for &label in loss.labels().some() {
                            let whole = push(loss, margin, label, importance, response);
                            let halves = in_halves(loss, margin, label, importance, response);
                            let fault = (whole - halves).abs();
                            // The margin in between is rounded, which shows in the result.
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
        for &loss in LOSSES {
            let label = loss.labels().some()[0];
            for margin in [-30.0, -0.4, 0.7, 30.0] {
                let (u, slope) = (push(loss, margin, label, 1e-9, 0.1), loss.slope(margin, label));
                assert!((u + 1e-9 * slope).abs() <= 1e-8 * u.abs());
                assert_eq!(push(loss, margin, label, 3.0, 0.0), -3.0 * slope);
                assert_eq!(push(loss, margin, label, 0.0, 2.0), 0.0);
            }
        }
    }

    #[test]
    fn nothing_overflows() {
        for &loss in LOSSES {
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
