//! The keys of `press`, and their code points (W3C WebDriver 17.4.2).

/// Named keys.
pub const NAMED_KEYS: &[(&str, char)] = &[
    ("Enter", '\u{E007}'),
    ("Tab", '\u{E004}'),
    ("Escape", '\u{E00C}'),
    ("Space", '\u{E00D}'),
    ("Backspace", '\u{E003}'),
    ("Delete", '\u{E017}'),
    ("Insert", '\u{E016}'),
    ("Home", '\u{E011}'),
    ("End", '\u{E010}'),
    ("PageUp", '\u{E00E}'),
    ("PageDown", '\u{E00F}'),
    ("ArrowLeft", '\u{E012}'),
    ("ArrowUp", '\u{E013}'),
    ("ArrowRight", '\u{E014}'),
    ("ArrowDown", '\u{E015}'),
    ("F1", '\u{E031}'),
    ("F2", '\u{E032}'),
    ("F3", '\u{E033}'),
    ("F4", '\u{E034}'),
    ("F5", '\u{E035}'),
    ("F6", '\u{E036}'),
    ("F7", '\u{E037}'),
    ("F8", '\u{E038}'),
    ("F9", '\u{E039}'),
    ("F10", '\u{E03A}'),
    ("F11", '\u{E03B}'),
    ("F12", '\u{E03C}'),
];

/// Modifier keys.
pub const MODIFIER_KEYS: &[(&str, char)] =
    &[("Control", '\u{E009}'), ("Shift", '\u{E008}'), ("Alt", '\u{E00A}'), ("Meta", '\u{E03D}')];

/// A key with modifiers, as code points of WebDriver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChord {
    /// Pressed before the key and released after it, in this order.
    pub modifiers: Vec<char>,
    /// The key.
    pub key: char,
}

impl KeyChord {
    /// Parses `Enter`, `a`, `Control+a`, `Control+Shift+End` or `Control++`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let prefix_of_plus =
            text.strip_suffix('+').filter(|prefix| prefix.is_empty() || prefix.ends_with('+'));
        let (prefix, key_name) = match prefix_of_plus {
            Some(prefix) => (prefix, "+"),
            None => text
                .rsplit_once('+')
                .map_or(("", text), |(_, key_name)| (&text[..text.len() - key_name.len()], key_name)),
        };
        let mut modifiers = Vec::new();
        for name in prefix.split_terminator('+') {
            let (_, code) = MODIFIER_KEYS.iter().find(|(modifier_name, _)| *modifier_name == name)?;
            if modifiers.contains(code) {
                return None;
            }
            modifiers.push(*code);
        }
        let mut letters = key_name.chars();
        let key = match (letters.next(), letters.next()) {
            (Some(letter), None) if !letter.is_control() => letter,
            _ => NAMED_KEYS.iter().find(|(named_key, _)| *named_key == key_name)?.1,
        };
        Some(Self { modifiers, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_modifiers_and_a_key() {
        let (control, shift) = ('\u{E009}', '\u{E008}');
        for (text, modifiers, key) in [
            ("a", vec![], 'a'),
            ("Enter", vec![], '\u{E007}'),
            ("Control+a", vec![control], 'a'),
            ("Control+Shift+End", vec![control, shift], '\u{E010}'),
            ("+", vec![], '+'),
            ("Control++", vec![control], '+'),
            ("é", vec![], 'é'),
        ] {
            assert_eq!(KeyChord::parse(text), Some(KeyChord { modifiers, key }), "{text}");
        }
        for text in [
            "",
            "ab",
            "enter",
            "Control",
            "Control+",
            "a+b",
            "Control+Control+a",
            "++",
            "+a",
            "\n",
            "Control+ab",
        ] {
            assert_eq!(KeyChord::parse(text), None, "{text}");
        }
    }
}
