//! Lets the first, second, … allocation of a table fail in turn: every time there must be a typed error, and
//! afterwards the work must be possible, with the same result to the bit.

use std::io::Cursor;

use super::{Snapshot, load_bytes, to_bytes};
use crate::alloc::faults::with_fault_at;
use crate::error::{Error, Result};
use crate::example::Chunk;
use crate::learn::model::{Inspect, Model};
use crate::loss::Labels;
use crate::read::format::Format;
use crate::read::rows::{Matrix, Slice};
use crate::read::stream::{BadLines, Stream, StreamSpec};
use crate::spec::{FeatureSpace, Scale, Spec};

const RULES: [&str; 4] = [
    r#"{"name":"per-coordinate","rate":0.5,"radius":9.0,"box":null}"#,
    r#"{"name":"per-coordinate","rate":"auto","radius":9.0,"box":null}"#,
    r#"{"name":"ftrl","rate":"auto","offset":1.0,"l1":0.0,"l2":0.0,"radius":9.0,"box":null}"#,
    r#"{"name":"global","rate":"theory","radius":9.0,"box":null}"#,
];

fn specs() -> Result<Vec<Spec>> {
    let mut specs = Vec::new();
    for rule in RULES {
        for (scale, certify) in [("none", false), ("cap", true), ("full", true), ("standard", true)]
        {
            let rest = r#""table":{"bits":10},"intercept":true"#;
            let rest = format!(r#"{rest},"scale":"{scale}","certify":{certify}"#);
            specs.push(Spec::parse(&format!(r#"{{"loss":"hinge","rule":{rule},{rest}}}"#))?);
        }
    }
    Ok(specs)
}

/// One example a chunk, so that each can be learned again after an error. Large values, which need scales,
/// come before small ones of the same features, which are then divided.
fn chunks(intercept: Option<u32>) -> Vec<Chunk> {
    let chunk = |k: u32| {
        let mut chunk = Chunk::new(intercept);
        let large = if k % 5 == 4 { 3.0 + k as f32 } else { -0.7 };
        chunk.extend(&[k % 7, 40 + k % 2], &[0.5, large]);
        chunk.finish(if k.is_multiple_of(3) { -1.0 } else { 1.0 }, 1.0, b"");
        chunk
    };
    (0..12).map(chunk).collect()
}

fn bytes(spec: &Spec, model: &dyn Inspect, slim: bool) -> Vec<u8> {
    let snapshot = Snapshot { spec, model, skipped: 0, names: None, slim };
    to_bytes(snapshot).expect("memory can be written to")
}

/// Let every allocation of some work fail once, then do it without a fault. Counts the faults.
fn through_faults<T>(mut work: impl FnMut() -> Result<T>) -> (T, usize) {
    for k in 1.. {
        let (outcome, met) = with_fault_at(k, &mut work);
        match (outcome, met) {
            (Ok(done), false) => return (done, k - 1),
            (Err(Error::Memory(_)), true) => {}
            (outcome, _) => panic!("allocation {k}: {:?}", outcome.map(|_| ()).err()),
        }
    }
    unreachable!("some work needs no more allocations than it has")
}

fn trained(spec: &Spec) -> Result<(Box<dyn Model>, usize)> {
    let (mut model, mut faults) = through_faults(|| spec.build(None));
    for chunk in chunks(spec.space.intercept_slot()) {
        let learn = || model.learn((&chunk).into(), &mut Vec::new());
        faults += through_faults(learn).1;
    }
    Ok((model, faults))
}

#[test]
fn a_learner_made_trained_and_loaded_through_faults_is_the_one_without() -> Result<()> {
    let mut total = 0;
    for spec in specs()? {
        let mut plain = spec.build(None)?;
        for chunk in chunks(spec.space.intercept_slot()) {
            plain.learn((&chunk).into(), &mut Vec::new())?;
        }
        let (model, faults) = trained(&spec)?;
        assert!(bytes(&spec, &*model, false) == bytes(&spec, &*plain, false), "{spec:?}");
        total += faults;
        for slim in [false, true] {
            let file = bytes(&spec, &*plain, slim);
            let (loaded, faults) = through_faults(|| load_bytes(&file, "<bytes>"));
            assert!(bytes(&spec, loaded.model.inspected(), slim) == file, "{spec:?}");
            total += faults;
        }
    }
    eprintln!("{total} allocations failed");
    assert!(total > 150, "{total}");
    Ok(())
}

#[test]
fn reading_without_memory_for_its_scales_is_an_error_that_stays() -> Result<()> {
    let space = FeatureSpace { scale: Scale::Cap, ..FeatureSpace::text(8, Labels::Binary) };
    let spec = StreamSpec { format: Format::Auto, space, bad_lines: BadLines::Stop, names: false };
    let read = || {
        let text = Box::new(Cursor::new(b"1 1:0.5\n0 2:7\n1 2:5\n".to_vec()));
        let (mut stream, mut chunk) = (Stream::over("data", text, spec.clone()), Chunk::new(None));
        let filled = stream.fill(&mut chunk, 9);
        let again = stream.fill(&mut chunk, 9);
        if filled.is_err() {
            assert_eq!((&again, chunk.len()), (&filled, 0));
        }
        filled
    };
    let (count, faults) = through_faults(read);
    eprintln!("{faults} allocations failed");
    assert_eq!((count, faults), (3, 2));
    Ok(())
}

#[test]
fn rows_without_memory_for_their_pointers_are_an_error() {
    let matrix = Matrix {
        indptr: Slice::Narrow(&[0, 1, 2]),
        indices: Slice::Narrow(&[3, 1]),
        values: Slice::Narrow(&[1.0, 2.0]),
    };
    let (starts, faults) = through_faults(|| matrix.starts());
    assert_eq!((starts, faults), (vec![0, 1, 2], 1));
}
