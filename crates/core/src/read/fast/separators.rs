//! Stage one of the fast readers: the positions of all bytes that may end a word.
//!
//! ```text
//! text        1 |user age:3 new\n
//! separators   ^^    ^   ^ ^   ^
//! ```
//!
//! A separator is a control character, a blank if the grammar says so, or one of two more bytes that the grammar names. Between two
//! separators is a word of other bytes. Stage two goes from separator to separator and never searches for the
//! end of a word, so out-of-order execution overlaps consecutive words.
//!
//! Cost: a few instructions per 64 bytes and one or two per separator.

use std::ops::Range;

use crate::simd::{GROUP, Simd};

/// The number of bytes, of any content, that must follow a text that is searched.
pub const PADDING: usize = GROUP;

/// The separators of a piece of text, in memory that is reused from piece to piece.
#[derive(Clone, Debug, Default)]
pub struct Separators {
    places: Vec<u32>,
}

impl Separators {
    /// Find the positions of the separators in the bytes `piece` of `text`: bytes up to `low`, and `also`.
    #[inline(always)]
    pub fn find<V: Simd>(
        &mut self,
        simd: V,
        text: &[u8],
        piece: Range<usize>,
        low: u8,
        also: [u8; 2],
    ) -> &[u32] {
        let most = piece.len() + GROUP;
        if self.places.len() < most {
            self.places.resize(most, 0);
        }
        let mut count = 0;
        let padded = &text[piece.start..piece.end + PADDING];
        for (k, group) in padded.as_chunks::<GROUP>().0.iter().enumerate() {
            let base = k * GROUP;
            if base >= piece.len() {
                break;
            }
            let separators = simd.separators(group, low, also) & first_bits(piece.len() - base);
            if let Some(scratch) = self.places[count..].first_chunk_mut() {
                write_positions(separators, (piece.start + base) as u32, scratch);
            }
            count += separators.count_ones() as usize;
        }
        &self.places[..count]
    }
}

#[inline(always)]
fn first_bits(count: usize) -> u64 {
    if count >= GROUP { u64::MAX } else { (1 << count) - 1 }
}

/// Write the positions of the set bits, ascending. What follows them in `scratch` is undefined.
#[inline(always)]
fn write_positions(mut bits: u64, base: u32, scratch: &mut [u32; GROUP]) {
    // Eight at a time, without testing how many there are: a branch per separator would often be
    // mispredicted.
    for eight in scratch.as_chunks_mut::<8>().0 {
        for place in eight {
            *place = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    #[test]
    fn marks_are_all_there_and_in_order() {
        let mut text: Vec<u8> = (0..10_000u32).map(|k| (k * k / 7 % 251) as u8).collect();
        text.extend([b' '; 40]);
        let piece = 3..text.len();
        let naive: Vec<u32> = piece
            .clone()
            .filter(|&k| text[k] <= b' ' || text[k] == b':' || text[k] == b'|')
            .map(|k| k as u32)
            .collect();
        text.extend([0; PADDING]);
        let mut separators = Separators::default();
        assert_eq!(separators.find(Portable, &text, piece, b' ', [b':', b'|']), naive);
        assert!(separators.find(Portable, &text, 5..5, b' ', [b':', b'|']).is_empty());
    }
}
