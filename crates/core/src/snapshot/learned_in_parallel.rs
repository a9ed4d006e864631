//! Learns from chunks with a second thread and without: the models must have the same bytes, also if a round in
//! the middle of a chunk cannot be learned.

use super::{Snapshot, to_bytes};
use crate::error::{Error, Result};
use crate::example::{Chunk, Requirements};
use crate::learn::model::{Chunks, Inspect, Model};
use crate::spec::Spec;

const CHUNKS: u32 = 6;
const EXAMPLES: u32 = 150;

fn specs() -> Result<Vec<Spec>> {
    let mut specs = Vec::new();
    for loss in ["logistic", "squared", "hinge"] {
        for (scale, l2) in [("standard", 0.0), ("standard", 0.1), ("none", 0.0)] {
            let rule = r#"{"name":"per-coordinate","rate":"auto","radius":9.0,"box":null}"#;
            let rest = r#""table":{"bits":8},"intercept":true,"certify":true,"fixed_share":1e-4"#;
            let rest = format!(r#"{rest},"scale":"{scale}","l2":{l2}"#);
            specs.push(Spec::parse(&format!(r#"{{"loss":"{loss}","rule":{rule},{rest}}}"#))?);
        }
    }
    Ok(specs)
}

/// Columns, one of them with values that are often equal and so become 0, and sparse features. Example `bad` of all
/// has an importance with which no gradient can be squared.
fn chunk(number: u32, until: u32, bad: u32, requirements: Requirements) -> Chunk {
    let mut chunk = Chunk::for_requirements(requirements);
    for k in number * EXAMPLES..until.min((number + 1) * EXAMPLES) {
        chunk.push(1, 100.0 + (k * k % 17) as f32);
        chunk.push(2, if k % 3 == 0 { 1.0 } else { 2.5 });
        chunk.push(3, 7.0);
        (0..k % 9).for_each(|j| chunk.push(10 + (k + 7 * j) % 200, 0.3 + j as f32));
        let label = if k % 5 < 2 { -1.0 } else { 1.0 };
        chunk.finish(label, if k == bad { 1e30 } else { 1.0 + (k % 2) as f32 }, b"");
    }
    chunk
}

/// Hands out the chunks up to example `until`.
struct Source {
    requirements: Requirements,
    next: u32,
    until: u32,
    bad: u32,
    learned: usize,
}

impl Source {
    fn new(spec: &Spec, model: &dyn Model, until: u32, bad: u32) -> Self {
        let requirements = Requirements { index: model.index(), ..Requirements::of(&spec.space) };
        Source { requirements, next: 0, until, bad, learned: 0 }
    }
}

impl Chunks for Source {
    fn fill(&mut self, filled: &mut Chunk) -> bool {
        *filled = chunk(self.next, self.until, self.bad, self.requirements.clone());
        // Readers look up the positions of some chunks, and not of others.
        if self.next.is_multiple_of(2) {
            filled.look_up_positions();
        }
        self.next += 1;
        !filled.is_empty()
    }

    fn learned(&mut self, chunk: &Chunk) {
        self.learned += chunk.len();
    }
}

fn bytes(spec: &Spec, model: &dyn Inspect) -> Vec<u8> {
    let snapshot = Snapshot { spec, model, skipped: 0, names: None, slim: false };
    to_bytes(snapshot).expect("memory can be written to")
}

/// The model, its margins and what it returned, after the first chunk was learned on one thread.
fn learned(
    spec: &Spec,
    parallel: bool,
    until: u32,
    bad: u32,
) -> Result<(Vec<u8>, Vec<f64>, Result<()>)> {
    let (mut model, mut margins, mut first) = (spec.build(None)?, Vec::new(), Chunk::default());
    let mut source = Source::new(spec, &*model, until, bad);
    assert!(source.fill(&mut first));
    model.learn((&first).into(), &mut margins)?;
    assert!(model.gains_from_helper());
    let mut outcome = Ok(());
    if parallel {
        outcome = model.learn_chunks(&mut source, &mut margins);
        let whole = margins.len() as u32 / EXAMPLES * EXAMPLES;
        assert_eq!(source.learned as u32, whole.min(until) - EXAMPLES);
    } else {
        while outcome.is_ok() && source.fill(&mut first) {
            outcome = model.learn((&first).into(), &mut margins);
        }
    }
    Ok((bytes(spec, &*model), margins, outcome))
}

#[test]
fn two_threads_learn_the_same_bits_as_one() -> Result<()> {
    for spec in specs()? {
        let until = CHUNKS * EXAMPLES;
        let (one, margins, outcome) = learned(&spec, false, until, until)?;
        let (two, again, same) = learned(&spec, true, until, until)?;
        assert_eq!((outcome, same), (Ok(()), Ok(())));
        assert!(one == two && margins == again, "{spec:?}");
        assert_eq!(margins.len() as u32, until);
    }
    Ok(())
}

#[test]
fn an_error_leaves_the_state_after_the_examples_before_it() -> Result<()> {
    // Hinge loss has no gradient where an example is far on the right side.
    for spec in specs()?.into_iter().filter(|spec| spec.loss.name() != "hinge") {
        // The first, a middle and the last example of a batch, in the first and in a later chunk.
        for bad in [EXAMPLES, EXAMPLES + 64, 3 * EXAMPLES + 100, 3 * EXAMPLES + 127] {
            let until = CHUNKS * EXAMPLES;
            let (before, margins, outcome) = learned(&spec, false, bad, until)?;
            assert_eq!((outcome, margins.len() as u32), (Ok(()), bad));
            for parallel in [false, true] {
                let (model, again, outcome) = learned(&spec, parallel, until, bad)?;
                assert!(matches!(outcome, Err(Error::Diverged { .. })), "{outcome:?}");
                assert!(model == before && again == margins, "{bad}, {parallel}, {spec:?}");
            }
        }
    }
    Ok(())
}
