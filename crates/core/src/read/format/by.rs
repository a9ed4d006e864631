//! The namespaces of a line whose features are written behind its tag, for slices.

use crate::example::push_fields;

/// Some namespaces, and the features that a line has in them.
#[derive(Clone, Debug)]
pub struct ByNamespaces {
    names: Vec<String>,
    /// For every namespace its features as they are written, with blanks between them.
    values: Vec<Vec<u8>>,
    tag: Vec<u8>,
}

impl ByNamespaces {
    /// The namespaces with these names.
    pub fn new(names: &[String]) -> Self {
        ByNamespaces {
            names: names.to_vec(),
            values: vec![Vec::new(); names.len()],
            tag: Vec::new(),
        }
    }

    /// The names, for messages.
    pub fn described(&self) -> String {
        format!("slices by {}", self.names.join(", "))
    }

    /// Forget the features of a line that was given up.
    pub fn begin_line(&mut self) {
        self.values.iter_mut().for_each(Vec::clear);
    }

    /// Note a feature of the line, as it is written.
    pub fn note(&mut self, namespace: &[u8], feature: &[u8]) {
        for (name, value) in self.names.iter().zip(&mut self.values) {
            if name.as_bytes() == namespace {
                if !value.is_empty() {
                    value.push(b' ');
                }
                value.extend_from_slice(feature);
            }
        }
    }

    /// The tag of the line with its features behind it.
    pub fn behind(&mut self, tag: &[u8]) -> &[u8] {
        self.tag.clear();
        self.tag.extend_from_slice(tag);
        push_fields(&mut self.tag, self.values.iter().map(Vec::as_slice));
        &self.tag
    }
}
