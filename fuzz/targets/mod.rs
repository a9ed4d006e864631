//! The fuzz targets: what must hold for any bytes, and some bytes to begin with.
//!
//! cargo-fuzz runs them by way of `fuzz_targets/`, which needs a nightly compiler. Any compiler runs them by
//! `cargo run --release -p lessregret-core --example fuzz`, which mutates the seeds in a plain loop.

pub mod arrow;
#[path = "../../crates/core/tests/copies/mod.rs"]
mod copies;
pub mod csv;
mod differential;
pub mod json;
pub mod model;
pub mod stream;
mod table_differential;
pub mod two_stage;
mod unchecked_arrow;

/// A target and its seeds.
#[allow(dead_code, reason = "each program of cargo-fuzz runs one target")]
pub struct Target {
    /// The name, as in `fuzz_targets/`.
    pub name: &'static str,
    /// Panics if something does not hold for these bytes. Says whether they were accepted.
    pub run: fn(&[u8]) -> bool,
    /// Some bytes that are accepted.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
#[allow(dead_code, reason = "each program of cargo-fuzz runs one target")]
pub const TARGETS: &[Target] = &[
    Target { name: "model", run: model::run, seeds: model::seeds },
    Target { name: "arrow", run: arrow::run, seeds: arrow::seeds },
    Target { name: "two_stage", run: two_stage::run, seeds: two_stage::seeds },
    Target { name: "csv", run: csv::run, seeds: csv::seeds },
    Target { name: "json", run: json::run, seeds: json::seeds },
    Target { name: "stream", run: stream::run, seeds: stream::seeds },
];
