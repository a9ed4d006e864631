//! The words of a text: runs of letters, digits and underscores, in lower case.

/// Calls a function with every word of a text, in order. Bytes that are not UTF-8 separate words.
pub fn each_word(text: &[u8], mut take: impl FnMut(&[u8])) {
    let mut word = Vec::new();
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_alphanumeric() || character == '_' {
                push_lower(&mut word, character);
            } else {
                finish(&mut word, &mut take);
            }
        }
        if !chunk.invalid().is_empty() {
            finish(&mut word, &mut take);
        }
    }
    finish(&mut word, &mut take);
}

fn push_lower(word: &mut Vec<u8>, character: char) {
    if character.is_ascii() {
        word.push(character.to_ascii_lowercase() as u8);
        return;
    }
    for lower in character.to_lowercase() {
        word.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn finish(word: &mut Vec<u8>, take: &mut impl FnMut(&[u8])) {
    if !word.is_empty() {
        take(word);
        word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, |word| found.push(String::from_utf8(word.to_vec()).unwrap()));
        found
    }

    #[test]
    fn words_are_lower_case_runs_of_letters_and_digits() {
        assert_eq!(words(b"It's 2 Late, my_friend!"), ["it", "s", "2", "late", "my_friend"]);
        assert_eq!(words("ÉTÉ—日本 ς".as_bytes()), ["été", "日本", "ς"]);
        assert_eq!(words(b"a\xffb"), ["a", "b"]);
        assert!(words(b" .,; ").is_empty());
    }
}
