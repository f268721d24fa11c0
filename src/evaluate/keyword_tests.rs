//! Cases of the keyword rule, and a comparison with an oracle that implements the documented rule literally.

use proptest::prelude::*;

use super::*;

/// Flags of a case: `c` case, `w` whole word, `l` line wrap, `s` normalize spaces, `r` regular expression, `i` invert.
fn rule(pattern: &str, flags: &str) -> KeywordRule {
    KeywordRule {
        pattern: pattern.to_owned(),
        match_type: if flags.contains('r') {
            KeywordSyntax::RegularExpression
        } else {
            KeywordSyntax::PlainText
        },
        invert: flags.contains('i'),
        match_case: flags.contains('c'),
        whole_word: flags.contains('w'),
        line_wrap: flags.contains('l'),
        normalize_spaces: flags.contains('s'),
    }
}

const FOUND: &[(&str, &str, &str)] = &[
    ("Welcome", "cwls", "<p>Welcome back</p>"),
    ("welcome", "wls", "<p>WELCOME back</p>"),
    ("été", "wls", "L'ÉTÉ."),
    ("straße", "wls", "STRAßE"),
    ("back", "cwls", "Welcome back"),
    ("back", "c", "Welcome backs"),
    ("a.c", "cwls", "x a.c x"),
    ("a+b (c)", "cwls", "a+b (c)"),
    ("$5", "cwls", "costs a$5"),
    ("5$", "cwls", "5$b"),
    ("-end", "cw", "the-end"),
    ("über", "cw", "(über)"),
    ("two words", "cwls", "two  words"),
    ("two words", "cwls", "two\u{a0}words"),
    ("two words", "cwls", "two&nbsp;words"),
    ("two&nbsp;words", "cwls", "two words"),
    ("two words", "cwls", "two\r\n   words"),
    ("two  words", "cwls", "two words"),
    ("two\nwords", "cwls", "two words"),
    ("two words", "cs", "two \t words"),
    ("two\nwords", "cs", "two \n words"),
    ("two words", "cl", "two\nwords"),
    ("two words", "cl", "two\r\nwords"),
    ("two words", "cl", "two words"),
    (" ", "cwls", "a\tb"),
    ("a.c", "crls", "a\nc"),
    ("a.c", "cr", "a\nc"),
    ("^end$", "crls", "end"),
    ("(?m)^end", "crls", "start\n  end of it\nend"),
    ("[0-9]+ items", "crwls", "12\n items"),
    ("two +words", "crls", "two\twords"),
    (r"two\swords", "crls", "two  \n words"),
    (r"\d{3}", "crw", "a 123 b"),
    (r"\d{3}", "cr", "a 1234 b"),
    ("foo|bar", "crw", "a bar b"),
    ("items?", "rw", "ITEM"),
    ("a+", "crw", "xaa aa"),
    ("日本", "cwls", "(日本)"),
];

const NOT_FOUND: &[(&str, &str, &str)] = &[
    ("welcome", "cwls", "Welcome"),
    ("back", "cwls", "backs"),
    ("back", "cwls", "aback"),
    ("back", "cwls", "back_up"),
    ("été", "cwls", "étés"),
    ("cafe", "cwls", "cafe\u{301}"),
    ("-end", "cw", "the-ends"),
    ("a.c", "cwls", "abc"),
    ("two words", "c", "two  words"),
    ("two words", "c", "two\nwords"),
    ("two words", "cs", "two\nwords"),
    ("two words", "cl", "two\n words"),
    ("two words", "cl", "two\u{a0}words"),
    ("two words", "cwls", "twowords"),
    ("[0-9]+ items", "crs", "12\nitems"),
    (r"\d{3}", "crw", "a 1234 b"),
    ("foo|bar", "crw", "foobar"),
    ("日本", "cwls", "日本語"),
    ("x", "cwls", ""),
];

#[test]
fn keywords_match_as_in_the_table() {
    for (cases, found) in [(FOUND, true), (NOT_FOUND, false)] {
        for (pattern, flags, text) in cases {
            let keyword = rule(pattern, flags).compile().unwrap();
            assert_eq!(keyword.matches(text), found, "`{pattern}` ({flags}) in {text:?}");
        }
    }
}

#[test]
fn with_invert_finding_the_keyword_is_the_error() {
    let judge =
        |flags, text| rule("down", flags).compile().unwrap().evaluate(text).map(|failure| failure.kind);
    assert_eq!(judge("c", "all up"), Some(FailureKind::KeywordMissing));
    assert_eq!(judge("c", "all down"), None);
    assert_eq!(judge("ci", "all up"), None);
    assert_eq!(judge("ci", "all down"), Some(FailureKind::ForbiddenKeywordFound));
}

