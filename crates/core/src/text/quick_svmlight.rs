//! Stage two for svmlight text: from mark to mark through a plain line.
//!
//! The grammar is that of [`super::svmlight`]. A line is plain if it is a label and features with
//! ascending indices, with blanks between them and no comment. Any other line, good or bad, is `None` and
//! goes to the strict reader.
//!
//! Cost: about ten nanoseconds a feature on a machine of 2021.

use super::labels::LabelReader;
use super::quick::{Grammar, Plain, Room};
use super::quick_numbers::integer;
use super::vw::Head;
use super::walk::Walk;
use crate::four_pairs::FOUR;
use crate::vectors::Vectors;

/// svmlight text.
pub struct Svmlight;

impl Grammar for Svmlight {
    const ENDS: [u8; 2] = [b':', b'#'];

    #[inline(always)]
    fn read<V: Vectors>(
        vectors: V,
        text: &[u8],
        marks: &[u32],
        start: usize,
        labels: &mut LabelReader,
        mut room: Room<'_>,
    ) -> Option<Plain> {
        let mut walk = Walk::from_start(text, marks, start)?;
        if walk.is_empty() || walk.separator == b':' {
            return None;
        }
        let label = labels.read(text, walk.word()).ok()?;
        let (mut lowest, mut features) = (0, 0);
        while walk.separator == b' ' {
            walk.step()?;
            if walk.separator != b':' {
                if walk.is_empty() {
                    continue;
                }
                return None;
            }
            let index = integer(text, walk.start, walk.end)?;
            walk.step()?;
            let value = walk.float()?;
            if index < lowest {
                return None;
            }
            lowest = index + 1;
            room.set(features, index, value)?;
            features += 1;
            walk.step_by_fours(vectors, |(indices, values)| {
                let ascend = indices.is_sorted_by(|one, other| one < other);
                if u64::from(indices[0]) < lowest || !ascend {
                    return None;
                }
                lowest = u64::from(indices[FOUR - 1]) + 1;
                room.set_four(features, (indices, values))?;
                features += FOUR;
                Some(())
            })?;
        }
        let head = Head { label, importance: 1.0, tag: start..start };
        Some(Plain { head, features, marks: walk.marks_of_line()? })
    }
}
