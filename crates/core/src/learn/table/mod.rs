//! The memory of slots: which slots were met, and where the lines of the lanes are.
//!
//! - [`touched`]: a bit for every slot that was met, to skip the others;
//! - [`compact`]: the lines of the lanes, contiguous, in the order in which their slots were met;
//! - [`index`]: from a slot to the position of its line.

pub mod compact;
pub mod index;
pub mod touched;
