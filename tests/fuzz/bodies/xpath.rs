//! Any XPath over any document: it is refused or looked up within its bounds, and says the same twice.

use std::time::Duration;

use vigie::evaluate::assertion::{ParsedResponse, Assertion, AssertionSettings};

/// Bytes that a failure tells at most: a path and a value, each in some sixty characters, and words around them.
const TOLD: usize = 2048;

// The path up to a line feed, then the document.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((path, document)) = text.split_once('\n') else { return };
    let assertion = |comparison: &str, value: &str| {
        Assertion::new(&AssertionSettings {
            source: "XML Response".to_owned(),
            property: path.to_owned(),
            comparison: comparison.to_owned(),
            value: value.to_owned(),
        })
    };
    let (there, absent) = match (assertion("exists", ""), assertion("does not exist", "")) {
        (Ok(there), Ok(absent)) => (there, absent),
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            assert!(!one.to_string().is_empty());
            return;
        }
        (one, other) => panic!("`{path}` is refused for one comparison: {one:?} {other:?}"),
    };
    let answer = || ParsedResponse::new(200, Duration::ZERO, &[], document);
    let judge = |assertion: &Assertion, answer: &ParsedResponse<'_>| {
        let failure = assertion.evaluate(answer)?;
        assert!(failure.detail.len() <= TOLD, "{} bytes: {}", failure.detail.len(), failure.detail);
        Some(failure.detail)
    };
    let (one, other) = (judge(&there, &answer()), judge(&absent, &answer()));
    // Of a document that cannot be read, or a path that takes too long, neither holds.
    assert!(one.is_some() || other.is_some(), "`{path}` is there and is not");
    assert_eq!(one, judge(&there, &answer()), "`{path}` says something else the second time");
    // Where nothing may be held up, it says the same or that it was given too little.
    let passing = answer().with_inline_fuel();
    let said = judge(&there, &passing);
    assert!(passing.is_fuel_exhausted() || said == one, "`{path}` in passing: {said:?}, else {one:?}");
    if let Ok(count) = assertion("count", "0") {
        let none = judge(&count, &answer());
        assert!(none.is_some() || one.is_some(), "`{path}` is there and counts none");
    }
}
