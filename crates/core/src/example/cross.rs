//! Crosses: a feature for every combination of the features of two or more groups.
//!
//! ```text
//! hash(1) = slot of the first feature
//! hash(k) = 16777619 · hash(k − 1)  xor  slot of feature k
//! slot    = hash of the last  mod 2^bits
//! value   = product of the values, from the first to the last
//! ```
//!
//! These are Vowpal Wabbit's crosses. A group that is crossed with itself has combinations, not permutations, and they
//! include the square of a feature: x and y give xx, xy and yy. A group is the features of a namespace, of a column of a
//! table or of a key of a dict. Both operations take no higher bits into lower ones, so the hash of 32 bits is enough,
//! and slots may stand for hashes.
//!
//! Cost: one multiplication, one xor and one call for each crossed feature; nothing is allocated.

/// The most features that the crosses of one example may have. An example stays small enough for a batch of an Arrow file.
pub const MOST_CROSSED: u64 = 1 << 22;

/// The prime of the FNV hash.
const PRIME: u32 = 16_777_619;

/// The features of a group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    slots: Vec<u32>,
    values: Vec<f32>,
}

/// A feature of a cross: its hash, its value, and which feature of each group it was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossed<'a> {
    /// The hash, of which the slot is the lowest bits.
    pub hash: u32,
    /// The value; not finite if the product is too large.
    pub value: f32,
    /// The position of the feature in each group.
    pub parts: &'a [usize],
}

impl Group {
    /// Remove all features and keep the memory.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.values.clear();
    }

    /// Add features.
    pub fn extend(&mut self, slots: &[u32], values: &[f32]) {
        debug_assert_eq!(slots.len(), values.len());
        self.slots.extend_from_slice(slots);
        self.values.extend_from_slice(values);
    }

    /// The number of features.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no feature.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

/// The number of features of a cross of these groups.
pub fn crossed_count(groups: &[Group], cross: &[usize]) -> u64 {
    let runs = cross.chunk_by(|one, next| one == next);
    runs.map(|run| combinations(groups[run[0]].len() as u64, run.len() as u64))
        .fold(1, u64::saturating_mul)
}

/// The number of ways to choose `count` of `most` features with repetition, at most `u64::MAX`.
fn combinations(most: u64, count: u64) -> u64 {
    let mut ways: u128 = 1;
    for k in 0..u128::from(count) {
        // Each step is a binomial coefficient, hence whole.
        ways = ways.saturating_mul(u128::from(most) + k) / (k + 1);
    }
    u64::try_from(ways).unwrap_or(u64::MAX)
}

/// Call a function with every feature of a cross. A cross is the numbers of its groups; a group that is crossed with
/// itself must stand beside itself.
pub fn for_each_crossed(groups: &[Group], cross: &[usize], mut each: impl FnMut(Crossed<'_>)) {
    let mut parts = vec![0; cross.len()];
    if let [first, ..] = cross {
        let group = &groups[*first];
        for k in 0..group.len() {
            parts[0] = k;
            let start = Partial { hash: group.slots[k], value: group.values[k], depth: 1 };
            start.extend(groups, cross, &mut parts, &mut each);
        }
    }
}

/// The feature of the first groups of a cross.
#[derive(Clone, Copy)]
struct Partial {
    hash: u32,
    value: f32,
    depth: usize,
}

impl Partial {
    fn extend<F: FnMut(Crossed<'_>)>(
        self,
        groups: &[Group],
        cross: &[usize],
        parts: &mut [usize],
        each: &mut F,
    ) {
        let Partial { hash, value, depth } = self;
        if depth == cross.len() {
            return each(Crossed { hash, value, parts });
        }
        let group = &groups[cross[depth]];
        let is_repeated = cross[depth] == cross[depth - 1];
        let first = if is_repeated { parts[depth - 1] } else { 0 };
        let half = hash.wrapping_mul(PRIME);
        for k in first..group.len() {
            parts[depth] = k;
            let (hash, value) = (half ^ group.slots[k], value * group.values[k]);
            Partial { hash, value, depth: depth + 1 }.extend(groups, cross, parts, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::hash;

    fn group(namespace: &str, features: &[(&str, f32)]) -> Group {
        let space = hash::namespace(namespace.as_bytes());
        let mut group = Group::default();
        for &(name, value) in features {
            group.extend(&[hash::feature(name.as_bytes(), space) as u32], &[value]);
        }
        group
    }

    fn slots(groups: &[Group], cross: &[usize]) -> Vec<(u32, f32)> {
        let mut found = Vec::new();
        for_each_crossed(groups, cross, |crossed| {
            found.push((crossed.hash & ((1 << 18) - 1), crossed.value));
        });
        assert_eq!(found.len() as u64, crossed_count(groups, cross));
        found
    }

    /// The numbers are those of `vw -b 18 --audit`, version 9.11.9.
    #[test]
    fn crosses_are_vowpal_wabbits() {
        let groups = [
            group("a", &[("x", 2.0), ("y", 3.0)]),
            group("b", &[("z", 3.0)]),
            group("c", &[("w", 1.0)]),
            group("d", &[("v", 1.0)]),
        ];
        assert_eq!(slots(&groups, &[0, 1]), [(80_151, 6.0), (171_394, 9.0)]);
        assert_eq!(slots(&groups, &[1, 0]), [(156_693, 6.0), (138_178, 9.0)]);
        assert_eq!(slots(&groups, &[0, 0]), [(1_680, 4.0), (31_047, 6.0), (253_394, 9.0)]);
        let squares = [(242_623, 12.0), (200_138, 18.0), (251_545, 27.0)];
        assert_eq!(slots(&groups, &[0, 0, 1]), squares);
        let cubes = [(166_968, 8.0), (193_519, 12.0), (150_938, 18.0), (169_673, 27.0)];
        assert_eq!(slots(&groups, &[0, 0, 0]), cubes);
        assert_eq!(slots(&groups, &[0, 1, 2, 3])[0], (186_182, 6.0));
    }

    #[test]
    fn an_empty_group_has_no_crosses() {
        let groups = [group("a", &[("x", 1.0)]), Group::default()];
        assert_eq!(slots(&groups, &[0, 1]), []);
        assert_eq!(slots(&groups, &[1, 0]), []);
        assert_eq!(slots(&groups, &[1, 1]), []);
    }

    #[test]
    fn parts_name_the_features_of_the_groups() {
        let groups = [group("a", &[("x", 1.0), ("y", 1.0)]), group("b", &[("z", 1.0)])];
        let mut parts = Vec::new();
        for_each_crossed(&groups, &[0, 0, 1], |crossed| parts.push(crossed.parts.to_vec()));
        assert_eq!(parts, [[0, 0, 0], [0, 1, 0], [1, 1, 0]]);
    }

    #[test]
    fn a_number_too_large_is_known_before_it_is_reached() {
        let mut group = Group::default();
        group.extend(&vec![0; 100_000], &vec![1.0; 100_000]);
        let groups = [group];
        assert_eq!(crossed_count(&groups, &[0, 0]), 5_000_050_000);
        assert_eq!(crossed_count(&groups, &[0; 16]), u64::MAX);
    }
}
