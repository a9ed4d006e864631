//! One example at a time, from a dict: no array, no thread, and memory that is used again.

use std::cell::RefCell;

use lessregret_core::{self as core, One, SharedLearner};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString};

/// The memory of a thread for the example that it is about to learn or to predict.
#[derive(Default)]
struct Scratch {
    one: One,
    name: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The label and the importance of an example to learn from.
pub type Target = (f64, f64);

/// Predict or learn from a dict of numbers and words. None if the dict is not plain, which Python then reads.
///
/// The GIL is held unless the learner must be waited for: a round takes less time than to let the GIL go.
pub fn play(
    py: Python<'_>,
    learner: &SharedLearner,
    features: &Bound<'_, PyAny>,
    target: Option<Target>,
) -> Option<core::Result<f64>> {
    let (Ok(features), Some(bits)) = (features.cast_exact::<PyDict>(), learner.plain_bits()) else {
        return None;
    };
    SCRATCH.with_borrow_mut(|Scratch { one, name }| {
        one.start(learner);
        features.iter().all(|(key, value)| push(one, name, bits, &key, &value)).then_some(())?;
        one.finish(target);
        match target {
            None => {
                let margin = learner.try_predict_one(one);
                Some(Ok(margin.unwrap_or_else(|| py.detach(|| learner.predict_one(one)))))
            }
            Some(_) => {
                let learned = learner.try_learn_one(one);
                Some(learned.unwrap_or_else(|| py.detach(|| learner.learn_one(one))))
            }
        }
    })
}

/// Add the feature of one key. False if it is not plain: a float, an int or a word under a word.
fn push(
    one: &mut One,
    scratch: &mut Vec<u8>,
    bits: u32,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> bool {
    let Some(name) = key.cast::<PyString>().ok().and_then(|key| key.to_str().ok()) else {
        return false;
    };
    if let Ok(word) = value.cast::<PyString>() {
        let Ok(word) = word.to_str() else { return false };
        scratch.clear();
        scratch.extend_from_slice(name.as_bytes());
        scratch.push(b'=');
        scratch.extend_from_slice(word.as_bytes());
        one.push(core::hash::slot(scratch, bits), 1.0);
        return true;
    }
    let number = match value.cast::<PyFloat>() {
        Ok(number) => number.value(),
        Err(_) if value.is_instance_of::<PyInt>() => value.extract().unwrap_or(f64::NAN),
        Err(_) => f64::NAN,
    };
    let number = number as f32;
    if number.is_finite() {
        one.push(core::hash::slot(name.as_bytes(), bits), number);
    }
    number.is_finite()
}
