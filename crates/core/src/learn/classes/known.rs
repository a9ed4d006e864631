//! The classes that a learner knows, in the order in which they got their places.
//!
//! A class has a code, the number that examples have as their label. It *counts* from a certain round on: then it has a
//! part in predictions and losses, and its weights may move. Before, all its weights are 0. A class counts from the
//! first round if it was declared, or from the round of its first example if classes are found as they come. So it
//! does not matter how long before its first example a class was given its place (decision 34).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::error::{InputError, Result};
use crate::spec::ManyClasses;

/// The classes as in the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codes {
    /// The codes, in the order of their places.
    pub codes: Vec<i32>,
    /// Which of them count: 1 for yes, 0 for no.
    pub counted: Vec<u8>,
}

/// The classes that a learner knows.
pub struct KnownClasses {
    codes: Vec<i32>,
    counted: Vec<bool>,
    places: HashMap<i32, usize>,
    auto: bool,
}

impl KnownClasses {
    /// The classes of a spec.
    pub fn new(classes: &ManyClasses) -> Self {
        let (codes, counted, places) = Default::default();
        let mut known = KnownClasses { codes, counted, places, auto: classes.auto };
        for &code in &classes.known {
            known.add(code, !classes.auto);
        }
        known
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// The codes of the classes, in the order of their places.
    pub fn codes(&self) -> &[i32] {
        &self.codes
    }

    /// Whether classes are found as they come, and each counts from its first example on.
    pub fn is_auto(&self) -> bool {
        self.auto
    }

    /// Which classes count.
    pub fn counted(&self) -> &[bool] {
        &self.counted
    }

    /// Give a class a place, and let it count if it is to; returns its place.
    pub fn add(&mut self, code: i32, counts: bool) -> usize {
        let place = *self.places.entry(code).or_insert(self.codes.len());
        if place == self.codes.len() {
            self.codes.push(code);
            self.counted.push(false);
        }
        self.counted[place] |= counts;
        place
    }

    /// The place of the class of a label that counts already.
    #[inline(always)]
    pub fn find(&self, label: f32) -> Option<usize> {
        let place = *self.places.get(&(label as i32))?;
        self.counted[place].then_some(place)
    }

    /// Check that the class of a label that does not count yet may count from now on.
    pub fn check_open(&self, label: f32, round: u64) -> Result<()> {
        if self.auto {
            return Ok(());
        }
        let expected = format!(
            "one of the {} classes that were declared; let classes be found as they come (--classes auto), or declare \
             all of them",
            self.len()
        );
        let place = format!("the label of round {round}");
        Err(InputError::argument(place, label, expected).into())
    }

    /// The classes as in the model file.
    pub fn written(&self) -> Codes {
        let counted = self.counted.iter().map(|&counts| u8::from(counts)).collect();
        Codes { codes: self.codes.clone(), counted }
    }

    /// Restore the classes of a model file.
    pub fn restore(&mut self, written: Codes) -> std::result::Result<(), String> {
        let Codes { codes, counted } = written;
        if codes.len() != counted.len() || !codes.starts_with(&self.codes) {
            return Err("'shared.classes' is not a list that begins with the spec's classes".into());
        }
        for (&code, counts) in codes.iter().zip(counted) {
            self.add(code, counts != 0);
        }
        match self.codes == codes {
            true => Ok(()),
            false => Err("'shared.classes' has a class twice".into()),
        }
    }
}
