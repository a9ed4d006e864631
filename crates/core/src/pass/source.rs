//! What can be learned from.

use crate::error::{Error, Result};
use crate::example::Ordered;
use crate::read::memory::Examples;
use crate::read::rows::{Matrix, Rows, Targets};
use crate::read::stream::Stream;
use crate::spec::FeatureSpace;

/// Examples, wherever they come from.
pub enum Source<'a> {
    /// Those of files; with a limit at most so many of the next, else all that are left.
    Stream(&'a mut Stream, Option<usize>),
    /// Those in memory, in an order.
    Memory(&'a Examples, Option<&'a [u32]>),
    /// The rows of a matrix.
    Rows {
        /// The rows.
        matrix: Matrix<'a>,
        /// Their labels, where there are some.
        labels: Option<&'a [f64]>,
        /// Their importances; 1 where there are none.
        importances: Option<&'a [f64]>,
        /// The feature space that they are for.
        space: FeatureSpace,
    },
}

/// Examples that were checked for a learner.
pub(super) enum Checked<'a> {
    Stream(&'a mut Stream, Option<usize>),
    Memory(Ordered<'a>),
    Rows(Rows<'a>),
}

impl<'a> Source<'a> {
    fn space(&self) -> FeatureSpace {
        match self {
            Source::Stream(stream, _) => *stream.space(),
            Source::Memory(examples, _) => *examples.space(),
            Source::Rows { space, .. } => *space,
        }
    }

    /// The examples, kept in memory.
    pub fn collect(self) -> Result<Examples> {
        let mut examples = Examples::new(self.space());
        match self.checked()? {
            Checked::Stream(stream, limit) => examples.take(stream, limit)?,
            Checked::Memory(ordered) => examples.take_ordered(ordered),
            Checked::Rows(rows) => examples.take_rows(&rows)?,
        }
        Ok(examples)
    }

    /// Whether a learner with this space may learn from them.
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
            Source::Memory(examples, order) => Checked::Memory(examples.ordered(order)?),
            Source::Rows { matrix, labels, importances, space } => {
                matrix.check_shape()?;
                let targets = Targets::new(space.labels, matrix.rows(), labels, importances)?;
                Checked::Rows(Rows::new(matrix, space.table.len(), targets)?)
            }
        })
    }
}
