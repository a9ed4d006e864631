//! The bytes of files and pipes: opened, decompressed, read ahead, and cut into blocks of whole lines or
//! records.

mod blocks;
mod follow;
mod open;
mod peek;
mod read_ahead;
mod shrunk;
mod stop;
mod zstd;

pub use blocks::{Block, Blocks, Cut, LONGEST_LINE};
pub use open::{OnInterrupt, Origin, Source, never_ask_here};
pub use peek::{first_line, with_peeked_stdin};
pub use stop::Stop;
