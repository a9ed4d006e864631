//! Parses four features at once by AVX2.

use std::arch::x86_64::{__m128i, __m256d, __m256i};

use bytemuck::cast;
use pulp::x86::V3;

use super::{FOUR, Pairs4, SEPARATORS};

/// The bytes around a colon: eight bytes that end with an integer; `:0.`; eight bytes that start with a
/// fraction.
type Window = [u8; FRACTION + 8];
const COLON: usize = 8;
const FRACTION: usize = COLON + 3;

/// Parse the features between these separators, the first of which is known to be a blank.
#[inline(always)]
pub fn read(simd: V3, text: &[u8], separators: &[u32; SEPARATORS]) -> Option<Pairs4> {
    let [_, first, blank, second, next_blank, third, last_blank, fourth, _] = *separators;
    let windows =
        [window(text, first)?, window(text, second)?, window(text, third)?, window(text, fourth)?];
    if !(is_blank(text, blank) && is_blank(text, next_blank) && is_blank(text, last_blank)) {
        return None;
    }
    let more_digits = digits_beyond_one(simd, separators);
    let integers = integers(simd, windows, more_digits);
    let fractions = fractions(simd, windows, more_digits);
    if !are_digits(simd, more_digits, integers, fractions) {
        return None;
    }
    let values = simd.avx._mm256_cvtpd_ps(hundred_millionths(simd, numbers(simd, fractions)));
    Some((cast(numbers(simd, integers)), cast(values)))
}

#[inline(always)]
fn window(text: &[u8], colon: u32) -> Option<&Window> {
    let window: &Window = text.get((colon as usize).checked_sub(COLON)?..)?.first_chunk()?;
    (window[COLON..FRACTION] == *b":0.").then_some(window)
}

#[inline(always)]
fn is_blank(text: &[u8], separator: u32) -> bool {
    text.get(separator as usize) == Some(&b' ')
}

/// The number of digits minus one, of integers and fractions alternately.
#[inline(always)]
fn digits_beyond_one(simd: V3, separators: &[u32; SEPARATORS]) -> __m256i {
    let [a, b, c, d, e, f, g, h, i] = *separators;
    let (before, behind) = ([a, b, c, d, e, f, g, h], [b, c, d, e, f, g, h, i]);
    let apart = simd.avx2._mm256_sub_epi32(cast(behind), cast(before));
    // Around an integer: a separator and a digit. Around a fraction: a separator, a zero, a point and a
    // digit.
    simd.avx2._mm256_sub_epi32(apart, cast([2u32, 4, 2, 4, 2, 4, 2, 4]))
}

/// The digits of the integers, right-aligned, with zeros before them.
#[inline(always)]
fn integers(simd: V3, windows: [&Window; FOUR], more_digits: __m256i) -> __m256i {
    let more = simd.avx2._mm256_and_si256(more_digits, simd.avx._mm256_set1_epi64x(7));
    let bits = simd.avx2._mm256_slli_epi64::<3>(more);
    let others = simd.avx2._mm256_sub_epi64(simd.avx._mm256_set1_epi64x(56), bits);
    let own = simd.avx2._mm256_sllv_epi64(simd.avx._mm256_set1_epi64x(-1), others);
    simd.avx2._mm256_and_si256(digits(simd, windows, 0), own)
}

/// The digits of the fractions, left-aligned, with zeros after them.
#[inline(always)]
fn fractions(simd: V3, windows: [&Window; FOUR], more_digits: __m256i) -> __m256i {
    let more = simd.avx2._mm256_srli_epi64::<32>(more_digits);
    let bits = simd.avx2._mm256_slli_epi64::<3>(more);
    let own_bits = simd.avx2._mm256_add_epi64(bits, simd.avx._mm256_set1_epi64x(8));
    let others = simd.avx2._mm256_sllv_epi64(simd.avx._mm256_set1_epi64x(-1), own_bits);
    simd.avx2._mm256_andnot_si256(others, digits(simd, windows, FRACTION))
}

/// Eight bytes of every window as digits. Any byte that is not a digit becomes larger than nine.
#[inline(always)]
fn digits(simd: V3, windows: [&Window; FOUR], at: usize) -> __m256i {
    let [a, b, c, d] = windows;
    let words = [word(a, at), word(b, at), word(c, at), word(d, at)];
    simd.avx2._mm256_xor_si256(cast(words), simd.avx._mm256_set1_epi8(b'0' as i8))
}

