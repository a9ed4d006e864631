//! Parses short numbers, eight digits at a time.
//!
//! ```text
//! decimal = ["-"] digits ["." [digits]] | ["-"] "." digits      at most 16 bytes after the sign
//! integer = digits                                               at most 16
//! ```
//!
//! The result is exactly that of `read/format/numbers.rs`: the digits are an integer below 2^53, the power of
//! ten is exact, and if it matters a single division rounds once, as strtod does. Longer numbers, exponents
//! and text that is not a number give `None`; the strict reader handles them.
//!
//! The digits of a word are loaded at once, the point is removed by shifts, and three multiplications combine
//! eight digits. No step depends on the number of digits.

const ZEROS: u64 = 0x3030_3030_3030_3030;
const ZERO_POINT: u16 = u16::from_le_bytes(*b"0.");
const POINTS: u64 = 0x2e2e_2e2e_2e2e_2e2e;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// Every integer up to this one is exact in float64.
const EXACT: u64 = 1 << 53;

const TENS: [f64; 17] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];

const TENTHS: [f64; 16] = [
    1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14,
    1e-15,
];

/// The parts of a decimal.
struct Parts {
    /// All digits, as one number.
    digits: f64,
    /// The number of digits after the point.
    fraction: usize,
    negative: bool,
}

/// The decimal in the bytes from `start` to `end`, followed by at least 16 more bytes: rounded to the nearest
/// float64, and from that to the nearest float32.
///
/// The latency of a division would delay the numbers that follow. A product with the inverse of the power is
/// off by a relative 2⁻⁵² at most, two or three units in the last place. It matters only next to a tie
/// between two float32, for one number in sixty million.
#[inline(always)]
pub fn decimal(text: &[u8], start: usize, end: usize) -> Option<f32> {
    let Parts { digits, fraction, negative } = parts(text, start, end)?;
    let mut number = digits * TENTHS[fraction & 15];
    if is_near_tie(number) {
        number = digits / TENS[fraction & 15];
    }
    Some(f32::from_bits((number as f32).to_bits() | u32::from(negative) << 31))
}

/// Whether a float64 is within a few units in the last place of a tie between two normal float32.
#[inline(always)]
fn is_near_tie(number: f64) -> bool {
    const NEAR: u64 = 4;
    const TIE: u64 = 1 << 28;
    const REST: u64 = (1 << 29) - 1;
    (number.to_bits() & REST).wrapping_sub(TIE - NEAR) <= 2 * NEAR
}

#[inline(always)]
fn parts(text: &[u8], start: usize, end: usize) -> Option<Parts> {
    let bytes = word(text, start)?;
    let negative = usize::from(bytes as u8 == b'-');
    let length = end.wrapping_sub(start + negative);
    let bytes = bytes >> (8 * negative);
    let (digits, fraction) = match length {
        // Most fractions are below one; then there is no point to remove.
        3..=10 if bytes as u16 == ZERO_POINT => {
            (eight(aligned(word(text, start + negative + 2)?, length - 2))?, length - 2)
        }
        1..=7 => short(bytes, length)?,
        8..=16 => long(text, start + negative, length)?,
        _ => return None,
    };
    // A signed integer is converted to float in one instruction, an unsigned one in five.
    Some(Parts { digits: digits as i64 as f64, fraction, negative: negative == 1 })
}

/// The integer in the bytes from `start` to `end`, followed by at least 16 more bytes.
#[inline(always)]
pub fn integer(text: &[u8], start: usize, end: usize) -> Option<u64> {
    match end.wrapping_sub(start) {
        length @ 1..=8 => eight(aligned(word(text, start)?, length)),
        length @ 9..=16 => {
            let first = eight(word(text, start)? ^ ZEROS)?;
            let rest = eight(aligned(word(text, start + 8)?, length - 8))?;
            Some(first * TENS[length - 8] as u64 + rest)
        }
        _ => None,
    }
}

/// The number of digits at the start of the bytes.
#[inline(always)]
pub fn digits_at_start(bytes: &[u8; 16]) -> usize {
    let digits = u128::from_le_bytes(*bytes) ^ twice(ZEROS);
    // The carry of a byte above nine affects only later bytes.
    let above_nine = (digits.wrapping_add(twice(0x7676_7676_7676_7676)) | digits) & twice(HIGH);
    above_nine.trailing_zeros() as usize / 8
}

