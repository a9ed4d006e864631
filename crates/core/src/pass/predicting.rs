//! A learner led through examples to predict or to explain.
//!
//! The learner is looked at for the time of a chunk. If somebody changes it meanwhile, each prediction is that of the
//! learner before or after some batch.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use super::access::Look;
use super::learner::Learner;
use super::learning::{BLOCK, every_block};
use super::outcomes::{Explained, Outcomes};
use super::source::{Checked, Source};
use crate::error::{Error, InputError, Result};
use crate::example::{Chunk, Ordered};
use crate::loss::Labels;
use crate::read::rows::Rows;
use crate::read::stream::Stream;

/// Predict the examples and learn nothing.
pub(super) fn predict(learner: &(impl Look + Sync), source: Source<'_>) -> Result<Outcomes> {
    let (space, mut chunk) = parts_of(learner);
    match source.check_readable(&space)? {
        Checked::Stream(stream, Some(limit)) => predict_block(learner, stream, &mut chunk, limit),
        Checked::Stream(stream, None) => {
            every_block(stream, |stream| predict_block(learner, stream, &mut chunk, usize::MAX))
        }
        Checked::Memory(examples, order) => {
            let (mut outcomes, zeros) = (Outcomes::default(), chunk.requirements().zeros);
            predict_parts(learner, examples.ordered(order, zeros)?, &mut outcomes)?;
            Ok(outcomes)
        }
        Checked::Rows(rows) => predict_rows(learner, &rows, &chunk),
    }
}

/// What each feature of the examples gives to their predictions.
pub(super) fn explain(learner: &impl Look, source: Source<'_>) -> Result<Explained> {
    let (space, mut chunk) = parts_of(learner);
    let mut all = Explained::default();
    if space.labels == Labels::Classes {
        return Err(Error::Spec(
            "explain splits one margin, and each of many classes has its own; look at the weights of a class".into(),
        ));
    }
    match source.check_readable(&space)? {
        Checked::Stream(stream, limit) => {
            while stream.fill(&mut chunk, limit.unwrap_or(BLOCK))? > 0 {
                explain_parts(learner, (&chunk).into(), &mut all);
                stream.check_interrupt()?;
                if limit.is_some() {
                    break;
                }
            }
        }
        Checked::Memory(examples, order) => {
            let zeros = chunk.requirements().zeros;
            explain_parts(learner, examples.ordered(order, zeros)?, &mut all);
        }
        Checked::Rows(rows) => rows.chunks(0..rows.len(), &mut chunk, |chunk| {
            explain_parts(learner, chunk.into(), &mut all);
            Ok(())
        })?,
    }
    Ok(all)
}

/// The feature space, and an empty chunk for examples as the learner requires them, without an index.
fn parts_of(learner: &impl Look) -> (crate::spec::FeatureSpace, Chunk) {
    learner
        .look(|learner| (learner.space().clone(), Chunk::for_requirements(learner.requirements())))
}

fn predict_block(
    learner: &impl Look,
    stream: &mut Stream,
    chunk: &mut Chunk,
    limit: usize,
) -> Result<Outcomes> {
    let mut outcomes = Outcomes::default();
    stream.fill(chunk, limit)?;
    predict_parts(learner, (&*chunk).into(), &mut outcomes)?;
    Ok(outcomes)
}

pub(super) fn predict_parts(
    learner: &impl Look,
    examples: Ordered<'_>,
    outcomes: &mut Outcomes,
) -> Result<()> {
    let mut rows = outcomes.len();
    for part in examples.parts(BLOCK) {
        learner.look(|learner| predict_looked_at(learner, part, rows, outcomes))?;
        rows += part.len();
    }
    // Without examples, too, outcomes tell how many classes there are.
    outcomes.widen(rows, learner.look(Learner::classes));
    outcomes.note(examples);
    Ok(())
}

/// Predict examples after `rows` others. Classes that were met since make place in the margins before.
fn predict_looked_at(
    learner: &Learner,
    part: Ordered<'_>,
    rows: usize,
    outcomes: &mut Outcomes,
) -> Result<()> {
    refuse_bases(learner, part)?;
    outcomes.widen(rows, learner.classes());
    learner.model.predictor().predict(part, &mut outcomes.margins);
    Ok(())
}

/// Refuse a base margin where it has no meaning: examples that were read to be predicted may have one.
fn refuse_bases(learner: &Learner, examples: Ordered<'_>) -> Result<()> {
    if learner.classes().is_none() {
        return Ok(());
    }
    match examples.examples().find(|example| example.base != 0.0) {
        None => Ok(()),
        Some(example) => {
            let expected =
                "no base margin: a prediction of many classes has a margin for each class";
            Err(InputError::argument("base", example.base, expected).into())
        }
    }
}

fn explain_parts(learner: &impl Look, examples: Ordered<'_>, all: &mut Explained) {
    for part in examples.parts(BLOCK) {
        learner.look(|learner: &Learner| {
            let model = learner.model.predictor();
            model.predict(part, &mut all.outcomes.margins);
            all.explanations.extend(part.examples().map(|example| model.explain(&example)));
        });
    }
    all.outcomes.note(examples);
}

/// Predict on all cores. The result does not depend on how the rows are divided. A small matrix needs no thread.
fn predict_rows(learner: &(impl Look + Sync), rows: &Rows<'_>, chunk: &Chunk) -> Result<Outcomes> {
    let parts = rows.parts();
    if parts.len() < 2 {
        return predict_part(learner, rows, 0..rows.len(), chunk);
    }
    thread::scope(|scope| {
        let predict = |part| scope.spawn(|| predict_part(learner, rows, part, chunk));
        let workers: Vec<_> = parts.into_iter().map(predict).collect();
        let mut all = Outcomes::with_capacity(rows.len());
        for worker in workers {
            let part = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            all.append(&part?);
        }
        Ok(all)
    })
}

fn predict_part(
    learner: &impl Look,
    rows: &Rows<'_>,
    part: Range<usize>,
    like: &Chunk,
) -> Result<Outcomes> {
    let mut outcomes = Outcomes::with_capacity(part.len());
    let mut chunk = Chunk::for_requirements(like.requirements().clone());
    rows.chunks(part, &mut chunk, |chunk| predict_parts(learner, chunk.into(), &mut outcomes))?;
    Ok(outcomes)
}
