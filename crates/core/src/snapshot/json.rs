//! Finds keys that a JSON document has twice. A parser into maps keeps the last of them and says nothing.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Check that no object of the document has a key twice. The error is one of syntax, or names the key.
pub(super) fn check_keys(document: &[u8]) -> serde_json::Result<()> {
    let mut parser = serde_json::Deserializer::from_slice(document);
    EachKeyOnce.deserialize(&mut parser)?;
    parser.end()
}

/// Any value whose objects have each key once.
struct EachKeyOnce;

impl<'de> DeserializeSeed<'de> for EachKeyOnce {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EachKeyOnce {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON whose objects have each key once")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_element_seed(EachKeyOnce)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            entries.next_value_seed(EachKeyOnce)?;
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("the key '{key}' stands there twice")));
            }
            keys.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_named_wherever_it_is() {
        for document in [r#"{"a":1,"a":1}"#, r#"[{"b":{"c":[],"a":null,"a":"x"}}]"#] {
            let told = check_keys(document.as_bytes()).unwrap_err().to_string();
            assert!(told.starts_with("the key 'a' stands there twice"), "{told}");
        }
        assert!(check_keys(br#"{"a":{"a":[{"a":-1},{"a":2.5}]},"b":true} "#).is_ok());
        assert!(check_keys(b"{} {}").is_err() && check_keys(b"{").is_err());
    }
}
