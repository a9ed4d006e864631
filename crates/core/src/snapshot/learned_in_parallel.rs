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

/// What the examples are like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Table,
    Clicks,
}

const KINDS: [Kind; 2] = [Kind::Table, Kind::Clicks];

/// The features of example `k` of a click log: ones, one of them in every example up to the 400th, and a few twos.
fn click(k: u32, chunk: &mut Chunk) {
    (0..3 + k % 9).for_each(|j| chunk.push(10 + (k + 7 * j) % 200, 1.0));
    chunk.push(4, if k % 30 == 10 { 2.0 } else { 1.0 });
    if k < 400 {
        chunk.push(5, 1.0);
    }
}

/// Columns, one of them with values that are often equal and so become 0, and sparse features.
fn row(k: u32, chunk: &mut Chunk) {
    chunk.push(1, 100.0 + (k * k % 17) as f32);
    chunk.push(2, if k.is_multiple_of(3) { 1.0 } else { 2.5 });
    chunk.push(3, 7.0);
    (0..k % 9).for_each(|j| chunk.push(10 + (k + 7 * j) % 200, 0.3 + j as f32));
}

/// Example `bad` of all has an importance with which no gradient can be squared.
fn chunk(kind: Kind, number: u32, until: u32, bad: u32, requirements: Requirements) -> Chunk {
    let mut chunk = Chunk::for_requirements(requirements);
    for k in number * EXAMPLES..until.min((number + 1) * EXAMPLES) {
        match kind {
            Kind::Table => row(k, &mut chunk),
            Kind::Clicks => click(k, &mut chunk),
        }
        let label = if k % 5 < 2 { -1.0 } else { 1.0 };
        chunk.finish(label, if k == bad { 1e30 } else { 1.0 + (k % 2) as f32 }, b"");
    }
    chunk
}

/// Hands out the chunks up to example `until`.
struct Source {
    kind: Kind,
    requirements: Requirements,
    next: u32,
    until: u32,
    bad: u32,
    learned: usize,
}

impl Source {
    fn new(kind: Kind, spec: &Spec, model: &dyn Model, until: u32, bad: u32) -> Self {
        let requirements = Requirements { index: model.index(), ..Requirements::of(&spec.space) };
        Source { kind, requirements, next: 0, until, bad, learned: 0 }
    }
}

impl Chunks for Source {
    fn fill(&mut self, filled: &mut Chunk) -> bool {
        let requirements = self.requirements.clone();
        *filled = chunk(self.kind, self.next, self.until, self.bad, requirements);
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
    kind: Kind,
    spec: &Spec,
    parallel: bool,
    until: u32,
    bad: u32,
) -> Result<(Vec<u8>, Vec<f64>, Result<()>)> {
    let (mut model, mut margins, mut first) = (spec.build(None)?, Vec::new(), Chunk::default());
    let mut source = Source::new(kind, spec, &*model, until, bad);
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
    for (spec, kind) in specs()?.into_iter().flat_map(|spec| KINDS.map(|kind| (spec.clone(), kind)))
    {
        let until = CHUNKS * EXAMPLES;
        let (one, margins, outcome) = learned(kind, &spec, false, until, until)?;
        let (two, again, same) = learned(kind, &spec, true, until, until)?;
        assert_eq!((outcome, same), (Ok(()), Ok(())));
        assert!(one == two && margins == again, "{spec:?}");
        assert_eq!(margins.len() as u32, until);
    }
    Ok(())
}

#[test]
fn an_error_leaves_the_state_after_the_examples_before_it() -> Result<()> {
    // Hinge loss has no gradient where an example is far on the right side.
    let specs = specs()?.into_iter().filter(|spec| spec.loss.name() != "hinge");
    for (spec, kind) in specs.flat_map(|spec| KINDS.map(|kind| (spec.clone(), kind))) {
        // The first, a middle and the last example of a batch, in the first and in a later chunk.
        for bad in [EXAMPLES, EXAMPLES + 64, 3 * EXAMPLES + 100, 3 * EXAMPLES + 127] {
            let until = CHUNKS * EXAMPLES;
            let (before, margins, outcome) = learned(kind, &spec, false, bad, until)?;
            assert_eq!((outcome, margins.len() as u32), (Ok(()), bad));
            for parallel in [false, true] {
                let (model, again, outcome) = learned(kind, &spec, parallel, until, bad)?;
                assert!(matches!(outcome, Err(Error::Diverged { .. })), "{outcome:?}");
                assert!(model == before && again == margins, "{bad}, {parallel}, {spec:?}");
            }
        }
    }
    Ok(())
}
