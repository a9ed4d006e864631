//! The metrics of many classes: loss, accuracy, top-k accuracy, and the table of confusions.
//!
//! ```text
//! rank         how many other classes have a margin that is at least the label's
//! top-k        the rank is below k; top-1 is the accuracy, so a tie is a mistake, as in the ledger
//! prediction   the label's class if its rank is 0, else the first of the other classes with the largest margin
//! confusions   Σh for every pair of a label and a prediction
//! ```
//!
//! So the accuracy is the diagonal of the table over its sum. Memory does not grow with the run: four numbers for each
//! class, and a table of the first [`MOST`] classes. All further classes are one row and one column of it.
//!
//! The twin is `class_sums_of` in `python/lessregret/training/class_metrics.py`.

use std::collections::BTreeMap;

use crate::loss::Loss;

/// The classes that have a row and a column of their own in the table of confusions.
pub const MOST: usize = 100;
/// Top-k accuracies are known for k up to this.
pub const TOP: usize = 10;

/// Rounds of many classes to be added: one entry for each of them, and a row of margins.
#[derive(Clone, Copy)]
pub struct PlayedClasses<'a> {
    /// The codes of the classes, in the order of their margins.
    pub codes: &'a [i32],
    /// The margins, row by row. A class that was not known yet has −∞.
    pub margins: &'a [f64],
    /// The codes of the labels. A round with another label, or without one, does not count.
    pub labels: &'a [f32],
    /// The importances. A round of importance 0 does not count.
    pub importances: &'a [f32],
}

/// Sums over rounds of many classes, of importance h > 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassSums {
    /// The number of rounds.
    pub examples: u64,
    /// Σh.
    pub importance: f64,
    /// Σh ℓ.
    pub loss: f64,
    /// Σh over the rounds of each rank below `TOP`.
    pub ranks: [f64; TOP],
    /// Σh over the rounds with each label.
    pub observed: Vec<f64>,
    /// Σh over the rounds with each prediction.
    pub predicted: Vec<f64>,
    /// Σh over the rounds with each label that were predicted right.
    pub hits: Vec<f64>,
    /// Σh by label and prediction; `MOST` stands for all further classes.
    pub confusions: BTreeMap<(usize, usize), f64>,
}

impl ClassSums {
    /// Add rounds.
    pub fn add_all(&mut self, loss: Loss, played: PlayedClasses<'_>) {
        let PlayedClasses { codes, margins, labels, importances } = played;
        self.make_room(codes.len());
        let rows = margins.chunks_exact(codes.len().max(1));
        for ((row, &label), &importance) in rows.zip(labels).zip(importances) {
            let place = codes.iter().position(|&code| code as f32 == label);
            if let (Some(place), true) = (place, importance > 0.0) {
                self.add(loss, row, place, f64::from(importance));
            }
        }
    }

    /// Add one round, whose label is the class in this place.
    fn add(&mut self, loss: Loss, margins: &[f64], label: usize, importance: f64) {
        let (rank, rival) = rank_of(margins, label);
        let predicted = if rank == 0 { label } else { rival };
        self.examples += 1;
        self.importance += importance;
        self.loss += importance * loss.of_margins(margins, label);
        if rank < TOP {
            self.ranks[rank] += importance;
        }
        self.observed[label] += importance;
        self.predicted[predicted] += importance;
        self.hits[label] += if rank == 0 { importance } else { 0.0 };
        *self.confusions.entry((label.min(MOST), predicted.min(MOST))).or_default() += importance;
    }

    /// The sums over these rounds and others.
    pub fn joined(&self, others: &ClassSums) -> ClassSums {
        let mut all = self.clone();
        all.examples += others.examples;
        all.importance += others.importance;
        all.loss += others.loss;
        all.make_room(others.observed.len());
        add_to(&mut all.ranks, &others.ranks);
        add_to(&mut all.observed, &others.observed);
        add_to(&mut all.predicted, &others.predicted);
        add_to(&mut all.hits, &others.hits);
        for (&pair, &importance) in &others.confusions {
            *all.confusions.entry(pair).or_default() += importance;
        }
        all
    }

    fn make_room(&mut self, classes: usize) {
        let classes = classes.max(self.observed.len());
        for sums in [&mut self.observed, &mut self.predicted, &mut self.hits] {
            sums.resize(classes, 0.0);
        }
    }
}

