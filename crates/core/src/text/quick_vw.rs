//! Stage two for Vowpal Wabbit's text: from mark to mark through a plain line.
//!
//! The grammar is that of [`super::vw`]. A line is plain if nothing in it needs a second look: blanks
//! between the words and no tabs, every feature with a name, numbers that are numbers. Any other line,
//! good or bad, is `None` and goes to the strict reader.
//!
//! Cost: about 20 nanoseconds for a name, ten for a number with a fraction, on a machine of 2021. Names up to
//! 15 bytes are hashed eight at a time ([`super::quick_names`]).

use super::labels::LabelReader;
use super::quick::{Grammar, Plain, Room};
use super::quick_numbers::{digits_at_start, number};
use super::vw::Head;
use super::walk::Walk;
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
        let (passed, head) = read_head(text, marks, start, labels)?;
        let mut walk = Walk::from_mark(text, marks, passed)?;
        let (mut features, mut spaces) = (0, 0);
        while walk.separator == b'|' {
            walk.step()?;
            let namespace = space_of(text, walk, spaces, &mut room)?;
            spaces += 1;
            let weight = weight_of(&mut walk)?;
            // Nearly every bar follows a blank; no name stands between them.
            while walk.separator == b' ' && !walk.step_over(b'|') {
                walk.step()?;
                write_name(text, walk, namespace, features, &mut room)?;
                let named = !walk.is_empty();
                if walk.separator != b':' {
                    room.set_value(features, weight)?;
                    features += usize::from(named);
                    continue;
                }
                walk.step()?;
                let value = weight * walk.float()?;
                if !named || !value.is_finite() {
                    return None;
                }
                room.set_value(features, value)?;
                features += 1;
                walk.step_by_fours(vectors, |(numbers, values)| {
                    let hashes = numbers.map(|number| number.wrapping_add(namespace as u32));
                    room.names.pass(features, FOUR)?;
                    room.set_four(features, (hashes, values.map(|value| value * weight)))?;
                    features += FOUR;
                    Some(())
                })?;
            }
        }
        let marks = walk.marks_of_line()?;
        room.hash_names(vectors, features);
        Some(Plain { head, features, marks })
    }
}

/// The weight of a namespace, if one follows its name; 1 without.
#[inline(always)]
fn weight_of(walk: &mut Walk<'_>) -> Option<f32> {
    if walk.separator != b':' {
        return Some(1.0);
    }
    let named = !walk.is_empty();
    walk.step()?;
    if named { walk.float() } else { None }
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

/// The hash of the namespace whose name is this word, the one at `place` of the line.
#[inline(always)]
fn space_of(text: &[u8], name: Walk<'_>, place: usize, room: &mut Room<'_>) -> Option<u64> {
    let bytes: &[u8; 16] = text.get(name.start..)?.first_chunk()?;
    let compute = || Some(hash::namespace(text.get(name.word())?));
    room.names.space(place, bytes, name.word().len(), compute)
}

/// Write down feature `k`, whose name is this word; nothing that counts for a name that is empty.
#[inline(always)]
fn write_name(
    text: &[u8],
    name: Walk<'_>,
    namespace: u64,
    k: usize,
    room: &mut Room<'_>,
) -> Option<()> {
    let length = name.end - name.start;
    let bytes: &[u8; 16] = text.get(name.start..)?.first_chunk()?;
    // Asked of all bytes at once: many names begin with a digit, and more than one branch a name would
    // often be foreseen wrongly.
    if length < 16 && (length == 0 || digits_at_start(bytes) < length) {
        return room.names.set(k, bytes, length, namespace);
    }
    let hash = match length {
        1..=15 => number(bytes, length).wrapping_add(namespace),
        _ => hash::feature(text.get(name.word())?, namespace),
    };
    room.names.pass(k, 1)?;
    room.set_slot(k, hash)
}