#[test]
fn an_invalid_pattern_is_rejected() {
    let deep = format!("{}a{}", "(".repeat(300), ")".repeat(300));
    for pattern in ["(", "[z-a]", "a{9999999}", "(?=a)", r"(\w{200}){200}", r"\1", &deep] {
        let error = rule(pattern, "crwls").compile().unwrap_err().to_string();
        assert!(
            !error.is_empty() && !error.contains('\n') && !error.starts_with("error"),
            "{pattern}: {error}"
        );
    }
}

#[test]
fn a_large_hostile_text_takes_linear_time() {
    let started = std::time::Instant::now();
    let text = format!("{}é", "a ".repeat(100_000));
    for (pattern, flags) in [("a a a b", "wls"), ("(a ?)+b", "rwls"), ("(?:a a )*é!", "crls")] {
        assert!(!rule(pattern, flags).compile().unwrap().matches(&text), "{pattern}");
    }
    // A quadratic search would take days; the bound leaves room for slow debug builds.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// Whether `text` contains the plain `pattern`, straight from the wording of behaviour.md.
fn oracle(rule: &KeywordRule, text: &str) -> bool {
    let fold = |text: &str| -> Vec<char> {
        let mut folded: Vec<char> = Vec::new();
        let mut in_run = false;
        for c in text.chars() {
            let is_break = matches!(c, '\n' | '\r');
            match (rule.normalize_spaces && c.is_whitespace(), in_run) {
                (true, true) if is_break => *folded.last_mut().unwrap() = '\n',
                (true, true) => {}
                (true, false) => folded.push(if is_break { '\n' } else { ' ' }),
                (false, _) => folded.push(c),
            }
            in_run = rule.normalize_spaces && c.is_whitespace();
        }
        folded
    };
    let (pattern, text) = (fold(&rule.pattern), fold(text));
    let word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
    (0..=text.len()).any(|start| {
        ends(rule, &pattern, &text, start).into_iter().any(|end| {
            let before = start.checked_sub(1).and_then(|at| text.get(at));
            !rule.whole_word
                || !(word(before) && word(text.get(start)) || word(text.get(end)) && word(text.get(end - 1)))
        })
    })
}

/// Returns the possible ends of a match that starts at `at`.
fn ends(rule: &KeywordRule, pattern: &[char], text: &[char], at: usize) -> Vec<usize> {
    let Some((&first, rest)) = pattern.split_first() else { return vec![at] };
    let Some(&text_char) = text.get(at) else { return Vec::new() };
    let is_same_char =
        first == text_char || !rule.match_case && first.to_lowercase().eq(text_char.to_lowercase());
    let is_space = first == ' ' || rule.normalize_spaces && first == '\n';
    let wraps = rule.line_wrap
        && is_space
        && (matches!(text_char, '\n' | '\r') || rule.normalize_spaces && text_char == ' ');
    let mut found = Vec::new();
    if is_same_char || wraps {
        found.extend(ends(rule, rest, text, at + 1));
    }
    if rule.line_wrap && is_space && text_char == '\r' && text.get(at + 1) == Some(&'\n') {
        found.extend(ends(rule, rest, text, at + 2));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn plain_text_agrees_with_the_oracle(
        pattern in "[aAbé_. \n\u{a0}-]{1,5}",
        text in "[aAbé_. \t\r\n\u{a0}-]{0,24}",
        flags in "c?w?l?s?",
    ) {
        let rule = rule(&pattern, &flags);
        let found = rule.clone().compile().unwrap().matches(&text);
        prop_assert_eq!(found, oracle(&rule, &text), "{:?} in {:?}", rule, text);
    }

    #[test]
    fn an_escaped_expression_agrees_with_plain_text(
        pattern in "[aAbé_.+( \n-]{1,5}",
        text in "[aAbé_.+( \t\r\n\u{a0}-]{0,24}",
        flags in "c?w?l?s?",
    ) {
        let plain = rule(&pattern, &flags).compile().unwrap();
        let expression = rule(&regex_syntax::escape(&pattern), &format!("r{flags}")).compile().unwrap();
        prop_assert_eq!(plain.matches(&text), expression.matches(&text));
    }

    #[test]
    fn no_pattern_makes_it_panic(pattern in ".{1,40}", text in ".{0,60}", flags in "r?c?w?l?s?") {
        if let Ok(keyword) = rule(&pattern, &flags).compile() {
            let _ = keyword.matches(&text);
        }
    }
}
