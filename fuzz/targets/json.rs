//! Bodies of JSON: what the plain reader accepts is JSON, with as many examples, whose numbers are those of the text.
//!
//! The first byte of the input chooses the settings; the rest is the body.

use lessregret_core::{FeatureSpace, JsonReader, Labels, hash};
use serde_json::Value;

const BITS: u32 = 20;

/// Read a body.
pub fn run(bytes: &[u8]) -> bool {
    let Some((&settings, body)) = bytes.split_first() else { return false };
    let labels = [Labels::Binary, Labels::Real, Labels::Any][usize::from(settings) % 3];
    let is_lines = settings / 3 % 2 == 1;
    let reader = JsonReader::new(&FeatureSpace::text(BITS, labels)).expect("a space of names");
    let Some(plain) = reader.read(body, is_lines, 50) else { return false };
    let values: Vec<Value> = serde_json::Deserializer::from_slice(body)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("what is accepted is JSON");
    let values = match &values[..] {
        [Value::Array(many)] if !is_lines => many.clone(),
        _ => values,
    };
    assert_eq!(values.len(), plain.chunk.len());
    for (k, value) in values.iter().enumerate() {
        check(&value["features"], plain.chunk.example(k).slots, plain.chunk.example(k).values);
    }
    true
}

/// Check the features of one example; they come in the order of the text, and serde_json sorts them.
fn check(features: &Value, slots: &[u32], values: &[f32]) {
    let features = features.as_object().expect("an object");
    assert_eq!(features.len(), slots.len());
    for (name, value) in features {
        let (slot, expected) = match value {
            Value::String(word) => (hash::slot(format!("{name}={word}").as_bytes(), BITS), 1.0),
            Value::Bool(truth) => (hash::slot(name.as_bytes(), BITS), f64::from(u8::from(*truth))),
            number => (hash::slot(name.as_bytes(), BITS), number.as_f64().expect("a number")),
        };
        let place = slots.iter().position(|&found| found == slot).expect("the slot of the name");
        let found = f64::from(values[place]);
        // serde_json rounds to one of the two nearest numbers.
        assert!((found - expected).abs() <= 1e-6 * expected.abs() + 1e-44, "{name}: {found}");
    }
}

/// Bodies of all kinds.
pub fn seeds() -> Vec<Vec<u8>> {
    let with = |settings: u8, text: &&str| [&[settings], text.as_bytes()].concat();
    (0..6).flat_map(|settings| TEXTS.iter().map(move |text| with(settings, text))).collect()
}

const TEXTS: &[&str] = &[
    r#"{"features": {"a": 1, "b": "word", "c": true, "d": -1.5e-3}, "label": 1, "importance": 2}"#,
    r#"[{"features":{"a":0},"label":0},{"label":false,"features":{}}]"#,
    "{\"features\":{\"x\":12345678901234567890},\"label\":-1}\n\n{\"features\":{\"\u{e9}\":0.1},\"label\":1}\n",
];
