//! Vector instructions: which ones the machine has, and the kernels that other modules build from them.
//!
//! - [`instructions`]: the sets of instructions, and how a function is compiled for each;
//! - [`f64x8`]: eight float64 numbers in registers, gather and scatter of slots;
//! - [`sums`]: sums in a fixed order, so that every machine gives the same bits;
//! - [`exp_log`]: exponential and logarithm without branches;
//! - [`exp_tanh`]: exponential and hyperbolic tangent of float32 numbers without branches;
//! - [`murmur3`], [`murmur8`]: the hash of a name, and of eight names at once;
//! - [`pairs4`]: four features of numeric text parsed at once.

pub mod exp_log;
pub mod exp_tanh;
pub mod f64x8;
mod instructions;
pub mod murmur3;
pub mod murmur8;
pub mod pairs4;
pub mod sums;

pub use instructions::{GROUP, InstructionSet, Portable, Simd, WithSimd};

/// The number of lanes: one coordinate's weights and energies fill a cache line of 64 bytes.
pub const LANES: usize = 8;

/// One number for each lane.
pub type PerLane = [f64; LANES];