#[inline(always)]
fn twice(word: u64) -> u128 {
    u128::from(word) << 64 | u128::from(word)
}

/// Eight bytes as a little-endian word.
#[inline(always)]
fn word(text: &[u8], start: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(start..)?.first_chunk()?))
}

/// The digits of `length` bytes, 1 to 7, without the point, and the number of digits after it.
#[inline(always)]
fn short(word: u64, length: usize) -> Option<(u64, usize)> {
    let point = first_point(word).min(length);
    let before = low_bytes(point);
    let closed = word & before | word >> 8 & !before;
    let has_point = usize::from(point < length);
    let count = length - has_point;
    if count == 0 {
        return None;
    }
    Some((eight(aligned(closed, count))?, count - point))
}

/// The digits of `length` bytes, 8 to 16, without the point, and the number of digits after it.
fn long(text: &[u8], start: usize, length: usize) -> Option<(u64, usize)> {
    let (low, high) = (word(text, start)?, word(text, start + 8)?);
    if low as u16 == ZERO_POINT {
        // At most 14 digits, which are exact in float64.
        return Some((integer(text, start + 2, start + length)?, length - 2));
    }
    let point = match first_point(low) {
        8 => 8 + first_point(high),
        point => point,
    };
    let point = point.min(length);
    let has_point = usize::from(point < length);
    let count = length - has_point;
    let whole = u128::from(high) << 64 | u128::from(low);
    let before = (1u128 << (8 * point % 128)).wrapping_sub(1);
    let before = if point == 16 { u128::MAX } else { before };
    let closed = whole & before | whole >> 8 & !before;
    let digits = (closed ^ twice(ZEROS)) << (128 - 8 * count);
    let digits = eight(digits as u64)? * 100_000_000 + eight((digits >> 64) as u64)?;
    (digits <= EXACT).then_some((digits, count - point))
}

/// The position of the first point, or 8.
#[inline(always)]
fn first_point(word: u64) -> usize {
    let different = word ^ POINTS;
    let zero = different.wrapping_sub(ONES) & !different & HIGH;
    zero.trailing_zeros() as usize / 8
}

/// A mask of the first `count` bytes, 0 to 8.
#[inline(always)]
fn low_bytes(count: usize) -> u64 {
    // Two shifts: a single shift by 64 would be a shift by 0.
    !(u64::MAX << (4 * count) << (4 * count))
}

/// The first `count` bytes, 1 to 8, right-aligned with zeros before them.
#[inline(always)]
fn aligned(word: u64, count: usize) -> u64 {
    (word ^ ZEROS) << (64 - 8 * count)
}

/// The number in the first `length` of these bytes, 1 to 15, all of which are known to be digits.
#[inline(always)]
pub fn number(bytes: &[u8; 16], length: usize) -> u64 {
    let all = u128::from_le_bytes(*bytes);
    if length <= 8 {
        return of_eight(aligned(all as u64, length));
    }
    let (first, rest) = (all as u64 ^ ZEROS, aligned((all >> 64) as u64, length - 8));
    of_eight(first) * TENS[length - 8] as u64 + of_eight(rest)
}

/// The number written as these eight digits, the first in the lowest byte; `None` if one is not a digit.
#[inline(always)]
fn eight(digits: u64) -> Option<u64> {
    let above_nine = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & HIGH;
    (above_nine == 0).then(|| of_eight(digits))
}

