//! Is what is saved what can be loaded, whatever a run has met?
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use lessregret_core::{Error, FeatureSpace, Interval, LOSSES, Labels, Learner, Matrix, RULES};
use lessregret_core::{Scale, Slice, Source, Spec};

/// A small generator of pseudo-random numbers, the same on every machine.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn signed(&mut self, sizes: &[f64]) -> f64 {
        let size = self.one_of(sizes);
        if self.below(2) == 0 { -size } else { size }
    }
}

const SIZES: &[f64] =
    &[1.5e-45, 1e-38, 1e-22, 1e-19, 1e-5, 0.5, 1.0, 3.0, 1e5, 1e16, 1e19, 1e30, 3.4e38];
const IMPORTANCES: &[f64] = &[0.0, 1.5e-45, 1e-20, 0.5, 1.0, 1.0, 1.0, 7.0, 1e10, 3.4e38];
const RATES: &[&str] =
    &["1.2e-38", "1e-30", "1e-10", "0.5", "1e10", "3.4e38", "\"theory\"", "\"auto\"", "\"auto\""];
const RADII: &[&str] = &["1.2e-38", "1e-20", "1.0", "1.0", "1e16", "1.7e38"];
const BOXES: &[&str] =
    &["null", "null", "null", "[0.5,1.5]", "[-1e-30,1e30]", "[-3e38,-1e-38]", "[0.0,3.4e38]"];
const STRENGTHS: &[&str] = &["0.0", "0.0", "1e-38", "0.1", "1.0", "1e20", "3.4e38"];
const COLUMNS: usize = 12;