fn add_to(sums: &mut [f64], others: &[f64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}

/// The rank of the label's class, and the first of the other classes with the largest margin.
fn rank_of(margins: &[f64], label: usize) -> (usize, usize) {
    let (mut rank, mut rival, mut largest) = (0, label, f64::NEG_INFINITY);
    for (class, &margin) in margins.iter().enumerate().filter(|(class, _)| *class != label) {
        rank += usize::from(margin >= margins[label]);
        if margin > largest {
            (rival, largest) = (class, margin);
        }
    }
    (rank, rival)
}

/// The metrics of a run of many classes, and of its end.
pub struct ClassMetrics {
    loss: Loss,
    /// As in [`Metrics`](super::Metrics): before the last mark, between the last two, and since the last.
    before: ClassSums,
    between: ClassSums,
    since: ClassSums,
}

impl ClassMetrics {
    /// Metrics of no rounds.
    pub fn new(loss: Loss) -> Self {
        let [before, between, since] = [(); 3].map(|()| ClassSums::default());
        ClassMetrics { loss, before, between, since }
    }

    /// Add rounds.
    pub fn add(&mut self, played: PlayedClasses<'_>) {
        self.since.add_all(self.loss, played);
    }

    /// Let the end of the run begin at the mark before this one.
    pub fn mark(&mut self) {
        self.before = self.before.joined(&self.between);
        self.between = std::mem::take(&mut self.since);
    }

    /// The sums over all rounds, or over those since the last mark but one.
    pub fn sums(&self, end: bool) -> ClassSums {
        let late = self.between.joined(&self.since);
        if end { late } else { self.before.joined(&late) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [i32; 3] = [5, 7, 9];

    fn sums(margins: &[f64], labels: &[f32], importances: &[f32]) -> ClassSums {
        let mut sums = ClassSums::default();
        let played = PlayedClasses { codes: &CODES, margins, labels, importances };
        sums.add_all(Loss::Logistic, played);
        sums
    }

    #[test]
    fn rounds_are_counted_by_rank_and_pair() {
        let none = f64::NEG_INFINITY;
        let margins = [0.0, 1.0, 2.0, 3.0, 1.0, 1.0, 0.0, 0.0, none];
        let found = sums(&margins, &[9.0, 7.0, 5.0], &[1.0, 2.0, 4.0]);
        assert_eq!((found.examples, found.importance), (3, 7.0));
        // The last round is a tie of two classes, which is a mistake.
        assert_eq!(found.ranks[..4], [1.0, 4.0, 2.0, 0.0]);
        assert_eq!(found.observed, [4.0, 2.0, 1.0]);
        assert_eq!(found.predicted, [2.0, 4.0, 1.0]);
        assert_eq!(found.hits, [0.0, 0.0, 1.0]);
        let pairs: Vec<_> = found.confusions.into_iter().collect();
        assert_eq!(pairs, [((0, 1), 4.0), ((1, 0), 2.0), ((2, 2), 1.0)]);
    }

    #[test]
    fn rounds_without_a_known_label_or_importance_do_not_count() {
        let found = sums(&[0.0; 9], &[6.0, f32::NAN, 5.0], &[1.0, 1.0, 0.0]);
        assert_eq!((found.examples, found.importance), (0, 0.0));
    }

    #[test]
    fn losses_are_those_of_all_margins() {
        let margins = [0.0, 1.0, f64::NEG_INFINITY];
        let expected = (1.0 + (-1f64).exp()).ln();
        assert!((Loss::Logistic.of_margins(&margins, 1) - expected).abs() < 1e-15);
        assert_eq!(Loss::Hinge.of_margins(&margins, 1), 1.0);
    }

    #[test]
    fn further_classes_share_a_row() {
        let codes: Vec<i32> = (0..MOST as i32 + 3).collect();
        let mut margins = vec![0.0; codes.len()];
        margins[MOST + 1] = 1.0;
        let (label, importances) = ([MOST as f32 + 2.0], [1.0]);
        let mut found = ClassSums::default();
        found.add_all(
            Loss::Logistic,
            PlayedClasses {
                codes: &codes,
                margins: &margins,
                labels: &label,
                importances: &importances,
            },
        );
        assert_eq!(found.confusions, BTreeMap::from([((MOST, MOST), 1.0)]));
        assert_eq!((found.predicted[MOST + 1], found.hits[MOST + 2]), (1.0, 0.0));
    }

    #[test]
    fn the_end_begins_at_the_last_mark_but_one_and_classes_may_come_later() {
        let mut metrics = ClassMetrics::new(Loss::Logistic);
        let mut add = |codes: &[i32], margins: &[f64], label: f32, mark: bool| {
            let (labels, importances) = ([label], [1.0]);
            let played =
                PlayedClasses { codes, margins, labels: &labels, importances: &importances };
            metrics.add(played);
            if mark {
                metrics.mark();
            }
        };
        add(&CODES[..2], &[1.0, 0.0], 5.0, true);
        add(&CODES[..2], &[1.0, 0.0], 7.0, true);
        add(&CODES, &[1.0, 0.0, 2.0], 9.0, false);
        let (all, end) = (metrics.sums(false), metrics.sums(true));
        assert_eq!((all.examples, end.examples), (3, 2));
        assert_eq!((all.observed, end.observed), (vec![1.0; 3], vec![0.0, 1.0, 1.0]));
        assert_eq!((all.ranks[0], end.ranks[0]), (2.0, 1.0));
    }
}
