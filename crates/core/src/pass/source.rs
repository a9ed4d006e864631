//! The sources of examples.

use crate::error::{Error, Result};
use crate::read::memory::Examples;
use crate::read::rows::{Matrix, Rows, Targets};
use crate::read::stream::Stream;
use crate::spec::FeatureSpace;

/// A source of examples to learn from or to predict.
pub enum Source<'a> {
    /// The next examples of a stream of files: at most this many, or all that are left.
    Stream(&'a mut Stream, Option<usize>),
    /// Examples in memory, in the given order or in their own.
    Memory(&'a Examples, Option<&'a [u32]>),
    /// The rows of a matrix.
    Rows {
        /// The matrix in CSR form.
        matrix: Matrix<'a>,
        /// The labels of the rows, if there are any.
        labels: Option<&'a [f64]>,
        /// The importances of the rows; 1 if not given.
        importances: Option<&'a [f64]>,
        /// The base margins of the rows; 0 if not given.
        bases: Option<&'a [f64]>,
        /// The feature space of the rows.
        space: FeatureSpace,
    },
}

/// Examples whose feature space was compared with a learner's.
pub(super) enum Checked<'a> {
    Stream(&'a mut Stream, Option<usize>),
    Memory(&'a Examples, Option<&'a [u32]>),
    Rows(Rows<'a>),
}

impl<'a> Source<'a> {
    fn space(&self) -> FeatureSpace {
        match self {
            Source::Stream(stream, _) => stream.space().clone(),
            Source::Memory(examples, _) => examples.space().clone(),
            Source::Rows { space, .. } => space.clone(),
        }
    }

    /// Read all examples into memory.
    pub fn collect(self) -> Result<Examples> {
        let mut examples = Examples::new(self.space());
        match self.checked()? {
            Checked::Stream(stream, limit) => examples.take(stream, limit)?,
            Checked::Memory(others, order) => examples.take_examples(others, order)?,
            Checked::Rows(rows) => examples.take_rows(&rows)?,
        }
        Ok(examples)
    }

    /// Check that a learner with this space may learn from the examples.
    pub(super) fn check_space(&self, learner: &FeatureSpace) -> Result<()> {
        learner.check_learnable(&self.space())
    }

    /// The examples, if a learner with this space may learn from them.
    pub(super) fn check_learnable(self, learner: &FeatureSpace) -> Result<Checked<'a>> {
        self.check_space(learner)?;
        if let Source::Rows { labels: None, .. } = self {
            let cure = "give labels, or predict";
            return Err(Error::Spec(format!("rows without labels cannot be learned from; {cure}")));
        }
        self.checked()
    }

    /// The examples, if a learner with this space may predict them.
    pub(super) fn check_readable(self, learner: &FeatureSpace) -> Result<Checked<'a>> {
        learner.check_readable(&self.space())?;
        self.checked()
    }

    fn checked(self) -> Result<Checked<'a>> {
        Ok(match self {
            Source::Stream(stream, limit) => Checked::Stream(stream, limit),
            Source::Memory(examples, order) => Checked::Memory(examples, order),
            Source::Rows { matrix, labels, importances, bases, space } => {
                let starts = matrix.starts()?;
                let rows = starts.len() - 1;
                let targets = Targets::new(space.labels, rows, labels, importances, bases)?;
                Checked::Rows(Rows::new(matrix, starts, space.table.len(), targets)?)
            }
        })
    }
}
