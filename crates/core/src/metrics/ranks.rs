//! The area under the ROC curve (AUC), from a histogram of margins.
//!
//! ```text
//! AUC      P(the margin of a positive is above that of a negative) + ½ P(they are equal)    Hanley & McNeil 1982
//! Cell     margins that differ by less than 2⁻¹², if |p| < 16; the width doubles at |p| = 16, 48, 112, …
//! Error    |AUC found − AUC| ≤ ½ Σ_c (P_c N_c − p_c n_c) / (P N)
//! ```
//!
//! P_c and N_c are the importances of the positives and the negatives in a cell, P and N those of all. The pairs in one
//! cell count ½ each, as equal ones do, and no other pair is counted wrong. p_c and n_c are those of the margins that
//! equal the first one of the cell: their pairs are ties, counted right. So predictions with many ties have a small
//! error, too. The bound is returned with the area. For margins that are spread like a normal distribution of deviation
//! 0.35 or more it is below 10⁻⁴, since it is about ½ · 2⁻¹² times the integral of the two densities' product.
//!
//! Cells are allocated by pages of 256, so memory is that of the margins met: about a megabyte, at most 40.

/// The cells of margins from 0 up; as many are below.
const HALF: usize = 8 << DIGITS;
/// The binary digits of a margin's place that count, after the first.
const DIGITS: u32 = 16;
/// Margins are shifted away from 0 by it, so that cells near 0 have one width.
const SHIFT: f64 = 16.0;
/// The cells of a page.
const PAGE: usize = 256;

/// The area under the ROC curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The area.
    pub auc: f64,
    /// The most by which it is wrong.
    pub error: f64,
}

/// The importances of margins that are close to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cell {
    positive: f64,
    negative: f64,
    /// The first margin, and the importances of those that equal it.
    margin: f64,
    equal_positive: f64,
    equal_negative: f64,
}

/// The numbers of a cell in use: its place, P_c, N_c, the first margin, p_c and n_c.
pub type CellParts = (u32, f64, f64, f64, f64, f64);

/// A histogram of margins of two classes.
#[derive(Clone, Debug)]
pub struct Ranks {
    pages: Vec<Option<Box<[Cell; PAGE]>>>,
}

impl Default for Ranks {
    fn default() -> Self {
        Ranks { pages: vec![None; 2 * HALF / PAGE] }
    }
}

impl Ranks {
    /// Add a margin, which is not NaN, of an importance above 0.
    #[inline]
    pub fn add(&mut self, margin: f64, is_positive: bool, importance: f64) {
        let cell = self.cell(place(margin));
        if cell.positive + cell.negative == 0.0 {
            cell.margin = margin;
        }
        let equal = if cell.margin == margin { importance } else { 0.0 };
        if is_positive {
            cell.positive += importance;
            cell.equal_positive += equal;
        } else {
            cell.negative += importance;
            cell.equal_negative += equal;
        }
    }

    /// The cells in use.
    pub fn cells(&self) -> Vec<CellParts> {
        let pages = self.pages.iter().enumerate().filter_map(|(k, page)| Some((k, page.as_ref()?)));
        let cells = pages.flat_map(|(k, page)| {
            page.iter().enumerate().map(move |(j, cell)| ((k * PAGE + j) as u32, cell))
        });
        cells
            .filter(|(_, cell)| cell.positive + cell.negative > 0.0)
            .map(|(place, cell)| cell.parts(place))
            .collect()
    }

    /// The histogram with these cells; those that there cannot be are left out.
    pub fn of_cells(cells: &[CellParts]) -> Ranks {
        let mut ranks = Ranks::default();
        for &(place, positive, negative, margin, equal_positive, equal_negative) in cells {
            if (place as usize) < 2 * HALF {
                *ranks.cell(place as usize) =
                    Cell { positive, negative, margin, equal_positive, equal_negative };
            }
        }
        ranks
    }

    #[inline]
    fn cell(&mut self, place: usize) -> &mut Cell {
        let page = &mut self.pages[place / PAGE];
        &mut page.get_or_insert_with(|| Box::new([Cell::default(); PAGE]))[place % PAGE]
    }

    /// The area; none without positives or without negatives.
    pub fn area(&self) -> Option<Area> {
        area(self.pages.iter().flatten().flat_map(|page| page.iter().copied()))
    }

    /// The area of the margins that were added since `earlier` was copied.
    pub fn area_since(&self, earlier: &Ranks) -> Option<Area> {
        let pages = self.pages.iter().zip(&earlier.pages).filter_map(|(now, before)| {
            let (now, empty) = (now.as_ref()?, [Cell::default(); PAGE]);
            let before = before.as_ref().map_or(empty, |page| **page);
            Some(now.iter().zip(before).map(|(now, before)| now.since(before)).collect::<Vec<_>>())
        });
        area(pages.flatten())
    }
}

