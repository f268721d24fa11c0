//! Whether a name has one of a few words in it: asked of every header and every member of every answer, and mostly
//! answered with no.

/// Words of ASCII, in small letters.
pub struct WordSet<const N: usize>([(u32, &'static str); N]);

impl<const N: usize> WordSet<N> {
    /// These words.
    #[must_use]
    pub const fn new(words: [&'static str; N]) -> Self {
        let mut all = [(0, ""); N];
        let mut at = 0;
        while at < N {
            all[at] = (letter_mask(words[at].as_bytes()), words[at]);
            at += 1;
        }
        Self(all)
    }

    /// Whether one of them stands in `name`, in whatever case.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        let missing = !letter_mask(name);
        // A word with a letter that the name does not have need not be looked for. Most names have none of them, which
        // is seen quickest without a branch for each.
        let mut may = false;
        for (own, _) in &self.0 {
            may |= own & missing == 0;
        }
        may && self
            .0
            .iter()
            .any(|(own, word)| own & missing == 0 && contains_ignore_case(name, word.as_bytes()))
    }
}

/// One bit for each letter that occurs.
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
    fn words_are_found_in_any_case_and_place() {
        let words = WordSet::new(["api-key", "token"]);
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
            assert_eq!(words.matches(name.as_bytes()), found, "{name}");
        }
    }
}
