//! All errors of the core, as the sentences that a user reads.
//!
//! An error names the position, what was found and what was expected. The Python side turns each variant into
//! the exception of the same name in `lessregret.errors`.

use std::fmt;

/// Bad data: its position, what was found and what was expected.
///
/// `line` and `column` count from 1. 0 means that there is no line or no column, as for a file that cannot be
/// opened or a compressed stream that is truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The file as the user named it, or `<stdin>`.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column in bytes, from 1.
    pub column: u64,
    /// What was found, quoted if it is text of the user's.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl InputError {
    /// Bad data in an argument, such as `X[17, 3]`.
    pub fn argument(
        place: impl Into<String>,
        found: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        let (file, found, expected) = (place.into(), found.to_string(), expected.into());
        InputError { file, line: 0, column: 0, found, expected }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        for place in [self.line, self.column] {
            if place > 0 {
                write!(f, ":{place}")?;
            }
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

/// Any failure of the core.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// Invalid data.
    Input(InputError),
    /// Invalid settings: an unknown rule, a parameter out of range.
    Spec(String),
    /// A table that needs more memory than there is. Nothing was changed.
    Memory(String),
    /// A file that is not a model file, or has another version, or is damaged.
    ModelFile {
        /// The file as the user named it.
        file: String,
        /// What is wrong with it, and how to fix it.
        reason: String,
    },
    /// Learners that cannot become one.
    Merge(String),
    /// A margin or gradient too large for the arithmetic. Nothing of that round was learned.
    Diverged {
        /// The round, from 1.
        round: u64,
        /// The slot of the feature that contributed most.
        slot: u32,
        /// The quantity and its value.
        what: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(error) => error.fmt(f),
            Error::Spec(sentence) | Error::Memory(sentence) | Error::Merge(sentence) => {
                f.write_str(sentence)
            }
            Error::ModelFile { file, reason } => write!(f, "{file}: {reason}"),
            Error::Diverged { round, slot, what } => write!(
                f,
                "round {round}: {what}; feature in slot {slot} contributed most. \
                 Scale the features (scale 'standard' does), or use a smaller rate or radius"
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Error::Input(error)
    }
}

/// The result type of the core.
pub type Result<T> = std::result::Result<T, Error>;
