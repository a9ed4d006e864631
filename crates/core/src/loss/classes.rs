//! Losses of many classes: a margin for each class, and the label is one of them.
//!
//! ```text
//! Multinomial   log Σ_c exp(p_c) − p_y           slope in p_c: q_c − 1[c = y],  q = softmax(p)
//! One vs rest   Σ_c ℓ(p_c, y_c)                  y_c = 1 for the class of the label, −1 for all others
//! ```
//!
//! A loss that predicts a probability becomes the multinomial one, which is the logistic loss of p_1 − p_0 for two
//! classes; any other loss of two classes is summed, one class against the rest. Both are convex in all margins, so
//! Lemma 2 of the paper holds for the coordinates (feature, class): h·(slope in p_c)·x_i is the gradient in the
//! weight of feature i in class c. Source: Böhning 1992 (multinomial logistic regression).
//!
//! A class that is not counted has no part in sums and maxima, and slope 0. So a class that was given a place before
//! it was met changes no bit.
//!
//! The twin is `python/lessregret/learners/class_loss.py`.

use super::{Link, Loss};
use crate::simd::exp_log::{exp_neg, ln};
use crate::simd::{LANES, PerLane};

/// What a vector of margins loses, for every lane.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The loss.
    pub loss: PerLane,
    /// Σ_c (slope in p_c) p_c.
    pub played: PerLane,
}

impl Loss {
    /// Whether many classes have the multinomial loss, and so probabilities.
    #[inline(always)]
    pub fn is_multinomial(self) -> bool {
        self.link() == Link::Probability
    }

    /// The losses of all lanes, and the slopes in place of the margins' probabilities. `margins` has one row for each
    /// class, `counted` says which of them count, and `label` is the row of the label.
    #[inline(always)]
    pub fn of_classes(
        self,
        margins: &[PerLane],
        counted: &[bool],
        label: usize,
        slopes: &mut [PerLane],
    ) -> Lost {
        match self.is_multinomial() {
            true => multinomial(margins, counted, label, slopes),
            false => self.one_vs_rest(margins, counted, label, slopes),
        }
    }

    /// The loss of one row of margins. A class of margin −∞ has no part in it.
    pub fn of_margins(self, margins: &[f64], label: usize) -> f64 {
        let known = margins.iter().enumerate().filter(|(_, margin)| **margin > f64::NEG_INFINITY);
        if !self.is_multinomial() {
            let sign = |class: usize| if class == label { 1.0 } else { -1.0 };
            return known.map(|(class, &margin)| self.value(margin, sign(class))).sum();
        }
        let most = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = known.map(|(_, margin)| (margin - most).exp()).sum();
        (most - margins[label]) + sum.ln()
    }

    #[inline(always)]
    fn one_vs_rest(
        self,
        margins: &[PerLane],
        counted: &[bool],
        label: usize,
        slopes: &mut [PerLane],
    ) -> Lost {
        let (mut loss, mut played) = ([0.0; LANES], [0.0; LANES]);
        for (class, (margins, slopes)) in margins.iter().zip(slopes).enumerate() {
            let sign = if class == label { 1.0 } else { -1.0 };
            for lane in 0..LANES {
                let margin = margins[lane];
                let slope = if counted[class] { self.slope(margin, sign) } else { 0.0 };
                loss[lane] += if counted[class] { self.value(margin, sign) } else { 0.0 };
                played[lane] += slope * margin;
                slopes[lane] = slope;
            }
        }
        Lost { loss, played }
    }
}

/// The probabilities of the classes in every lane; returns −log q_y for the class `label`.
#[inline(always)]
pub fn softmax(
    margins: &[PerLane],
    counted: &[bool],
    label: usize,
    chances: &mut [PerLane],
) -> PerLane {
    let most = largest(margins, counted);
    let mut sums = [0.0; LANES];
    for (class, (margins, chances)) in margins.iter().zip(&mut *chances).enumerate() {
        let mut parts = [0.0; LANES];
        if counted[class] {
            for lane in 0..LANES {
                parts[lane] = exp_neg(most[lane] - margins[lane]);
            }
        }
        for lane in 0..LANES {
            sums[lane] += parts[lane];
        }
        *chances = parts;
    }
    let mut inverses = sums;
    for inverse in &mut inverses {
        *inverse = 1.0 / *inverse;
    }
    for chances in chances {
        for lane in 0..LANES {
            chances[lane] *= inverses[lane];
        }
    }
    let mut loss = most;
    for lane in 0..LANES {
        loss[lane] = (most[lane] - margins[label][lane]) + ln(sums[lane]);
    }
    loss
}

