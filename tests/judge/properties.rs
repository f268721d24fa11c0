//! Whatever is written down or answered: nothing panics, and templates keep to their places.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use vigie::domain::Timestamp;
use vigie::evaluate::assertion::{Assertion, ParsedResponse};
use vigie::evaluate::template::{EscapeContext, Template, Variables};
use vigie::evaluate::variable::VariableExtractor;

const XML: &str = "<r xmlns:p='urn:p' a='1'><!--c--><?i x?><b p:c='2'>t<b>5</b></b><p:d/>é</r>";
const JSON: &str = r#"{"a": [1, {"b": "x"}, null], "c": {"a": -1.5e3}}"#;

/// The words that expressions are made of, in any order.
fn words(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(words), 1..12).prop_map(|words| words.concat())
}

const OF_XPATH: &[&str] = &[
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
const OF_JSONPATH: &[&str] = &[
    "$", "@", ".", "..", "*", "[", "]", "?", "(", ")", ",", ":", "'a'", "\"b\"", "a", "b", "0", "-1", "==",
    "!=", "<", "&&", "||", "!", "count(", "length(", "match(", "search(", "value(", " ", "true", "null",
    "1e3", "é", "\\",
];

/// Judges by it, where it can be.
fn tried(source: &str, property: &str, text: &str) {
    let answer = ParsedResponse::new(200, Duration::ZERO, &[], text).with_inline_fuel();
    for comparison in ["exists", "count", "equals", "regular expression excludes"] {
        let document = super::document(source, property, comparison, "1");
        if let Ok(assertion) = Assertion::new(&serde_json::from_value(document.clone()).unwrap()) {
            let _ = assertion.evaluate(&answer);
        }
    }
    let variable = json!({"name": "v", "property": property, "source": source});
    if let Ok(variable) = VariableExtractor::new(&serde_json::from_value(variable.clone()).unwrap()) {
        let _ = variable.extract(&answer, "");
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
    fn no_xpath_makes_it_panic(path in words(OF_XPATH), any in ".{0,20}") {
        tried("XML Response", &path, XML);
        tried("XML Response", &any, XML);
    }

    #[test]
    fn no_jsonpath_makes_it_panic(path in words(OF_JSONPATH), any in ".{0,20}") {
        tried("JSON Response", &path, JSON);
        tried("JSON Response", &format!("$[{path}]"), JSON);
        tried("JSON Response", &any, JSON);
    }

    #[test]
    fn no_answer_makes_it_panic(text in "[<>/a-c\"'= &;!\\[\\]{}:,0-9é]{0,60}") {
        tried("XML Response", "//*[@a=1]/text()", &text);
        tried("JSON Response", "$..a", &text);
    }

    #[test]
    fn a_text_without_placeholders_stays(text in "[a-c{}$ é\\n]{0,30}") {
        let template = Template::new(&text, EscapeContext::Body);
        if !template.has_placeholders() {
            prop_assert_eq!(template.render(&variables("x")).unwrap(), text);
        }
    }

    #[test]
    fn every_value_survives_its_place(value in any::<String>()) {
        let variables = variables(&value);
        let filled = |text: &str, escape| Template::new(text, escape).render(&variables);
        let body: Value = serde_json::from_str(&filled(r#"{"a": "<{{v}}>"}"#, EscapeContext::Json).unwrap()).unwrap();
        prop_assert_eq!(&body["a"], &json!(format!("<{value}>")));
        let form = filled("a={{v}}&b=1", EscapeContext::Form).unwrap();
        let pairs: Vec<_> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        prop_assert_eq!(&pairs[0].1, &value);
        prop_assert_eq!(pairs.len(), 2);
        let query = url::Url::parse(&filled("http://a.test/x?a={{v}}&b=1", EscapeContext::Url).unwrap()).unwrap();
        prop_assert_eq!(query.host_str(), Some("a.test"));
        prop_assert_eq!(&query.query_pairs().next().unwrap().1, &value);
        if let Ok(header) = filled("x{{v}}", EscapeContext::Header) {
            prop_assert!(http::HeaderValue::from_bytes(header.as_bytes()).is_ok());
        }
        let expression = filled("^{{v}}$", EscapeContext::Regex).unwrap();
        prop_assert!(regex::Regex::new(&expression).unwrap().is_match(&value));
    }
}