impl Cell {
    fn parts(&self, place: u32) -> CellParts {
        let Cell { positive, negative, margin, equal_positive, equal_negative } = *self;
        (place, positive, negative, margin, equal_positive, equal_negative)
    }

    /// What was added since. Sums of fractions may have been rounded, so a difference may be below 0.
    fn since(&self, before: Cell) -> Cell {
        let left = |of: fn(&Cell) -> f64| (of(self) - of(&before)).max(0.0);
        Cell {
            positive: left(|cell| cell.positive),
            negative: left(|cell| cell.negative),
            margin: self.margin,
            equal_positive: left(|cell| cell.equal_positive),
            equal_negative: left(|cell| cell.equal_negative),
        }
    }
}

/// The cell of a margin; larger margins have the same or a later cell.
#[inline]
fn place(margin: f64) -> usize {
    const FIRST: u64 = SHIFT.to_bits() >> (52 - DIGITS);
    let size = ((margin.abs() + SHIFT).to_bits() >> (52 - DIGITS)) - FIRST;
    let size = (size as usize).min(HALF - 1);
    if margin < 0.0 { HALF - 1 - size } else { HALF + size }
}

fn area(cells: impl Iterator<Item = Cell>) -> Option<Area> {
    // Of cells in ascending order: the importance of all positives and negatives, and of the pairs in order.
    let (mut positives, mut negatives, mut ordered, mut unsure) = (0.0, 0.0, 0.0, 0.0);
    for Cell { positive, negative, equal_positive, equal_negative, .. } in cells {
        let together = 0.5 * positive * negative;
        ordered += positive * negatives + together;
        unsure += together - 0.5 * equal_positive * equal_negative;
        positives += positive;
        negatives += negative;
    }
    let pairs = positives * negatives;
    (pairs > 0.0).then(|| Area { auc: ordered / pairs, error: unsure / pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(margins: &[(f64, bool)]) -> Ranks {
        let mut ranks = Ranks::default();
        margins.iter().for_each(|&(margin, is_positive)| ranks.add(margin, is_positive, 1.0));
        ranks
    }

    #[test]
    fn places_ascend_with_margins() {
        let margins = [-1e300, -5e3, -50.0, -16.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 16.0, 50.0, 5e3];
        let places = margins.map(place);
        assert!(places.windows(2).all(|pair| pair[0] <= pair[1]), "{places:?}");
        assert!(places[1..11].windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        assert_eq!((places[0], place(f64::INFINITY)), (0, 2 * HALF - 1));
    }

    #[test]
    fn cells_are_narrow() {
        for start in [-15.9, -3.0, 0.0, 7.3, 15.0] {
            assert!(place(start + 1.0001 / 4096.0) > place(start));
        }
    }

    #[test]
    fn pairs_are_counted() {
        let found = ranks(&[(-1.0, false), (0.5, true), (0.5, false), (2.0, true)]).area();
        assert_eq!(found, Some(Area { auc: 3.5 / 4.0, error: 0.0 }));
        assert_eq!(ranks(&[(1.0, true)]).area(), None);
    }

    #[test]
    fn margins_in_one_cell_count_half_and_are_in_the_error() {
        let found = ranks(&[(1.0, false), (1.00001, true)]).area();
        assert_eq!(found, Some(Area { auc: 0.5, error: 0.5 }));
    }

    #[test]
    fn ties_beside_other_margins_are_not_in_the_error() {
        let tied = [(1.0, false), (1.0, true), (1.0, true), (1.00001, false)];
        assert_eq!(ranks(&tied).area(), Some(Area { auc: 0.5, error: 0.25 }));
    }

    #[test]
    fn importances_count_as_repetitions() {
        let mut weighted = Ranks::default();
        weighted.add(1.0, true, 3.0);
        weighted.add(2.0, false, 1.0);
        weighted.add(0.0, false, 2.0);
        assert_eq!(weighted.area().map(|area| area.auc), Some(2.0 / 3.0));
    }

    #[test]
    fn a_histogram_is_its_cells() {
        let ranks = ranks(&[(0.5, true), (-700.0, false), (0.50001, false), (1e9, true)]);
        let again = Ranks::of_cells(&ranks.cells());
        assert_eq!(ranks.cells().len(), 3);
        assert_eq!(format!("{:?}", ranks.pages), format!("{:?}", again.pages));
    }

    #[test]
    fn later_margins_are_told_from_earlier_ones() {
        let mut all = ranks(&[(0.0, true), (1.0, false)]);
        let earlier = all.clone();
        all.add(0.0, false, 1.0);
        all.add(3.0, true, 1.0);
        assert_eq!(all.area_since(&earlier), ranks(&[(0.0, false), (3.0, true)]).area());
    }
}
