//! Stage two for svmlight text: reads a plain line from separator to separator.
//!
//! The grammar is that of `read/format/svmlight.rs`. A line is plain if it is a label and features with
//! ascending indices, with blanks between them and no comment. Any other line, good or bad, gives `None` and
//! goes to the strict reader.
//!
//! Cost: about ten nanoseconds a feature on a machine of 2021.

use super::cursor::Cursor;
use super::numbers::integer;
use super::{Grammar, Plain, Scratch};
use crate::read::format::{Head, LabelReader};
use crate::simd::Simd;
use crate::simd::pairs4::FOUR;

/// The grammar of svmlight text.
pub struct Svmlight;

impl Grammar for Svmlight {
    const ENDS: [u8; 2] = [b':', b'#'];
    const NOTES_BLOCKS: bool = false;

    #[inline(always)]
    fn read<V: Simd>(
        simd: V,
        text: &[u8],
        separators: &[u32],
        start: usize,
        labels: &mut LabelReader,
        mut scratch: Scratch<'_>,
    ) -> Option<Plain> {
        let mut cursor = Cursor::from_start(text, separators, start)?;
        if cursor.is_empty() || cursor.separator == b':' {
            return None;
        }
        let label = labels.read(text, cursor.word()).ok()?;
        let (mut lowest, mut features) = (0, 0);
        while cursor.separator == b' ' {
            cursor.step()?;
            if cursor.separator != b':' {
                if cursor.is_empty() {
                    continue;
                }
                return None;
            }
            let index = integer(text, cursor.start, cursor.end)?;
            cursor.step()?;
            let value = cursor.float()?;
            if index < lowest {
                return None;
            }
            lowest = index + 1;
            scratch.set(features, index, value)?;
            features += 1;
            cursor.step_by_fours(simd, |(indices, values)| {
                let ascend = indices.is_sorted_by(|one, other| one < other);
                if u64::from(indices[0]) < lowest || !ascend {
                    return None;
                }
                lowest = u64::from(indices[FOUR - 1]) + 1;
                scratch.set_four(features, (indices, values))?;
                features += FOUR;
                Some(())
            })?;
        }
        let head = Head { label, importance: 1.0, base: 0.0, tag: start..start };
        Some(Plain { head, features, separators: cursor.separators_of_line()? })
    }
}
