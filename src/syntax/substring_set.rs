//! Tests whether a name contains one of a few substrings: called for every header and member of a response, and
//! mostly false.

/// A set of ASCII substrings in lower case, each with a bit mask of its letters.
pub struct SubstringSet<const N: usize>([(u32, &'static str); N]);

impl<const N: usize> SubstringSet<N> {
    /// Creates a set of these words.
    #[must_use]
    pub const fn new(words: [&'static str; N]) -> Self {
        let mut entries = [(0, ""); N];
        let mut at = 0;
        while at < N {
            entries[at] = (letter_mask(words[at].as_bytes()), words[at]);
            at += 1;
        }
        Self(entries)
    }

    /// Whether `name` contains one of the words, ignoring case.
    #[must_use]
    pub fn occurs_in(&self, name: &[u8]) -> bool {
        let missing_letters = !letter_mask(name);
        // A word with a letter that the name lacks is not searched for. Most names contain none of the words, which is
        // detected fastest without a branch for each.
        let mut is_possible = false;
        for (mask, _) in &self.0 {
            is_possible |= mask & missing_letters == 0;
        }
        is_possible
            && self.0.iter().any(|(mask, word)| {
                mask & missing_letters == 0 && contains_ignore_case(name, word.as_bytes())
            })
    }
}

/// Returns a bit mask of the letters that occur.
const fn letter_mask(text: &[u8]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < text.len() {
        let letter = (text[at] | 0x20).wrapping_sub(b'a');
        if letter < 26 {
            bits |= 1 << letter;
        }
        at += 1;
    }
    bits
}

fn contains_ignore_case(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_position() {
        let words = SubstringSet::new(["api-key", "token"]);
        for (name, found) in [
            ("token", true),
            ("X-ToKeN-2", true),
            ("my-API-Key", true),
            ("api_key", false),
            ("net-ok", false),
            ("toke", false),
            ("", false),
            ("é token", true),
        ] {
            assert_eq!(words.occurs_in(name.as_bytes()), found, "{name}");
        }
    }
}
