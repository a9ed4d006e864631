//! Model files: what is loaded is saved to bytes that load, and that are saved as they are.
//!
//! The input is the header of a model file, a newline and the body. The length and the checksum are put in
//! here, so that mutations are seen by the checks after them.

use lessregret_core::{FeatureSpace, Learner, Matrix, Scale, Slice, Source, Spec};
use serde_json::Value;

/// Larger tables are good models, too, but each takes a second to walk over.
const MOST_SLOTS: u64 = 1 << 12;
const BEFORE_CHECKSUM: &[u8] = br#"{\"checksum\":\""#;
const NO_CHECKSUM: &[u8] = b"00000000";

/// Load a model.
pub fn run(bytes: &[u8]) -> bool {
    let Some(file) = file_of(bytes) else { return false };
    let Ok(learner) = Learner::from_bytes(&file) else { return false };
    let saved = learner.to_bytes().expect("what was loaded can be saved");
    let again = Learner::from_bytes(&saved).expect("what was saved can be loaded");
    assert!(again.to_bytes().expect("it was saved before") == saved, "the bytes have changed");
    go_on(learner);
    true
}

/// Learn a row and save: what is saved then can be loaded, too.
fn go_on(mut learner: Learner) {
    let space = FeatureSpace { scale: Scale::None, ..learner.space().clone() };
    if learner.is_slim() || space.table.is_empty() {
        return;
    }
    let matrix = Matrix {
        indptr: Slice::Narrow(&[0, 1]),
        indices: Slice::Narrow(&[0]),
        values: Slice::Narrow(&[2.0]),
    };
    // A gradient too large for float32 is refused, and nothing is learned.
    let _ = learner.learn(Source::Rows {
        matrix,
        labels: Some(&[1.0]),
        importances: None,
        bases: None,
        space,
    });
    // Sums near the largest float, which no run has, may overflow: then saving says so.
    if let Ok(saved) = learner.to_bytes() {
        Learner::from_bytes(&saved).expect("what has learned and was saved can be loaded");
    }
}

/// The model file of an input; none if it is no JSON or its table is large.
fn file_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let (header, body) = (&bytes[..end], &bytes[end + 1..]);
    let outer: Value = serde_json::from_slice(header).ok()?;
    let inner: Value = serde_json::from_str(outer["__metadata__"]["lessregret"].as_str()?).ok()?;
    let table = &inner["spec"]["table"];
    let bits = table["bits"].as_u64().map_or(0, |bits| 1 << bits.min(40));
    if bits.max(table["columns"].as_u64().unwrap_or(0)) > MOST_SLOTS {
        return None;
    }
    let mut file = [&(header.len() as u64).to_le_bytes(), header, body].concat();
    let found = file.windows(BEFORE_CHECKSUM.len()).position(|piece| piece == BEFORE_CHECKSUM)?;
    let start = found + BEFORE_CHECKSUM.len();
    file.get_mut(start..start + NO_CHECKSUM.len())?.copy_from_slice(NO_CHECKSUM);
    let checksum = format!("{:08x}", crc32fast::hash(&file));
    file[start..start + NO_CHECKSUM.len()].copy_from_slice(checksum.as_bytes());
    Some(file)
}

/// Small learners of all kinds.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (rule, rest) in RULES {
        for (scale, slim) in [("none", false), ("cap", false), ("full", true), ("standard", false)]
        {
            let rest = format!(r#"{rest},"scale":"{scale}""#);
            let spec =
                format!(r#"{{"loss":"hinge","rule":{rule},"table":{{"columns":6}},{rest}}}"#);
            let spec = Spec::parse(&spec).expect("a spec of the seeds");
            seeds.push(seed(spec, slim));
        }
    }
    seeds
}

const RULES: &[(&str, &str)] = &[
    (
        r#"{"name":"per-coordinate","rate":"theory","radius":9.0,"box":null}"#,
        r#""intercept":true,"certify":true"#,
    ),
    (
        r#"{"name":"per-coordinate","rate":"auto","radius":9.0,"box":null}"#,
        r#""intercept":true,"certify":true,"fixed_share":0.01"#,
    ),
    (
        r#"{"name":"global","rate":"auto","radius":1.0,"box":[0.5,2.0]}"#,
        r#""intercept":false,"certify":false"#,
    ),
    (
        r#"{"name":"global","rate":0.5,"radius":1.0,"box":null}"#,
        r#""intercept":false,"certify":false,"l2":0.1"#,
    ),
    (
        r#"{"name":"ftrl","rate":0.1,"offset":1.0,"l1":0.0,"l2":0.0,"radius":9.0,"box":null}"#,
        r#""intercept":true,"certify":false"#,
    ),
    (
        r#"{"name":"arow","regularisation":1.0,"form":"covariance"}"#,
        r#""intercept":true,"certify":false"#,
    ),
    (
        r#"{"name":"pa-i","aggressiveness":1.0,"epsilon":0.0}"#,
        r#""intercept":true,"certify":false"#,
    ),
];

fn seed(spec: Spec, slim: bool) -> Vec<u8> {
    let space = FeatureSpace { scale: Scale::None, ..spec.space.clone() };
    let mut learner = Learner::new(spec, None).expect("a learner of the seeds");
    let matrix = Matrix {
        indptr: Slice::Narrow(&[0, 2, 3]),
        indices: Slice::Narrow(&[1, 4, 2]),
        values: Slice::Narrow(&[1.0, -3.5, 0.5]),
    };
    let (labels, importances): (&[f64], &[f64]) = (&[1.0, -1.0], &[1.0, 2.0]);
    let rows = Source::Rows {
        matrix,
        labels: Some(labels),
        importances: Some(importances),
        bases: None,
        space,
    };
    learner.learn(rows).expect("rows of the seeds");
    let folder = std::env::temp_dir().join(format!("lessregret-seed-{}", std::process::id()));
    learner.save(&folder, slim).expect("a file of the seeds");
    let file = std::fs::read(&folder).expect("a file of the seeds");
    std::fs::remove_file(&folder).expect("a file of the seeds");
    let length = u64::from_le_bytes(file[..8].try_into().expect("eight bytes")) as usize;
    [&file[8..8 + length], b"\n", &file[8 + length..]].concat()
}
