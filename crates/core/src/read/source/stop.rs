//! A request to stop reading, made by another thread or by the handler of a signal.
//!
//! Examples that were read are handed out; what comes after them is left, and a line whose end has not come is no example.
//!
//! Cost: one relaxed load each time it is asked.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether reading is to stop; all clones are one request.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ask to stop. It cannot be taken back.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error if somebody asked.
    pub fn check(&self) -> io::Result<()> {
        if self.is_set() { Err(io::Error::other("reading was stopped")) } else { Ok(()) }
    }
}
