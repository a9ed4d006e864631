//! Stage two for Vowpal Wabbit's text: from mark to mark through a plain line.
//!
//! The grammar is that of [`super::vw`]. A line is plain if nothing in it needs a second look: blanks
//! between the words and no tabs, every feature with a name, numbers that are numbers. Any other line,
//! good or bad, is `None` and goes to the strict reader.
//!
//! Cost: about ten nanoseconds a feature on a machine of 2021. Names up to 15 bytes are hashed eight at a
//! time ([`super::quick_names`]).

use super::labels::LabelReader;
use super::quick::{Grammar, Plain, Room, float, read_fours};
use super::quick_numbers::{digits_at_start, number};
use super::vw::Head;
use crate::four_pairs::FOUR;
use crate::hash;
use crate::vectors::Vectors;

/// Vowpal Wabbit's text.
pub struct Vw;

impl Grammar for Vw {
    const ENDS: [u8; 2] = [b':', b'|'];

    #[inline(always)]
    fn read<V: Vectors>(
        vectors: V,
        text: &[u8],
        marks: &[u32],
        start: usize,
        labels: &mut LabelReader,
        mut room: Room<'_>,
    ) -> Option<Plain> {
        let (mut next, head) = read_head(text, marks, start, labels)?;
        let mut at = *marks.get(next - 1)? as usize + 1;
        let mut end;
        let mut separator;
        let (mut features, mut spaces) = (0, 0);
        loop {
            // The name and the weight of a namespace.
            end = *marks.get(next)? as usize;
            next += 1;
            separator = *text.get(end)?;
            let namespace = space_of(text, at, end, spaces, &mut room)?;
            spaces += 1;
            let mut weight = 1.0;
            if separator == b':' {
                if end == at {
                    return None;
                }
                let stop = *marks.get(next)? as usize;
                next += 1;
                weight = float(text, end + 1, stop)?;
                separator = *text.get(stop)?;
                end = stop;
            }
            at = end + 1;
            // Its features.
            while separator == b' ' {
                if text.get(at) == Some(&b'|') {
                    // Nearly every bar follows a blank; no name stands between them.
                    end = at;
                    next += 1;
                    separator = b'|';
                    break;
                }
                end = *marks.get(next)? as usize;
                next += 1;
                separator = *text.get(end)?;
                write_name(text, at, end, namespace, features, &mut room)?;
                let named = end > at;
                at = end + 1;
                if separator != b':' {
                    room.set_value(features, weight)?;
                    features += usize::from(named);
                    continue;
                }
                end = *marks.get(next)? as usize;
                next += 1;
                let value = weight * float(text, at, end)?;
                if !named || !value.is_finite() {
                    return None;
                }
                room.set_value(features, value)?;
                features += 1;
                separator = *text.get(end)?;
                if separator == b' ' {
                    let seen = features;
                    read_fours(vectors, text, &marks[next - 1..], |(numbers, values)| {
                        let hashes = numbers.map(|number| number.wrapping_add(namespace as u32));
                        room.pass(features, FOUR)?;
                        room.set_four(features, (hashes, values.map(|value| value * weight)))?;
                        features += FOUR;
                        Some(())
                    })?;
                    next += 2 * (features - seen);
                    end = marks[next - 1] as usize;
                    separator = *text.get(end)?;
                }
                at = end + 1;
            }
            if separator != b'|' {
                break;
            }
            at = end + 1;
        }
        let windows = separator == b'\r' && text.get(end + 1) == Some(&b'\n');
        let done = separator == b'\n' || windows;
        room.hash_names(vectors, features);
        done.then_some(Plain { head, features, marks: next + usize::from(windows) })
    }
}

/// What stands before the first bar, and the number of marks up to and with it.
#[inline(always)]
fn read_head(
    text: &[u8],
    marks: &[u32],
    start: usize,
    labels: &mut LabelReader,
) -> Option<(usize, Head)> {
    let (blank, bar) = (*marks.first()? as usize, *marks.get(1)? as usize);
    if text.get(blank..blank + 2) != Some(b" |") || blank == start {
        return read_any_head(text, marks, start, labels);
    }
    debug_assert_eq!(bar, blank + 1);
    let label = labels.read(text, start..blank).ok()?;
    Some((2, Head { label, importance: 1.0, tag: bar..bar }))
}

/// The same for heads with an importance, a tag or no label; the strict reader knows them all.
#[inline(never)]
fn read_any_head(
    text: &[u8],
    marks: &[u32],
    start: usize,
    labels: &mut LabelReader,
) -> Option<(usize, Head)> {
    let byte = |&mark: &u32| text.get(mark as usize).copied();
    let count = marks.iter().position(|mark| !matches!(byte(mark), Some(b' ' | b':')))?;
    let bar = marks[count] as usize;
    if text.get(bar) != Some(&b'|') {
        return None;
    }
    let mut head = Head::read(text.get(start..)?, bar - start, labels).ok()?;
    head.tag = start + head.tag.start..start + head.tag.end;
    Some((count + 1, head))
}

/// The hash of the namespace whose name fills the bytes from `start` to `end`.
#[inline(always)]
fn space_of(
    text: &[u8],
    start: usize,
    end: usize,
    place: usize,
    room: &mut Room<'_>,
) -> Option<u64> {
    let bytes: &[u8; 16] = text.get(start..)?.first_chunk()?;
    room.space(place, bytes, end - start, || Some(hash::namespace(text.get(start..end)?)))
}

/// Write down feature `k`, whose name fills the bytes from `start` to `end`; nothing that counts for a
/// name that is empty.
#[inline(always)]
fn write_name(
    text: &[u8],
    start: usize,
    end: usize,
    namespace: u64,
    k: usize,
    room: &mut Room<'_>,
) -> Option<()> {
    let length = end - start;
    let bytes: &[u8; 16] = text.get(start..)?.first_chunk()?;
    // Asked of all bytes at once: many names begin with a digit, and more than one branch a name would
    // often be foreseen wrongly.
    if length < 16 && (length == 0 || digits_at_start(bytes) < length) {
        return room.set_name(k, bytes, length, namespace);
    }
    let hash = match length {
        1..=15 => number(bytes, length).wrapping_add(namespace),
        _ => hash::feature(text.get(start..end)?, namespace),
    };
    room.pass(k, 1)?;
    room.set_slot(k, hash)
}
