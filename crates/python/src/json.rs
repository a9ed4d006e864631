//! Documents of the core as JSON, in which they cross to Python.

/// A document as JSON.
pub fn json<T: serde::Serialize>(document: &T) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
