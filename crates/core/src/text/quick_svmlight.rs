//! Stage two for svmlight text: from mark to mark through a plain line.
//!
//! The grammar is that of [`super::svmlight`]. A line is plain if it is a label and features with
//! ascending indices, with blanks between them and no comment. Any other line, good or bad, is `None` and
//! goes to the strict reader.
//!
//! Cost: about ten nanoseconds a feature on a machine of 2021.

use super::labels::LabelReader;
use super::quick::{Grammar, Plain, Room, float, read_fours};
use super::quick_numbers::integer;
use super::vw::Head;
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
        let mut end = *marks.first()? as usize;
        let mut next = 1;
        let mut separator = *text.get(end)?;
        if end == start || separator == b':' {
            return None;
        }
        let label = labels.read(text, start..end).ok()?;
        let (mut lowest, mut features) = (0, 0);
        while separator == b' ' {
            let at = end + 1;
            end = *marks.get(next)? as usize;
            next += 1;
            separator = *text.get(end)?;
            if separator == b':' {
                let stop = *marks.get(next)? as usize;
                next += 1;
                let index = integer(text, at, end)?;
                let value = float(text, end + 1, stop)?;
                if index < lowest {
                    return None;
                }
                lowest = index + 1;
                room.set(features, index, value)?;
                features += 1;
                separator = *text.get(stop)?;
                end = stop;
                if separator == b' ' {
                    let seen = features;
                    read_fours(vectors, text, &marks[next - 1..], |(indices, values)| {
                        let ascend = indices.is_sorted_by(|one, other| one < other);
                        if u64::from(indices[0]) < lowest || !ascend {
                            return None;
                        }
                        lowest = u64::from(indices[FOUR - 1]) + 1;
                        room.set_four(features, (indices, values))?;
                        features += FOUR;
                        Some(())
                    })?;
                    next += 2 * (features - seen);
                    end = marks[next - 1] as usize;
                    separator = *text.get(end)?;
                }
            } else if end > at {
                return None;
            }
        }
        let windows = separator == b'\r' && text.get(end + 1) == Some(&b'\n');
        let done = separator == b'\n' || windows;
        let head = Head { label, importance: 1.0, tag: start..start };
        done.then_some(Plain { head, features, marks: next + usize::from(windows) })
    }
}
