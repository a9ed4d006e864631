//! The memory of slots: which of it was touched, and where lines of lanes stand.
//!
//! - [`touched`]: a bit for every slot that was met, so that nobody walks over the rest;
//! - [`compact`]: lines of lanes side by side, in the order in which their slots were met;
//! - [`index`]: from a slot to its line.

pub mod compact;
pub mod index;
pub mod touched;