/// The largest margin of the counted classes in every lane.
#[inline(always)]
fn largest(margins: &[PerLane], counted: &[bool]) -> PerLane {
    let mut most = [f64::NEG_INFINITY; LANES];
    for (margins, _) in margins.iter().zip(counted).filter(|(_, counts)| **counts) {
        for lane in 0..LANES {
            most[lane] = if margins[lane] > most[lane] { margins[lane] } else { most[lane] };
        }
    }
    most
}

#[inline(always)]
fn multinomial(
    margins: &[PerLane],
    counted: &[bool],
    label: usize,
    slopes: &mut [PerLane],
) -> Lost {
    let loss = softmax(margins, counted, label, slopes);
    // Of the label's own slope, q_y − 1, no digit is lost: it is −Σ of the others.
    let mut others = [0.0; LANES];
    for (class, slopes) in slopes.iter().enumerate() {
        for lane in 0..LANES {
            others[lane] += if class == label { 0.0 } else { slopes[lane] };
        }
    }
    for lane in 0..LANES {
        slopes[label][lane] = -others[lane];
    }
    let mut played = [0.0; LANES];
    for (slopes, margins) in slopes.iter().zip(margins) {
        for lane in 0..LANES {
            played[lane] += slopes[lane] * margins[lane];
        }
    }
    Lost { loss, played }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LOSSES;

    const COUNTED: [bool; 4] = [true, true, false, true];

    fn margins() -> Vec<PerLane> {
        let wave = |c: usize| std::array::from_fn(|lane| 3.0 * ((7 * c + lane) as f64).sin());
        (0..COUNTED.len()).map(wave).collect()
    }

    fn lost(loss: Loss, margins: &[PerLane], label: usize) -> (Lost, Vec<PerLane>) {
        let mut slopes = vec![[0.0; LANES]; margins.len()];
        (loss.of_classes(margins, &COUNTED, label, &mut slopes), slopes)
    }

    fn classifying() -> impl Iterator<Item = Loss> {
        LOSSES.iter().copied().filter(|loss| loss.is_classification())
    }

    #[test]
    fn slopes_are_finite_differences() {
        for (loss, label) in classifying().flat_map(|loss| [0, 1, 3].map(|label| (loss, label))) {
            let margins = margins();
            let (_, slopes) = lost(loss, &margins, label);
            for (class, lane) in (0..4).flat_map(|c| (0..LANES).map(move |lane| (c, lane))) {
                let at = |way: f64| {
                    let mut moved = margins.clone();
                    moved[class][lane] += way;
                    lost(loss, &moved, label).0.loss[lane]
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((difference - slopes[class][lane]).abs() < 1e-6, "{loss:?} {class}");
            }
        }
    }

    #[test]
    fn two_classes_lose_what_the_margin_between_them_loses() {
        for loss in classifying().filter(|loss| loss.is_multinomial()) {
            for (low, high) in [(0.0, 0.0), (1.0, -2.0), (-3.0, 700.0), (40.0, 0.5)] {
                let rows = [[low; LANES], [high; LANES]];
                let mut slopes = [[0.0; LANES]; 2];
                let found = loss.of_classes(&rows, &[true; 2], 1, &mut slopes);
                let expected = loss.value(high - low, 1.0);
                assert!((found.loss[0] - expected).abs() <= 1e-12 * (1.0 + expected));
                let slope = loss.slope(high - low, 1.0);
                assert!((slopes[1][0] - slope).abs() <= 1e-15 && slopes[0][0] == -slopes[1][0]);
            }
        }
    }

    #[test]
    fn a_class_that_does_not_count_changes_no_bit() {
        for loss in classifying() {
            let (all, slopes) = lost(loss, &margins(), 1);
            let mut fewer = margins();
            fewer.remove(2);
            let mut own = vec![[0.0; LANES]; 3];
            let found = loss.of_classes(&fewer, &[true; 3], 1, &mut own);
            assert_eq!((found.loss, found.played), (all.loss, all.played));
            own.insert(2, [0.0; LANES]);
            assert_eq!(own, slopes);
        }
    }
}
