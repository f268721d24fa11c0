//! Any keyword rule over any text: a rule compiles or returns an error, and a plain keyword without switches is found
//! exactly where it occurs.

use vigie::evaluate::keyword::{KeywordSyntax, KeywordRule};

// Input: the switches, the keyword up to a line feed, the text.
pub fn run(data: &[u8]) {
    let Some((&switches, rest)) = data.split_first() else { return };
    let Ok(rest) = std::str::from_utf8(rest) else { return };
    let is_set = |bit: u8| switches & (1 << bit) != 0;
    let Some((pattern, text)) = rest.split_once('\n') else { return };
    // Monitors have keywords of a few hundred characters.
    if pattern.len() > 512 {
        return;
    }
    let rule = KeywordRule {
        pattern: pattern.to_owned(),
        match_type: if is_set(0) { KeywordSyntax::RegularExpression } else { KeywordSyntax::PlainText },
        invert: is_set(1),
        match_case: is_set(2),
        whole_word: is_set(3),
        line_wrap: is_set(4),
        normalize_spaces: is_set(5),
    };
    let keyword = match rule.compile() {
        Ok(keyword) => keyword,
        Err(error) => {
            assert!(is_set(0), "`{pattern}` is refused: {error}");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let found = keyword.matches(text);
    assert_eq!(keyword.evaluate(text).is_some(), found == is_set(1));
    let plain = !is_set(0) && !is_set(3) && !is_set(4) && !is_set(5);
    if plain && is_set(2) {
        assert_eq!(found, text.contains(pattern));
    }
    if plain && text.contains(pattern) {
        assert!(found, "it stands there as it is");
    }
}