fn rule(draws: &mut Draws) -> String {
    let name = draws.one_of(RULES);
    let bounded = format!(
        r#""rate":{},"radius":{},"box":{}"#,
        draws.one_of(RATES),
        draws.one_of(RADII),
        draws.one_of(BOXES)
    );
    let mut strength = || draws.one_of(STRENGTHS);
    let positive = |strength: &str| if strength == "0.0" { "1.0" } else { strength }.to_string();
    let rest = match name {
        "per-coordinate" => format!(r#"{bounded},"offset":{}"#, strength()),
        "ftrl" => {
            format!(r#"{bounded},"offset":{},"l1":{},"l2":{}"#, strength(), strength(), strength())
        }
        "pa" => format!(r#""epsilon":{}"#, strength()),
        "pa-i" | "pa-ii" => {
            format!(r#""epsilon":{},"aggressiveness":{}"#, strength(), positive(strength()))
        }
        "cw" | "cw-stdev" => {
            format!(r#""confidence":{},"variance":{}"#, positive(strength()), positive(strength()))
        }
        "arow" => format!(
            r#""regularisation":{},"form":"{}""#,
            positive(strength()),
            draws.one_of(&["covariance", "precision"])
        ),
        _ => bounded,
    };
    format!(r#"{{"name":"{name}",{rest}}}"#)
}

fn spec(draws: &mut Draws) -> String {
    format!(
        r#"{{"loss":"{}","rule":{},"table":{{"columns":{COLUMNS}}},"intercept":{},"certify":{},
            "l2":{},"l2_scope":"{}","scale":"{}","importance_aware":{},"fixed_share":{}}}"#,
        draws.one_of(LOSSES).name(),
        rule(draws),
        draws.one_of(&[true, false]),
        draws.one_of(&[true, false, false]),
        draws.one_of(&["0.0", "0.0", "0.0", "1e-38", "0.1", "3.4e38"]),
        draws.one_of(&["active", "all"]),
        draws.one_of(&["none", "cap", "full", "standard"]),
        draws.one_of(&[true, false, false, false]),
        draws.one_of(&["0.0", "0.0", "0.0", "1e-300", "0.3"]),
    )
}

/// Boxes for all slots, some of which exclude 0.
fn boxes(draws: &mut Draws, slots: usize) -> Option<Vec<Interval>> {
    let own: [(f32, f32); 4] = [(-1.0, 1.0), (0.25, 2.0), (-3e38, -1e-3), (0.0, 1e-37)];
    (draws.below(3) == 0).then(|| {
        let interval = |(low, high)| Interval { low, high };
        (0..slots).map(|_| interval(draws.one_of(&own))).collect()
    })
}

/// The rows of a small matrix, with labels and importances.
struct Data {
    indptr: Vec<i32>,
    indices: Vec<i32>,
    values: Vec<f64>,
    labels: Vec<f64>,
    importances: Vec<f64>,
}

fn data(draws: &mut Draws, labels: Labels) -> Data {
    let rows = 1 + draws.below(30);
    let mut data = Data {
        indptr: vec![0],
        indices: vec![],
        values: vec![],
        labels: vec![],
        importances: vec![],
    };
    let tame = draws.below(2) == 0;
    let sizes = if tame { &SIZES[5..8] } else { SIZES };
    for _ in 0..rows {
        for _ in 0..draws.below(6) {
            data.indices.push(draws.below(COLUMNS) as i32);
            data.values.push(draws.signed(sizes));
        }
        data.indptr.push(data.indices.len() as i32);
        data.labels.push(match labels {
            Labels::Binary => draws.signed(&[1.0]),
            Labels::Count => draws.signed(SIZES).abs().min(f64::from(Labels::MOST)),
            _ => draws.signed(SIZES),
        });
        data.importances.push(draws.one_of(IMPORTANCES));
    }
    data
}

fn learn(learner: &mut Learner, data: &Data) -> Result<Vec<f64>, Error> {
    let space = FeatureSpace { scale: Scale::None, ..learner.space().clone() };
    let source = Source::Rows {
        matrix: Matrix {
            indptr: Slice::Narrow(&data.indptr),
            indices: Slice::Narrow(&data.indices),
            values: Slice::Wide(&data.values),
        },
        labels: Some(&data.labels),
        importances: Some(&data.importances),
        bases: None,
        space,
    };
    let outcome = learner.learn(source).map(|outcomes| outcomes.margins);
    assert!(matches!(outcome, Ok(_) | Err(Error::Diverged { .. })), "{outcome:?}");
    outcome
}

/// The learner again, from its file, which is written as it was.
fn again(learner: &Learner) -> Result<Learner, String> {
    let file = learner.to_bytes().map_err(|error| format!("not saved: {error}"))?;
    let loaded = Learner::from_bytes(&file).map_err(|error| format!("not loaded: {error}"))?;
    match loaded.to_bytes().unwrap() == file {
        true => Ok(loaded),
        false => Err("another file".to_string()),
    }
}

fn check_slim(learner: &Learner) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slim");
    learner.save(&path, true).map_err(|error| format!("slim not saved: {error}"))?;
    let loaded = Learner::load(&path).map_err(|error| format!("slim not loaded: {error}"))?;
    match loaded.to_bytes().unwrap() == std::fs::read(&path).unwrap() {
        true => Ok(()),
        false => Err("another slim file".to_string()),
    }
}

fn check_run(learner: &mut Learner, data: &Data) -> Result<(), String> {
    for _ in 0..2 {
        let mut loaded = again(learner)?;
        check_slim(learner)?;
        let bits = |margins: Vec<f64>| margins.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let (one, other) = (learn(learner, data).map(bits), learn(&mut loaded, data).map(bits));
        if one != other || learner.to_bytes().ok() != loaded.to_bytes().ok() {
            return Err(format!("goes on otherwise: {one:?} {other:?}"));
        }
    }
    again(learner).map(|_| ())
}

#[test]
fn whatever_a_run_has_met_its_model_is_saved_loaded_and_goes_on() {
    let cases = std::env::var("LESSREGRET_CASES").map_or(1500, |cases| cases.parse().unwrap());
    let (mut draws, mut runs, mut failures) = (Draws(6), 0, Vec::new());
    for _ in 0..cases {
        let text = spec(&mut draws);
        let Ok(spec) = Spec::parse(&text) else { continue };
        // Only rules with a feasible set, which have a radius, can be given boxes.
        let boxes = boxes(&mut draws, spec.space.slots()).filter(|_| text.contains("\"radius\""));
        let data = data(&mut draws, spec.loss.labels());
        let mut learner = Learner::new(spec, boxes.clone()).unwrap();
        if let Err(told) = check_run(&mut learner, &data) {
            failures.push(format!("{told}: {text} {boxes:?}"));
        }
        runs += 1;
    }
    eprintln!("{runs} learners saved and loaded");
    assert!(runs > cases / 5, "{runs}");
    let some = &failures[..failures.len().min(9)];
    assert!(failures.is_empty(), "{} failures: {}", failures.len(), some.join("\n"));
}