/// The number written as these eight digits, all of which are known to be digits.
#[inline(always)]
fn of_eight(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(text: &str) -> Vec<u8> {
        [b"..", text.as_bytes(), b" 1.5:9.9.9|garbage 77"].concat()
    }

    fn float(text: &str) -> Option<f32> {
        decimal(&padded(text), 2, 2 + text.len())
    }

    fn whole(text: &str) -> Option<u64> {
        integer(&padded(text), 2, 2 + text.len())
    }

    #[test]
    fn decimals_are_those_of_the_standard_library() {
        for text in [
            "0",
            "1",
            "-1",
            "-0",
            "0.5",
            ".5",
            "5.",
            "-.5",
            "-5.",
            "0.1234",
            "12345678",
            "1234567.",
            ".1234567",
            "0.123456",
            "-0.123456",
            "123456789",
            "0.12345678",
            "0.0123457",
            "1234567890123456",
            "9007199254740992",
            "0.12345678901234",
            "-123456789.123456",
            "000000000000001",
            "0.0000001",
            "12345678.",
            "1234567.8",
            ".123456789012345",
            "123456789012345.",
            "00000000.0000001",
        ] {
            let oracle = text.parse::<f64>().unwrap() as f32;
            assert_eq!(float(text).map(f32::to_bits), Some(oracle.to_bits()), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_left_to_the_strict_reader() {
        for text in [
            "",
            "-",
            ".",
            "-.",
            "+1",
            "1e5",
            "nan",
            "inf",
            "1x",
            "x1",
            "1..2",
            "1.2.3",
            "--1",
            "1-",
            "1,5",
            "/",
            ":",
            "12345678901234567",
            "9007199254740993",
            "0.123456789012345",
            "1.2345678.9",
            "123456789x",
            "é",
            "1\u{80}",
            "1234567a.1",
            "0.1234567890\u{ff}",
        ] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn integers_have_up_to_sixteen_digits() {
        for number in [0, 7, 42, 12_345_678, 123_456_789, 9_999_999_999_999_999u64] {
            assert_eq!(whole(&number.to_string()), Some(number));
        }
        assert_eq!(whole("007"), Some(7));
        for length in 1..16 {
            let told: u64 = "987654321098765"[..length].parse().unwrap();
            assert_eq!(number(b"987654321098765:", length), told);
        }
        assert_eq!(whole("0000000000000042"), Some(42));
        for text in
            ["", "-1", "1.5", "x", "12345678x", "1234567890123456x", "12345678901234567", "1:2"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn digits_are_counted_up_to_the_first_other_byte() {
        for count in 0..=16 {
            for other in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                let mut bytes = *b"9876543210099999";
                bytes[count..].fill(other);
                assert_eq!(digits_at_start(&bytes), count, "{other}");
            }
        }
    }

    /// A pseudo-random decimal of up to 18 digits, a sign and a point.
    fn some_decimal(state: &mut u64) -> String {
        let mut next = |below: u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % below
        };
        let sign = if next(4) == 0 { "-" } else { "" };
        let (before, behind) = (next(9) as usize, next(9) as usize);
        let digits = |count: usize, next: &mut dyn FnMut(u64) -> u64| -> String {
            (0..count).map(|_| char::from(b'0' + next(10) as u8)).collect()
        };
        let whole = if next(2) == 0 { "0".to_owned() } else { digits(before, &mut next) };
        let fraction = digits(behind, &mut next);
        if next(5) == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }

    fn check_decimals(count: usize) {
        let mut state = 2010;
        let mut read = 0;
        for _ in 0..count {
            let text = some_decimal(&mut state);
            let oracle = text.parse::<f64>().map(|oracle| oracle as f32).ok();
            if let Some(number) = float(&text) {
                assert_eq!(Some(number.to_bits()), oracle.map(f32::to_bits), "{text}");
                read += 1;
            }
        }
        // The others have no digit, or more digits than are handled here.
        assert!(read > count * 9 / 10, "{read} of {count}");
    }

    #[test]
    fn random_decimals_are_those_of_the_standard_library() {
        check_decimals(20_000);
    }

    #[test]
    fn what_lies_next_to_a_tie_is_rounded_as_the_standard_library_does() {
        let (mut state, mut ties) = (1u64, 0);
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // From a thousandth to a thousand, at a tie between two float32 or slightly beside it.
            let exponent = 127 - 10 + (state >> 60) as u32;
            let one = f32::from_bits(exponent << 23 | (state >> 37) as u32 & 0x007f_ffff);
            let tie = (f64::from(one) + f64::from(one.next_up())) / 2.0;
            for text in [format!("{tie:.13}"), format!("{tie:.10}"), format!("{tie}")] {
                if let Some(told) = float(&text) {
                    let oracle = text.parse::<f64>().unwrap() as f32;
                    assert_eq!(told.to_bits(), oracle.to_bits(), "{text}");
                    ties += usize::from(is_near_tie(text.parse().unwrap()));
                }
            }
        }
        assert!(ties > 1000, "{ties}");
    }

    #[test]
    #[ignore = "ten million numbers: run by hand after a change"]
    fn ten_million_random_decimals_are_those_of_the_standard_library() {
        check_decimals(10_000_000);
    }
}
