//! Parses four features at once, if each is an integer and a fraction below one.
//!
//! ```text
//! text         411:0.052354 575:0.065272 1229:0.176831 1806:0.068212
//! separators  ^   ^        ^   ^        ^    ^        ^    ^        ^
//! ```
//!
//! Most numeric text looks like this: columns and their tf-idf values. Integers and fractions have up to
//! eight digits. Anything else gives `None` and is parsed one feature at a time (`read/fast/numbers.rs`).
//!
//! No step depends on the number of digits: missing ones are zeros, before an integer and after a fraction.
//! So every fraction is a number of hundred-millionths.
//!
//! Cost: half the time of parsing them one at a time.

#[cfg(target_arch = "x86_64")]
pub mod avx2;

/// The number of features parsed at once.
pub const FOUR: usize = 4;

/// The number of separators of these features, including the one before them.
pub const SEPARATORS: usize = 2 * FOUR + 1;

/// The integers and the values of four features.
pub type Pairs4 = ([u32; FOUR], [f32; FOUR]);
