//! Any XPath over any document: it is refused or evaluated within its limits, and gives the same result twice.

use std::time::Duration;

use vigie::evaluate::assertion::{ParsedResponse, Assertion, AssertionSettings};

/// Longest failure, in bytes: a path and a value of some sixty characters each, and the text around them.
const MAX_DETAIL: usize = 2048;

// Input: the path up to a line feed, then the document.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((path, document)) = text.split_once('\n') else { return };
    let assertion = |comparison: &str, value: &str| {
        Assertion::new(&AssertionSettings {
            source: "XML Response".to_owned(),
            property: path.to_owned(),
            comparison: comparison.to_owned(),
            value: value.to_owned(),
            schema: None,
        })
    };
    let (exists, absent) = match (assertion("exists", ""), assertion("does not exist", "")) {
        (Ok(exists), Ok(absent)) => (exists, absent),
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            assert!(!one.to_string().is_empty());
            return;
        }
        (one, other) => panic!("`{path}` is refused for one comparison: {one:?} {other:?}"),
    };
    let response = || ParsedResponse::new(200, Duration::ZERO, &[], document);
    let evaluate = |assertion: &Assertion, response: &ParsedResponse<'_>| {
        let failure = assertion.evaluate(response)?;
        assert!(failure.detail.len() <= MAX_DETAIL, "{} bytes: {}", failure.detail.len(), failure.detail);
        Some(failure.detail)
    };
    let (one, other) = (evaluate(&exists, &response()), evaluate(&absent, &response()));
    // Neither holds for a document that cannot be parsed, or a path that takes too long.
    assert!(one.is_some() || other.is_some(), "`{path}` is there and is not");
    assert_eq!(one, evaluate(&exists, &response()), "`{path}` says something else the second time");
    // With inline fuel the result is the same, or the fuel is exhausted.
    let limited = response().with_inline_node_budget();
    let inline = evaluate(&exists, &limited);
    assert!(limited.is_node_budget_exhausted() || inline == one, "`{path}` in passing: {inline:?}, else {one:?}");
    if let Ok(count) = assertion("count", "0") {
        let none = evaluate(&count, &response());
        assert!(none.is_some() || one.is_some(), "`{path}` is there and counts none");
    }
}
