//! Lessons: how examples come to a learner's loop, whatever the learner.

use crate::eights::Eights;
use crate::error::{Error, Result};
use crate::example::{Chunk, Course};
use crate::penalty::{Penalty, Scope};
use crate::vectors::{Path, Vectors, Work};

/// A learner whose loop is compiled for each set of vector instructions.
pub(crate) trait Pupil: Sized {
    /// Play and absorb every example; PENALISED says that there is L2, on the features of the example.
    fn learn_each<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()>;

    /// The same with L2 on every coordinate, by the instructions of any machine.
    fn learn_whole(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()>;

    /// Play every example and learn nothing.
    fn play_each<E: Eights>(&self, eights: E, chunk: &Chunk, margins: &mut Vec<f64>);
}

/// Have the examples learned, by the machine's vector instructions.
pub(crate) fn teach<P: Pupil>(
    pupil: &mut P,
    penalty: Penalty,
    course: Course<'_>,
    margins: &mut Vec<f64>,
) -> Result<()> {
    let path = Path::chosen().map_err(Error::Spec)?;
    match penalty {
        Penalty { l2: 0.0, .. } => path.run(Lesson::<P, false> { pupil, course, margins }),
        Penalty { scope: Scope::Active, .. } => {
            path.run(Lesson::<P, true> { pupil, course, margins })
        }
        Penalty { scope: Scope::All, .. } => pupil.learn_whole(course, margins),
    }
}

/// Examples to be learned, as work for [`Path::run`].
struct Lesson<'a, P: Pupil, const PENALISED: bool> {
    pupil: &'a mut P,
    course: Course<'a>,
    margins: &'a mut Vec<f64>,
}

impl<P: Pupil, const PENALISED: bool> Work for Lesson<'_, P, PENALISED> {
    type Output = Result<()>;

    #[inline(always)]
    fn call<V: Vectors>(self, vectors: V) -> Result<()> {
        self.pupil.learn_each::<_, PENALISED>(vectors.eights(), self.course, self.margins)
    }
}

/// Have the examples played, by the machine's vector instructions.
pub(crate) fn ask<P: Pupil>(pupil: &P, chunk: &Chunk, margins: &mut Vec<f64>) {
    let path = Path::chosen().unwrap_or(Path::Portable);
    path.run(Question { pupil, chunk, margins });
}

/// Examples to be played, as work for [`Path::run`].
struct Question<'a, P: Pupil> {
    pupil: &'a P,
    chunk: &'a Chunk,
    margins: &'a mut Vec<f64>,
}

impl<P: Pupil> Work for Question<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call<V: Vectors>(self, vectors: V) {
        self.pupil.play_each(vectors.eights(), self.chunk, self.margins);
    }
}
