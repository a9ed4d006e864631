//! Four features read side by side, where each is an integer and a fraction below one.
//!
//! ```text
//! text         411:0.052354 575:0.065272 1229:0.176831 1806:0.068212 
//! separators  ^   ^        ^   ^        ^    ^        ^    ^        ^
//! ```
//!
//! Most text in numbers looks like this: columns and their tf-idf values. Integers and fractions have up to
//! eight digits. What looks otherwise is `None`, and is read one by one (`text/quick_numbers.rs`).
//!
//! No step depends on how many digits there are: those that are not there are zeros, before an integer and
//! behind a fraction. So every fraction is a number of hundred-millionths.
//!
//! Cost: half the time that they take one by one.

#[cfg(target_arch = "x86_64")]
pub mod avx2;

/// Features read at once.
pub const FOUR: usize = 4;

/// The separators of so many features, with the one before them.
pub const SEPARATORS: usize = 2 * FOUR + 1;

/// The integers and the values of four features.
pub type Pairs4 = ([u32; FOUR], [f32; FOUR]);
