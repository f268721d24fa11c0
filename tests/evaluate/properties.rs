//! Random expressions, responses and templates: nothing panics, and values stay within their contexts.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use vigie::domain::Timestamp;
use vigie::evaluate::PatternCache;
use vigie::evaluate::assertion::{Assertion, ParsedResponse};
use vigie::evaluate::template::{EscapeContext, Template, Variables};
use vigie::evaluate::variable::VariableExtractor;

const XML: &str = "<r xmlns:p='urn:p' a='1'><!--c--><?i x?><b p:c='2'>t<b>5</b></b><p:d/>é</r>";
const JSON: &str = r#"{"a": [1, {"b": "x"}, null], "c": {"a": -1.5e3}}"#;

/// Joins random tokens of `tokens`.
fn random_tokens(tokens: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(tokens), 1..12).prop_map(|tokens| tokens.concat())
}

const XPATH_TOKENS: &[&str] = &[
    "/",
    "//",
    "..",
    ".",
    "@",
    "*",
    "[",
    "]",
    "(",
    ")",
    "::",
    ",",
    "|",
    "+",
    "-",
    "=",
    "!=",
    "<",
    ">=",
    " ",
    "1",
    "2.5",
    ".5",
    "'x'",
    "\"y\"",
    "a",
    "b",
    "p:c",
    "p:*",
    "q:x",
    "and",
    "or",
    "div",
    "mod",
    "text()",
    "node()",
    "comment()",
    "processing-instruction()",
    "count(",
    "last()",
    "position()",
    "id(",
    "name(",
    "string(",
    "concat(",
    "sum(",
    "lang(",
    "substring(",
    "translate(",
    "round(",
    "not(",
    "child",
    "ancestor::",
    "following::",
    "preceding::",
    "namespace::",
    "self::",
    "descendant-or-self::",
    "é",
    "$v",
    "#",
];
const JSONPATH_TOKENS: &[&str] = &[
    "$", "@", ".", "..", "*", "[", "]", "?", "(", ")", ",", ":", "'a'", "\"b\"", "a", "b", "0", "-1", "==",
    "!=", "<", "&&", "||", "!", "count(", "length(", "match(", "search(", "value(", " ", "true", "null",
    "1e3", "é", "\\",
];

/// Evaluates assertions and variables with this property, where it is valid.
fn evaluate(source: &str, property: &str, text: &str) {
    let response = ParsedResponse::new(200, Duration::ZERO, &[], text).with_inline_node_budget();
    for comparison in ["exists", "count", "equals", "regular expression excludes"] {
        let document = super::document(source, property, comparison, "1");
        if let Ok(assertion) = Assertion::new(&serde_json::from_value(document.clone()).unwrap()) {
            let _ = assertion.evaluate(&response);
        }
    }
    let variable = json!({"name": "v", "property": property, "source": source});
    if let Ok(variable) = VariableExtractor::new(&serde_json::from_value(variable.clone()).unwrap()) {
        let _ = variable.extract(&response, "", &PatternCache::default());
    }
}

fn variables(value: &str) -> Variables {
    let mut variables = Variables::new(Timestamp::default(), 7);
    variables.set("v", value.to_owned());
    variables
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_xpath_never_panics(path in random_tokens(XPATH_TOKENS), any in ".{0,20}") {
        evaluate("XML Response", &path, XML);
        evaluate("XML Response", &any, XML);
    }

    #[test]
    fn random_jsonpath_never_panics(path in random_tokens(JSONPATH_TOKENS), any in ".{0,20}") {
        evaluate("JSON Response", &path, JSON);
        evaluate("JSON Response", &format!("$[{path}]"), JSON);
        evaluate("JSON Response", &any, JSON);
    }

    #[test]
    fn random_responses_never_panic(text in "[<>/a-c\"'= &;!\\[\\]{}:,0-9é]{0,60}") {
        evaluate("XML Response", "//*[@a=1]/text()", &text);
        evaluate("JSON Response", "$..a", &text);
    }

    #[test]
    fn a_text_without_placeholders_is_unchanged(text in "[a-c{}$ é\\n]{0,30}") {
        let template = Template::new(&text, EscapeContext::Body);
        if !template.has_placeholders() {
            prop_assert_eq!(template.render(&variables("x")).unwrap(), text);
        }
    }

    #[test]
    fn every_value_stays_within_its_context(value in any::<String>()) {
        let variables = variables(&value);
        let rendered = |text: &str, escape| Template::new(text, escape).render(&variables);
        let body: Value = serde_json::from_str(&rendered(r#"{"a": "<{{v}}>"}"#, EscapeContext::Json).unwrap()).unwrap();
        prop_assert_eq!(&body["a"], &json!(format!("<{value}>")));
        let form = rendered("a={{v}}&b=1", EscapeContext::Form).unwrap();
        let pairs: Vec<_> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        prop_assert_eq!(&pairs[0].1, &value);
        prop_assert_eq!(pairs.len(), 2);
        let query = url::Url::parse(&rendered("http://a.test/x?a={{v}}&b=1", EscapeContext::Url).unwrap()).unwrap();
        prop_assert_eq!(query.host_str(), Some("a.test"));
        prop_assert_eq!(&query.query_pairs().next().unwrap().1, &value);
        if let Ok(header) = rendered("x{{v}}", EscapeContext::Header) {
            prop_assert!(http::HeaderValue::from_bytes(header.as_bytes()).is_ok());
        }
        let expression = rendered("^{{v}}$", EscapeContext::Regex).unwrap();
        prop_assert!(regex::Regex::new(&expression).unwrap().is_match(&value));
    }
}
