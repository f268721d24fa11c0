//! Extracts a value from a response for later steps (behaviour.md 4, Assertions).
//!
//! Without a source, the media type of the response decides what the property is: a JSONPath for JSON, an XPath for
//! XML. For any other response a property that begins with `$` is a JSONPath, one that begins with `/` an XPath, and
//! any other a regular expression, whose first group is the value (the whole match if it has no group). A header is
//! only read when the source says so. Of several nodes the first is used.

use serde::Deserialize;

use super::assertion::{AssertionError, Lookup, ParsedResponse, one_line_excerpt};
use super::pattern_cache::{PatternCache, pattern_failure};
use super::template::EscapeContext;
use crate::domain::{Failure, FailureKind, Phase};
use crate::syntax::pattern::{HaystackKind, PatternError, check_source_size};

/// Maximum size of a value in bytes.
const MAX_VALUE_BYTES: usize = 64 * 1024;

/// The settings of a variable of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct VariableSettings {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// JSONPath, XPath, name of a header, or regular expression with a group.
    #[serde(default)]
    pub property: String,
    /// Where it is found; empty to derive it from the response.
    #[serde(default)]
    pub source: String,
}

/// A compiled variable of a step. A regular expression is compiled when it is needed, since it takes tens of kilobytes
/// or more when compiled.
#[derive(Clone, Debug)]
pub struct VariableExtractor {
    name: Box<str>,
    property: Box<str>,
    /// As in the settings; empty when it is inferred.
    source: Box<str>,
    /// The compiled lookup, when it is known and small.
    lookup: Option<Box<Lookup>>,
}

