//! The JSONPath compliance suite of RFC 9535. It is read from outside of the project.

use std::path::{Path, PathBuf};

use serde_json::Value;
use vigie::evaluate::assertion::Assertion;
use vigie::syntax::path_expression;

use super::{document, failure};

/// Number of cases in the suite that the project was tested with.
const CASES: usize = 703;

/// Returns the path in `VIGIE_JSONPATH_CTS`, or `shared/data/cts.json` beside a folder above this one.
fn suite() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("VIGIE_JSONPATH_CTS") {
        return Some(path.into());
    }
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above.map(|folder| folder.join("shared/data/cts.json")).find(|path| path.exists())
}

#[test]
fn every_case_of_the_suite_passes() {
    let Some(path) = suite() else {
        println!("JSONPath compliance suite: 0 of {CASES} cases, it is not here");
        return;
    };
    let suite: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let cases = suite["tests"].as_array().unwrap();
    let errors: Vec<String> =
        cases.iter().filter_map(|case| mismatch(case).map(|reason| describe(case, &reason))).collect();
    println!("JSONPath compliance suite: {} of {} cases", cases.len() - errors.len(), cases.len());
    assert!(cases.len() >= CASES, "the suite has {} cases only", cases.len());
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn describe(case: &Value, reason: &str) -> String {
    format!("{} {}: {reason}", case["name"], case["selector"])
}

/// Returns why `case` fails, as a path or as an assertion on a response.
fn mismatch(case: &Value) -> Option<String> {
    let selector = case["selector"].as_str().unwrap();
    let compiled = path_expression::parse_json_path(selector);
    let assertion =
        Assertion::new(&serde_json::from_value(document("JSON Response", selector, "exists", "1")).unwrap());
    if case["invalid_selector"] == true {
        return (compiled.is_ok() || assertion.is_ok()).then(|| "it was taken".to_owned());
    }
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Some(error.to_string()),
    };
    let found: Vec<&Value> = compiled.query(&case["document"]).into_iter().collect();
    let expected = match (case.get("result"), case.get("results")) {
        (Some(result), None) => vec![result],
        (_, Some(results)) => results.as_array().unwrap().iter().collect(),
        (None, None) => return Some("the case has no result".to_owned()),
    };
    let matches = |expected: &&Value| expected.as_array().unwrap().iter().collect::<Vec<_>>() == found;
    if !expected.iter().any(matches) {
        return Some(format!("found {found:?}"));
    }
    let text = case["document"].to_string();
    let count = found.len().to_string();
    failure("JSON Response", selector, "count", &count, &text)
}
