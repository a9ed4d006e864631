//! Stage two for Vowpal Wabbit's text: reads a plain line from separator to separator.
//!
//! The grammar is that of `read/format/vw.rs`. A line is plain if it has blanks and no tabs between the
//! words, a name for every feature, and valid numbers. Any other line, good or bad, gives `None` and goes to
//! the strict reader.
//!
//! Cost: about 20 nanoseconds for a name, ten for a number with a fraction, on a machine of 2021. Names up to
//! 15 bytes are hashed eight at a time ([`super::names`]).

use super::cursor::Cursor;
use super::numbers::{digits_at_start, number};
use super::{Grammar, NamedBlock, Plain, Scratch};
use crate::example::hash;
use crate::read::format::{Head, LabelReader};
use crate::simd::Simd;
use crate::simd::pairs4::FOUR;

/// The grammar of Vowpal Wabbit's text. With `BLOCKS` the blocks of a line are noted.
pub struct Vw<const BLOCKS: bool>;

impl<const BLOCKS: bool> Grammar for Vw<BLOCKS> {
    const ENDS: [u8; 2] = [b':', b'|'];
    const NOTES_BLOCKS: bool = BLOCKS;

    #[inline(always)]
    fn read<V: Simd>(
        simd: V,
        text: &[u8],
        separators: &[u32],
        start: usize,
        labels: &mut LabelReader,
        mut scratch: Scratch<'_>,
    ) -> Option<Plain> {
        let (passed, head) = read_head(text, separators, start, labels)?;
        let mut cursor = Cursor::from_separator(text, separators, passed)?;
        let (mut features, mut spaces) = (0, 0);
        while cursor.separator == b'|' {
            cursor.step()?;
            let namespace = space_of(text, cursor, spaces, &mut scratch)?;
            spaces += 1;
            let (name, first) = (cursor.word(), features);
            let weight = weight_of(&mut cursor)?;
            // Nearly every bar follows a blank, without a name between them.
            while cursor.separator == b' ' && !cursor.step_over(b'|') {
                cursor.step()?;
                write_name(text, cursor, namespace, features, &mut scratch)?;
                let named = !cursor.is_empty();
                if cursor.separator != b':' {
                    scratch.set_value(features, weight)?;
                    features += usize::from(named);
                    continue;
                }
                cursor.step()?;
                let value = weight * cursor.float()?;
                if !named || !value.is_finite() {
                    return None;
                }
                scratch.set_value(features, value)?;
                features += 1;
                cursor.step_by_fours(simd, |(numbers, values)| {
                    let hashes = numbers.map(|number| number.wrapping_add(namespace as u32));
                    scratch.names.pass(features, FOUR)?;
                    scratch.set_four(features, (hashes, values.map(|value| value * weight)))?;
                    features += FOUR;
                    Some(())
                })?;
            }
            if BLOCKS {
                scratch.blocks.push(NamedBlock { namespace: name, features: first..features });
            }
        }
        let separators = cursor.separators_of_line()?;
        scratch.hash_names(simd, features);
        Some(Plain { head, features, separators })
    }
}

/// The weight of a namespace, if one follows its name; otherwise 1.
#[inline(always)]
fn weight_of(cursor: &mut Cursor<'_>) -> Option<f32> {
    if cursor.separator != b':' {
        return Some(1.0);
    }
    let named = !cursor.is_empty();
    cursor.step()?;
    if named { cursor.float() } else { None }
}

/// Read everything before the first bar; also returns the number of separators up to and including the bar.
#[inline(always)]
fn read_head(
    text: &[u8],
    separators: &[u32],
    start: usize,
    labels: &mut LabelReader,
) -> Option<(usize, Head)> {
    let (blank, bar) = (*separators.first()? as usize, *separators.get(1)? as usize);
    if text.get(blank..blank + 2) != Some(b" |") || blank == start {
        return read_any_head(text, separators, start, labels);
    }
    debug_assert_eq!(bar, blank + 1);
    let label = labels.read(text, start..blank).ok()?;
    Some((2, Head { label, importance: 1.0, base: 0.0, tag: bar..bar }))
}

/// Read a head with an importance, a tag or no label, by the strict reader.
#[inline(never)]
fn read_any_head(
    text: &[u8],
    separators: &[u32],
    start: usize,
    labels: &mut LabelReader,
) -> Option<(usize, Head)> {
    let byte = |&separator: &u32| text.get(separator as usize).copied();
    let count =
        separators.iter().position(|separator| !matches!(byte(separator), Some(b' ' | b':')))?;
    let bar = separators[count] as usize;
    if text.get(bar) != Some(&b'|') {
        return None;
    }
    let mut head = Head::read(text.get(start..)?, bar - start, labels).ok()?;
    head.tag = start + head.tag.start..start + head.tag.end;
    Some((count + 1, head))
}

/// The hash of the namespace whose name is this word, at position `place` in the line.
#[inline(always)]
fn space_of(text: &[u8], name: Cursor<'_>, place: usize, scratch: &mut Scratch<'_>) -> Option<u64> {
    let bytes: &[u8; 16] = text.get(name.start..)?.first_chunk()?;
    let compute = || Some(hash::namespace(text.get(name.word())?));
    scratch.names.space(place, bytes, name.word().len(), compute)
}

/// Write feature `k`, whose name is this word. For an empty name nothing that counts is written.
#[inline(always)]
fn write_name(
    text: &[u8],
    name: Cursor<'_>,
    namespace: u64,
    k: usize,
    scratch: &mut Scratch<'_>,
) -> Option<()> {
    let length = name.end - name.start;
    let bytes: &[u8; 16] = text.get(name.start..)?.first_chunk()?;
    // All bytes are tested at once: many names begin with a digit, and more than one branch per name would
    // often be mispredicted.
    if length < 16 && (length == 0 || digits_at_start(bytes) < length) {
        return scratch.names.set(k, bytes, length, namespace);
    }
    let hash = match length {
        1..=15 => number(bytes, length).wrapping_add(namespace),
        _ => hash::feature(text.get(name.word())?, namespace),
    };
    scratch.names.pass(k, 1)?;
    scratch.set_slot(k, hash)
}
