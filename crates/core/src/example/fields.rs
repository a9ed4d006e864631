//! Values of an example that stand behind its tag: what slices are made by (`metrics/slices.rs`).
//!
//! ```text
//! tag     = name, [ FIELDS, value, { NEXT, value } ]
//! ```
//!
//! A value has neither of the two bytes: they are control characters, which are replaced by a blank.

/// The byte after which the values stand.
const FIELDS: u8 = 0x1e;
/// The byte between two values.
const NEXT: u8 = 0x1f;

/// Append the values to a tag.
pub fn push_fields<'a>(tag: &mut Vec<u8>, values: impl Iterator<Item = &'a [u8]>) {
    let mut mark = FIELDS;
    for value in values {
        tag.push(mark);
        let plain = |&byte: &u8| if matches!(byte, FIELDS | NEXT) { b' ' } else { byte };
        tag.extend(value.iter().map(plain));
        mark = NEXT;
    }
}

/// The values behind a tag; one that is empty if there are none.
pub fn fields(tag: &[u8]) -> impl Iterator<Item = &[u8]> {
    let start = tag.iter().rposition(|&byte| byte == FIELDS).map_or(tag.len(), |at| at + 1);
    tag[start..].split(|&byte| byte == NEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_the_tag() {
        let mut tag = b"name".to_vec();
        push_fields(&mut tag, [&b"n\x1el"[..], b"", b"23"].into_iter());
        assert_eq!(tag, b"name\x1en l\x1f\x1f23");
        assert_eq!(fields(&tag).collect::<Vec<_>>(), [&b"n l"[..], b"", b"23"]);
    }

    #[test]
    fn a_tag_without_values_is_as_it_was() {
        assert_eq!(fields(b"name").collect::<Vec<_>>(), [b""]);
    }
}
