//! JSON, the form in which documents of the core are passed to Python.

/// Serialise a document as JSON.
pub fn json<T: serde::Serialize>(document: &T) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
