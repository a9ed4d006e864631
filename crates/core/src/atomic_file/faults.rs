//! Faults of the disk, for tests: the n-th operation of a thread fails, or all from there on.
//!
//! This is how SQLite tests its own writes: fail the first operation, then the second and so on, until a run
//! meets no fault.

use std::cell::RefCell;
use std::io;

pub use super::disk::Operation;

/// "No space left on device" on Linux and macOS.
pub const NO_SPACE: i32 = 28;

/// What happens to an operation.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// It fails.
    Fails,
    /// A signal interrupts a write before the first byte. Every other write is spared, as the writer tries again.
    Interrupted,
    /// A write stops after half of the bytes.
    Short,
}

/// Which operations meet the fault.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The fault.
    pub fault: Fault,
    /// The first operation that meets it, counted from 1.
    pub first: usize,
    /// Whether all later operations meet it, too.
    pub lasting: bool,
}

#[derive(Default)]
struct State {
    plan: Option<Plan>,
    met: usize,
    hit: Vec<Operation>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Do some work under a plan; returns its result and the operations that met the fault.
pub fn during<T>(plan: Plan, work: impl FnOnce() -> T) -> (T, Vec<Operation>) {
    STATE.replace(State { plan: Some(plan), ..State::default() });
    let done = work();
    (done, STATE.take().hit)
}

/// How many of the bytes of an operation may be written, or the fault.
pub fn permit(operation: Operation, bytes: usize) -> io::Result<usize> {
    STATE.with_borrow_mut(|state| state.permit(operation, bytes))
}

impl State {
    fn permit(&mut self, operation: Operation, bytes: usize) -> io::Result<usize> {
        let Some(plan) = self.plan else { return Ok(bytes) };
        self.met += 1;
        let is_chosen = self.met == plan.first || plan.lasting && self.met > plan.first;
        let is_write = operation == Operation::Write;
        match plan.fault {
            _ if !is_chosen => Ok(bytes),
            Fault::Fails => {
                self.hit.push(operation);
                Err(io::Error::from_raw_os_error(NO_SPACE))
            }
            Fault::Interrupted if is_write && self.met % 2 == 1 => {
                self.hit.push(operation);
                Err(io::ErrorKind::Interrupted.into())
            }
            Fault::Short if is_write && bytes > 1 => {
                self.hit.push(operation);
                Ok(bytes / 2)
            }
            Fault::Interrupted | Fault::Short => Ok(bytes),
        }
    }
}