impl VariableExtractor {
    /// Creates the extractor that `settings` describe (fields.md 2).
    ///
    /// # Errors
    /// [`AssertionError`] when the property does not suit the source.
    pub fn new(settings: &VariableSettings) -> Result<Self, AssertionError> {
        let VariableSettings { name, property, source } = settings;
        check_source_size(property)?;
        let lookup = match source.as_str() {
            "" | "Response" => None,
            source => Some(Box::new(Lookup::new(source, property)?)),
        };
        let (name, property) = (name.as_str().into(), property.as_str().into());
        Ok(Self { name, property, source: source.as_str().into(), lookup })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it may be found in the body.
    #[must_use]
    pub fn reads_body(&self) -> bool {
        &*self.source != "Header"
    }

    /// Whether it is found in the header fields.
    #[must_use]
    pub fn reads_headers(&self) -> bool {
        &*self.source == "Header"
    }

    /// Whether it is a regular expression in a response of this media type: those take a while to compile.
    #[must_use]
    pub fn is_regex(&self, content_type: &str) -> bool {
        self.source_for(content_type) == "Response"
    }

    fn source_for(&self, content_type: &str) -> &str {
        match &*self.source {
            "" => infer_source(content_type, &self.property),
            source => source,
        }
    }

    /// Returns its value in `response`, which is of this media type. `patterns` keeps a regular expression.
    ///
    /// # Errors
    /// [`FailureKind::VariableNotExtracted`] when it is absent or larger than 64 KiB, or the response cannot be
    /// parsed as the property requires.
    pub fn extract(
        &self,
        response: &ParsedResponse<'_>,
        content_type: &str,
        patterns: &PatternCache,
    ) -> Result<String, Failure> {
        let source = self.source_for(content_type);
        let first_node_text = |lookup: &Lookup| {
            lookup.select(response).map(|nodes| nodes.first().map(|node| node.text().into_owned()))
        };
        let unusable = |error: AssertionError| self.not_extracted_failure(source, &error.to_string());
        let value = if let Some(lookup) = &self.lookup {
            first_node_text(lookup)
        } else if source == "Response" {
            let pattern = patterns
                .compile(&self.property, HaystackKind::Text)
                .map_err(|error| self.pattern_failure(source, &error))?;
            if response.search_budget.can_finish_search(&pattern, response.body_text) {
                Ok(pattern.first_group(response.body_text).map(str::to_owned))
            } else {
                Err("there was no time to search for it".to_owned())
            }
        } else {
            first_node_text(&Lookup::new(source, &self.property).map_err(unusable)?)
        };
        match value {
            Ok(Some(value)) if value.len() > MAX_VALUE_BYTES => {
                let text = format!("found {} bytes, more than {MAX_VALUE_BYTES}", value.len());
                Err(self.not_extracted_failure(source, &text))
            }
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(self.not_extracted_failure(source, "found nothing")),
            Err(reason) => Err(self.not_extracted_failure(source, &reason)),
        }
    }

    /// Returns the failure of a pattern. One without a source may turn out to be a pattern only in a response, so
    /// that a syntax error is reported like a value that was not found.
    fn pattern_failure(&self, source: &str, error: &PatternError) -> Failure {
        if matches!(error, PatternError::Syntax(_)) {
            return self.not_extracted_failure(source, &AssertionError::from(error.clone()).to_string());
        }
        pattern_failure(Phase::Validate, &format!("`property` of the variable `{}`", self.name), error)
    }

    fn not_extracted_failure(&self, source: &str, reason: &str) -> Failure {
        let detail =
            format!("`{}` from {source} `{}`: {reason}", self.name, one_line_excerpt(&self.property));
        Failure::new(Phase::Validate, FailureKind::VariableNotExtracted, detail)
    }
}

fn infer_source(content_type: &str, property: &str) -> &'static str {
    match EscapeContext::from_content_type(content_type) {
        EscapeContext::Json => "JSON Response",
        EscapeContext::Xml => "XML Response",
        _ if property.starts_with('$') => "JSON Response",
        _ if property.starts_with('/') => "XML Response",
        _ => "Response",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn extract_value(
        source: Option<&str>,
        property: &str,
        content_type: &str,
        text: &str,
    ) -> Result<String, String> {
        let headers = [("X-Id", "7"), ("x-id", "8")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let response = ParsedResponse::new(200, Duration::ZERO, &headers, text);
        let mut settings_json = json!({"name": "v", "property": property});
        if let Some(source) = source {
            settings_json["source"] = json!(source);
        }
        let variable = VariableExtractor::new(&serde_json::from_value(settings_json.clone()).unwrap())
            .map_err(|error| error.to_string())?;
        variable.extract(&response, content_type, &PatternCache::default()).map_err(|failure| {
            assert_eq!(failure.kind, FailureKind::VariableNotExtracted);
            failure.detail
        })
    }

    #[test]
    fn values_come_from_every_source() {
        let json = r#"{"a":[{"b":"x y"},{"b":2}],"n":null,"o":{"k":[1, true]}}"#;
        let xml = "<r xmlns:p='urn:p'><a>one</a><p:a>two</p:a></r>";
        for (source, property, content_type, text, expected) in [
            (Some("JSON Response"), "$.a[*].b", "", json, "x y"),
            (Some("JSON Response"), "a[1].b", "", json, "2"),
            (Some("JSON Response"), "o", "", json, r#"{"k":[1,true]}"#),
            (Some("JSON Response"), "n", "", json, "null"),
            (Some("XML Response"), "//p:a", "", xml, "two"),
            (Some("XML Response"), "count(//*)", "", xml, "3"),
            (Some("Header"), "X-ID", "", "", "7, 8"),
            (Some("Response"), "b\":\"(.) (.)", "", json, "x"),
            (Some("Response"), "b\":..x", "", json, "b\": \"x"),
            (None, "a[0].b", "application/problem+json; charset=utf-8", json, "x y"),
            (None, "r/a", "text/xml", xml, "one"),
            (None, "$.a[0].b", "text/plain", json, "x y"),
            (None, "/r/a", "", xml, "one"),
            (None, "<a>(.*?)<", "text/html", xml, "one"),
        ] {
            let text =
                text.replace("b\":\"x y", if property == "b\":..x" { "b\": \"x y" } else { "b\":\"x y" });
            let found = extract_value(source, property, content_type, &text);
            assert_eq!(found.as_deref(), Ok(expected), "{source:?} {property}");
        }
    }

    #[test]
    fn a_missing_value_names_its_source() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(65_537));
        for (source, property, content_type, text, expected) in [
            (Some("JSON Response"), "$.gone", "", "{}", "`v` from JSON Response `$.gone`: found nothing"),
            (Some("JSON Response"), "$.gone", "", "<r/>", "the body is not JSON"),
            (Some("XML Response"), "//gone", "", "<r/>", "`v` from XML Response `//gone`: found nothing"),
            (Some("Header"), "gone", "", "", "`v` from Header `gone`: found nothing"),
            (Some("Response"), "(a)|b", "", "b", "`v` from Response `(a)|b`: found nothing"),
            (Some("JSON Response"), "$.a", "", &long, "found 65537 bytes, more than 65536"),
            (
                None,
                "$.a[",
                "application/json",
                "{}",
                "`v` from JSON Response `$.a[`: the path cannot be used",
            ),
            (None, "(", "text/plain", "{}", "the regular expression cannot be used"),
            (Some("Response"), "(", "", "", "the regular expression cannot be used"),
            (Some("Body"), "a", "", "", "`Body` is not a source"),
        ] {
            let error = extract_value(source, property, content_type, text).unwrap_err();
            assert!(error.contains(expected), "{property}: {error}");
        }
    }
}
