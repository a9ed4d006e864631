//! The memory of the lanes.
//!
//! - [`compact`]: the lines of the lanes, contiguous, in the order in which their slots were met.

pub mod compact;
