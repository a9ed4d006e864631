//! Parses numbers in text: values and labels as floats, indices as integers.
//!
//! ```text
//! float = [sign] (digits ["." [digits]] | "." digits) [("e" | "E") [sign] digits]
//! index = digits
//! ```
//!
//! A float is read exactly as float64 and then rounded to float32. Rounding once, straight from the text,
//! could differ in the last bit; with two roundings a text file and a numpy array of float64 give the same
//! values. A number that is not finite as float32 is an error.
//!
//! Cost: one pass; nothing is allocated for good numbers.

use std::ops::Range;

use super::fault::Fault;

/// The float in the bytes `place` of `line`. `expected` describes it in the error message.
pub fn float(line: &[u8], place: Range<usize>, expected: &str) -> Result<f32, Fault> {
    match fast_float2::parse::<f64, _>(&line[place.clone()]) {
        Ok(number) if (number as f32).is_finite() => Ok(number as f32),
        Ok(_) => Err(not_finite(line, place)),
        Err(_) => Err(Fault::at(line, place, expected)),
    }
}

fn not_finite(line: &[u8], place: Range<usize>) -> Fault {
    let is_word = !line[place.clone()].iter().any(u8::is_ascii_digit);
    let expected = if is_word { "a finite number" } else { "a number within ±3.4e38" };
    Fault::at(line, place, expected)
}

/// Parse the integer that starts at byte `start` of `line`; also returns the position after its last digit.
///
/// `end` is the end of the word that contains it, for the error message.
pub fn index(line: &[u8], start: usize, end: usize) -> Result<(u64, usize), Fault> {
    let mut number = 0u64;
    let mut at = start;
    while let Some(digit) = line.get(at).filter(|byte| byte.is_ascii_digit()) {
        number = number
            .checked_mul(10)
            .and_then(|tens| tens.checked_add(u64::from(digit - b'0')))
            .ok_or_else(|| Fault::at(line, start..end, "an index below 2^64"))?;
        at += 1;
    }
    if at == start {
        return Err(Fault::at(line, start..end, "an index, 0 or more"));
    }
    Ok((number, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<f32, String> {
        float(text.as_bytes(), 0..text.len(), "a number").map_err(|fault| fault.expected)
    }

    #[test]
    fn floats_are_those_of_the_standard_library() {
        for text in [
            "1",
            "+1",
            "-1",
            "0",
            "-0",
            "1.",
            ".5",
            "1.5e3",
            "1E-3",
            "+1e+3",
            "3.4028235e38",
            "3.4028235677973362e38",
            "1e-46",
            "1e-400",
            "0.1",
            "16777217",
            "007",
            "1.00000017881393421514957253748434595763683319091796875001",
        ] {
            let oracle: f64 = text.parse().unwrap();
            assert_eq!(read(text), Ok(oracle as f32), "{text}");
        }
    }

    #[test]
    fn floats_round_twice_as_numpy_does() {
        // Just above a tie between two float32 values: rounding once would go up.
        let text = "1.00000005960464477539062500001";
        let straight: f32 = text.parse().unwrap();
        let oracle: f64 = text.parse().unwrap();
        assert_ne!(straight, oracle as f32);
        assert_eq!(read(text), Ok(oracle as f32));
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in ["", "+", "-", ".", "e5", "1e", "1e+", "abc", "1x", "0x10", "1,5", "--1", "1 "]
        {
            assert_eq!(read(text), Err("a number".into()), "{text}");
        }
    }

    #[test]
    fn what_is_not_finite_says_so() {
        for text in ["nan", "NaN", "-nan", "inf", "-inf", "Infinity", "+INF"] {
            assert_eq!(read(text), Err("a finite number".into()), "{text}");
        }
        for text in ["1e39", "-1e39", "3.4028236e38", "1e400"] {
            assert_eq!(read(text), Err("a number within ±3.4e38".into()), "{text}");
        }
    }

    #[test]
    fn indices_are_all_of_u64() {
        assert_eq!(index(b"0:1", 0, 3), Ok((0, 1)));
        assert_eq!(index(b"x 0042", 2, 6), Ok((42, 6)));
        assert_eq!(index(b"18446744073709551615", 0, 20), Ok((u64::MAX, 20)));
    }

    #[test]
    fn indices_overflow_with_an_error() {
        let fault = index(b"1 18446744073709551616:1", 2, 24).unwrap_err();
        assert_eq!((fault.column, fault.expected.as_str()), (3, "an index below 2^64"));
        assert_eq!(fault.found, "'18446744073709551616...'");
        let fault = index(b"1 -1:1", 2, 6).unwrap_err();
        assert_eq!(fault.expected, "an index, 0 or more");
    }
}