#[inline(always)]
fn word(window: &Window, at: usize) -> u64 {
    window[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Whether there are one to eight bytes each, and all of them are digits.
#[inline(always)]
fn are_digits(simd: V3, more_digits: __m256i, integers: __m256i, fractions: __m256i) -> bool {
    let beyond_eight = simd.avx2._mm256_and_si256(more_digits, simd.avx._mm256_set1_epi32(!7));
    let largest = simd.avx2._mm256_max_epu8(integers, fractions);
    let above_nine = simd.avx2._mm256_subs_epu8(largest, simd.avx._mm256_set1_epi8(9));
    let others = simd.avx2._mm256_or_si256(beyond_eight, above_nine);
    simd.avx._mm256_testz_si256(others, others) == 1
}

/// The numbers of four times eight digits, the first digit in the lowest byte.
#[inline(always)]
fn numbers(simd: V3, digits: __m256i) -> __m128i {
    let tens = simd.avx._mm256_set1_epi16(i16::from_le_bytes([10, 1]));
    let pairs = simd.avx2._mm256_maddubs_epi16(digits, tens);
    let hundreds = simd.avx._mm256_set1_epi32(1 << 16 | 100);
    let fours = simd.avx2._mm256_madd_epi16(pairs, hundreds);
    let first = simd.avx2._mm256_mul_epu32(fours, simd.avx._mm256_set1_epi64x(10_000));
    let numbers = simd.avx2._mm256_add_epi64(first, simd.avx2._mm256_srli_epi64::<32>(fours));
    // Each is below 10⁸, so it fits into the lower half.
    let lower = simd.avx2._mm256_permutevar8x32_epi32(numbers, cast([0u32, 2, 4, 6, 0, 2, 4, 6]));
    simd.avx._mm256_castsi256_si128(lower)
}

/// d·10⁻⁸, which rounds to the same float32 as the exact quotient.
///
/// The relative error of the product is at most 2⁻⁵². A tie between two float32 is t/2^q with an odd t below
/// 2²⁵ and q ≥ 25. Its distance from d/10⁸ is |d·2^(q-8) - t·5⁸| / (5⁸·2^q), and the numerator, even minus
/// odd, is at least 1: a relative distance of 2⁻⁴⁴. So no product is rounded to the other side.
#[inline(always)]
fn hundred_millionths(simd: V3, numbers: __m128i) -> __m256d {
    simd.avx._mm256_mul_pd(simd.avx._mm256_cvtepi32_pd(numbers), simd.avx._mm256_set1_pd(1e-8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions of the separators in a text that begins with a blank.
    fn separators(text: &[u8]) -> [u32; SEPARATORS] {
        let mut places = (0..).zip(text).filter(|(_, byte)| matches!(byte, b' ' | b':' | b'\t'));
        [(); SEPARATORS].map(|()| places.next().unwrap().0)
    }

    /// The result for a text with four features, surrounded by padding.
    fn told(text: &str) -> Option<Pairs4> {
        let simd = V3::try_new()?;
        let text = format!("99999999 {text} 99999999:0.9999");
        let shifted = separators(&text.as_bytes()[8..]).map(|separator| separator + 8);
        read(simd, text.as_bytes(), &shifted)
    }

    fn expected(text: &str) -> Pairs4 {
        let pairs: Vec<_> = text.split(' ').map(|pair| pair.split_once(':').unwrap()).collect();
        let integers = [0, 1, 2, 3].map(|k| pairs[k].0.parse().unwrap());
        let values = [0, 1, 2, 3].map(|k| pairs[k].1.parse::<f64>().unwrap() as f32);
        (integers, values)
    }

    #[test]
    fn any_number_of_digits_up_to_eight_is_read() {
        if V3::try_new().is_none() {
            return;
        }
        for length in 1..=8 {
            for other in 1..=8 {
                let (integer, fraction) = (&"98765432"[..length], &"01234567"[..other]);
                for place in 0..FOUR {
                    let mut pairs =
                        ["1:0.5", "23:0.25", "4:0.0", "00:0.99999999"].map(String::from);
                    pairs[place] = format!("{integer}:0.{fraction}");
                    let text = pairs.join(" ");
                    assert_eq!(told(&text), Some(expected(&text)), "{text}");
                }
            }
        }
    }

    #[test]
    fn anything_else_is_left_to_others() {
        for odd in [
            ":0.5",
            "1:0.",
            "123456789:0.5",
            "1:0.123456789",
            "1:1.5",
            "1:1",
            "1:00.5",
            "1:.5",
            "1:-0.5",
            "-1:0.5",
            "1x:0.5",
            "x:0.5",
            "1:0.5x",
            "1:0.x",
            "1:0.5e3",
            "1:0.5.5",
            "é:0.5",
            "1:0.é",
            "1\t0.5",
            "1/:0.5",
            "1:0./",
            "1:0.\u{7f}",
        ] {
            for place in 0..FOUR {
                let mut pairs = ["1:0.5"; FOUR];
                pairs[place] = odd;
                assert_eq!(told(&pairs.join(" ")), None, "{odd} at {place}");
            }
        }
        assert_eq!(told("1:0.5\t2:0.5 3:0.5 4:0.5"), None);
        assert_eq!(told("1:0.5 2:0.5\t3:0.5 4:0.5"), None);
        assert_eq!(told("1:0.5 2:0.5 3:0.5:4:0.5"), None);
    }

    #[test]
    fn nothing_is_read_beyond_the_text() {
        let Some(simd) = V3::try_new() else { return };
        let text = b" 1:0.5 2:0.5 3:0.5 4:0.5 ";
        assert_eq!(read(simd, text, &separators(text)), None);
        assert_eq!(read(simd, text, &[u32::MAX; SEPARATORS]), None);
    }

    fn check_fractions(step: usize) {
        let Some(simd) = V3::try_new() else { return };
        for number in (0..100_000_000).step_by(step) {
            let told = simd.avx._mm256_cvtpd_ps(hundred_millionths(simd, cast([number; 4])));
            let oracle = (f64::from(number) / 1e8) as f32;
            assert_eq!(cast::<_, [f32; 4]>(told)[0].to_bits(), oracle.to_bits(), "{number}");
        }
    }

    #[test]
    fn fractions_are_those_of_the_standard_library() {
        check_fractions(997);
    }

    #[test]
    #[ignore = "all fractions of eight digits: run by hand after a change"]
    fn all_fractions_are_those_of_the_standard_library() {
        check_fractions(1);
    }
}
