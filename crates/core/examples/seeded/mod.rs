//! Seeded numbers, examples and learners for the benchmark programs.

use std::error::Error;

use lessregret_core::Chunk;
use lessregret_core::Model;
use lessregret_core::Spec;

/// The result type of a benchmark program.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// SplitMix64 (Steele, Lea & Flood 2014): short, good enough, and identical on every system.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// One of the two labels.
    pub fn label(&mut self) -> f32 {
        if self.next() & 1 == 0 { -1.0 } else { 1.0 }
    }
}

/// Examples whose features, of value 1, are in slots drawn uniformly from 2^bits.
pub fn random_chunk(bits: u32, examples: usize, features: usize, seed: u64) -> Chunk {
    let mut numbers = Numbers(seed);
    let mut chunk = Chunk::new(None);
    for _ in 0..examples {
        for _ in 0..features {
            chunk.push(numbers.below(1 << bits) as u32, 1.0);
        }
        chunk.finish(numbers.label(), 1.0, b"");
    }
    chunk
}

/// A learner with a rate for each coordinate, logistic loss and no intercept; `rate` is JSON.
pub fn learner(bits: u32, rate: &str) -> Outcome<Box<dyn Model>> {
    let rule = format!(r#"{{"name":"per-coordinate","rate":{rate},"radius":100.0,"box":null}}"#);
    let rest = format!(r#""table":{{"bits":{bits}}},"intercept":false,"certify":false"#);
    let spec = Spec::parse(&format!(r#"{{"loss":"logistic","rule":{rule},{rest}}}"#))?;
    Ok(spec.build(None)?)
}
