//! Why a model file is not read.

use std::fmt::Debug;

use crate::error::Error;

/// Inside this module an error is its reason; the public functions add the file's name.
pub(super) type Reading<T> = Result<T, Refusal>;

/// Why a model file is not read.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Something is wrong with the file.
    File(String),
    /// The file may be good, but the model does not fit into memory.
    Memory(String),
}

impl Refusal {
    /// The error for the file of this name.
    pub fn of_file(self, file: &str) -> Error {
        match self {
            Refusal::File(reason) => Error::ModelFile { file: file.to_string(), reason },
            Refusal::Memory(sentence) => Error::Memory(format!("{file}: {sentence}")),
        }
    }
}

impl From<Error> for Refusal {
    /// What a spec or a learner refuses is damage of the file, unless only memory is missing.
    fn from(error: Error) -> Self {
        match error {
            Error::Memory(sentence) => Refusal::Memory(sentence),
            error => damaged(&error.to_string()),
        }
    }
}

pub(super) fn foreign(what: &str) -> Refusal {
    Refusal::File(format!("is not a model of lessregret: {what}"))
}

pub(super) fn damaged(what: &str) -> Refusal {
    Refusal::File(format!("is damaged: {what}. Use a backup, or train again"))
}

/// A field that holds what no run could have written.
pub(super) fn wrong(field: &str, found: impl Debug, expected: &str) -> Refusal {
    damaged(&format!("'{field}' is {found:?}, expected {expected}"))
}
