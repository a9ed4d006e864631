//! The bytes of files and pipes: opened, decompressed, read ahead, and cut into blocks of whole lines.

mod blocks;
mod open;
mod read_ahead;
mod shrunk;
mod zstd;

pub use blocks::{Block, Blocks, Cut, LONGEST_LINE};
pub use open::{OnInterrupt, Origin, Source, never_ask_here};
