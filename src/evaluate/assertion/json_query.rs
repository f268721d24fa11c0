//! JSON bodies and JSONPath queries, with bounds on time and memory.

use std::cell::Cell;

use serde_json::Value;
use serde_json_path::JsonPath;

use super::direct_path::DirectPath;
use super::error::AssertionError;
use crate::syntax::path_expression;
use crate::syntax::path_expression::PathError;

/// Maximum size of a document in bytes.
const MAX_BYTES: usize = 10 * 1024 * 1024;
/// Maximum size in bytes of a document whose values are read without parsing. Such a document is too short to have
/// [`MAX_VALUES`] values, so they need not be counted.
const MAX_DIRECT_BYTES: usize = 1024 * 1024;
/// Maximum number of values of a document; each takes 32 bytes or more, whatever its text.
const MAX_VALUES: u64 = 1_000_000;
/// Maximum nesting of arrays and objects.
const MAX_DEPTH: u64 = 127;
/// Maximum number of values that one path may visit or return: their list takes 8 bytes each.
const MAX_QUERY_COST: u64 = 10_000_000;
/// Number of visited JSON values that cost as much as one XML node, the unit of the budget.
const VALUES_PER_BUDGET_UNIT: u64 = 8;
/// Cost of one regular expression, in visited values: it is compiled for each value.
const REGEX_COST: u64 = 1000;

/// A compiled JSONPath, with the part of its cost that does not depend on the document.
#[derive(Clone, Debug)]
pub(in crate::evaluate) struct JsonQuery {
    path: JsonPath,
    cost: QueryCost,
    /// For a path that needs no parsed document.
    direct_path: Option<DirectPath>,
}

/// A parsed document.
#[derive(Debug)]
pub(in crate::evaluate) struct JsonDocument {
    value: Value,
    size: DocumentSize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DocumentSize {
    value_count: u64,
    depth: u64,
}

/// Compiles `property`, the JSONPath of an assertion, whose leading `$.` may be missing.
pub(in crate::evaluate) fn compile_json_path(property: &str) -> Result<JsonQuery, AssertionError> {
    let query = path_expression::parse_json_path(property).map_err(AssertionError::from)?;
    Ok(JsonQuery {
        path: query,
        cost: QueryCost::from_path(property),
        direct_path: DirectPath::parse(property),
    })
}

impl From<PathError> for AssertionError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::TooComplex => Self::TooComplex,
            PathError::Syntax(message) => Self::InvalidPath(message),
        }
    }
}

impl JsonQuery {
    /// Returns the values that the path selects. Consumes `node_budget` for the values that it visits, by an upper
    /// estimate made beforehand.
    pub(in crate::evaluate) fn select<'d>(
        &self,
        document: &'d JsonDocument,
        node_budget: &Cell<u64>,
    ) -> Result<Vec<&'d Value>, String> {
        self.charge(document.size, node_budget)?;
        Ok(self.path.query(&document.value).into_iter().collect())
    }

    /// Whether the path selects one value at most, whatever the document.
    pub(in crate::evaluate) const fn is_single_value(&self) -> bool {
        self.cost.is_single_value
    }

    /// Returns the JSON pointers of the values that the path selects.
    pub(in crate::evaluate) fn locate(
        &self,
        document: &JsonDocument,
        node_budget: &Cell<u64>,
    ) -> Result<Vec<String>, String> {
        self.charge(document.size, node_budget)?;
        let located = self.path.query_located(&document.value);
        Ok(located.iter().map(|node| node.location().to_json_pointer()).collect())
    }

    /// Returns the single value that the path selects, read from `text` without parsing it. `None` for other paths, and
    /// where the text is invalid, so that [`parse_document`] reports the error, or where only a parser can decide.
    pub(super) fn read_direct(
        &self,
        text: &str,
        node_budget: &Cell<u64>,
    ) -> Option<Result<Option<Value>, String>> {
        let path = self.direct_path.as_ref().filter(|_| text.len() <= MAX_DIRECT_BYTES)?;
        let found = path.read_value(text.trim_start_matches('\u{feff}')).ok()?;
        Some(self.charge(DocumentSize::default(), node_budget).map(|()| found))
    }

    /// Consumes the cost of this query on a document of `size`; fails when the budget or the limit is too small.
    fn charge(&self, size: DocumentSize, node_budget: &Cell<u64>) -> Result<(), String> {
        let cost = self.cost.estimated_visits(size);
        let remaining = node_budget
            .get()
            .checked_sub(1 + cost / VALUES_PER_BUDGET_UNIT)
            .filter(|_| cost <= MAX_QUERY_COST);
        node_budget.set(remaining.unwrap_or(0));
        remaining.map(drop).ok_or_else(|| "the JSONPath visits too many values of this body".to_owned())
    }
}

impl JsonDocument {
    /// Returns the parsed value.
    pub(in crate::evaluate) fn into_value(self) -> Value {
        self.value
    }
}

/// Parses the body as JSON. Fails when it is too large or too deeply nested.
pub(in crate::evaluate) fn parse_document(text: &str) -> Result<JsonDocument, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the body has more than {MAX_BYTES} bytes, too many for JSON"));
    }
    let text = text.trim_start_matches('\u{feff}');
    let size = measure_document(text);
    if size.depth > MAX_DEPTH {
        return Err(format!("the JSON is nested deeper than {MAX_DEPTH} arrays and objects"));
    }
    if size.value_count > MAX_VALUES {
        return Err(format!("the JSON has more than {MAX_VALUES} values"));
    }
    let value = serde_json::from_str(text).map_err(|error| format!("the body is not JSON: {error}"))?;
    Ok(JsonDocument { value, size })
}

/// Returns an upper bound on the number of values in `text`, and their depth, without parsing it.
fn measure_document(text: &str) -> DocumentSize {
    let (mut values, mut depth, mut deepest) = (1_u64, 0_u64, 0_u64);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                values += 1;
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
    }
    DocumentSize { value_count: values, depth: deepest }
}

/// How often a path visits the values of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct QueryCost {
    /// The numbers of selectors of all brackets, multiplied: `[*,*]` returns everything twice.
    selector_copies: u64,
    /// Number of `..` steps: each but the first returns a value once for each value around it.
    descendant_steps: u32,
    /// Number of queries in filters that begin at the root (`$`) and select more than one value.
    root_queries: u32,
    /// Whether it compiles regular expressions.
    has_regex: bool,
    /// Whether it only goes from member to member.
    is_single_value: bool,
}

impl QueryCost {
    fn from_path(property: &str) -> Self {
        let unquoted = empty_quoted_strings(property);
        let mut cost = Self { selector_copies: 1, ..Self::default() };
        let mut commas_by_bracket: Vec<u64> = Vec::new();
        for (index, c) in unquoted.char_indices() {
            match c {
                '[' | '(' => commas_by_bracket.push(0),
                ')' => drop(commas_by_bracket.pop()),
                ',' => commas_by_bracket.iter_mut().rev().take(1).for_each(|count| *count += 1),
                ']' => {
                    cost.selector_copies =
                        cost.selector_copies.saturating_mul(1 + commas_by_bracket.pop().unwrap_or(0));
                }
                '$' if !commas_by_bracket.is_empty() && selects_many(&unquoted[index..]) => {
                    cost.root_queries += 1;
                }
                _ => {}
            }
        }
        cost.descendant_steps = u32::try_from(unquoted.matches("..").count()).unwrap_or(u32::MAX);
        cost.is_single_value = !selects_many(&unquoted);
        cost.has_regex = unquoted.contains("match") || unquoted.contains("search");
        cost
    }

    /// Returns an upper estimate of the cost of the query over a document of `size`, in visited values.
    fn estimated_visits(self, size: DocumentSize) -> u64 {
        if self.is_single_value {
            return 1;
        }
        let regex_factor = if self.has_regex { REGEX_COST } else { 1 };
        let descendant_factor =
            size.depth.saturating_add(1).saturating_pow(self.descendant_steps.saturating_sub(1));
        let root_query_factor = size.value_count.saturating_pow(self.root_queries);
        [self.selector_copies, descendant_factor, root_query_factor, regex_factor]
            .into_iter()
            .fold(size.value_count, u64::saturating_mul)
    }
}

/// Whether the query at the start of `text`, up to the end of its operand, can select more than one value.
fn selects_many(text: &str) -> bool {
    let mut depth = 0_u32;
    let operand = text.chars().take_while(|&c| {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return false,
            ']' => depth -= 1,
            _ => {}
        }
        depth > 0 || !matches!(c, ' ' | '=' | '<' | '>' | '!' | '&' | '|' | ')' | ',')
    });
    let query: String = operand.collect();
    query.contains("..") || query.contains(['*', '?', ':', ','])
}

/// Returns `property` with its quoted strings emptied.
fn empty_quoted_strings(property: &str) -> String {
    let (mut unquoted, mut quote, mut escaped) = (String::new(), None, false);
    for c in property.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(delimiter) if delimiter == c => quote = None,
            Some(_) => {}
            None => {
                if c == '"' || c == '\'' {
                    quote = Some(c);
                }
                unquoted.push(c);
            }
        }
    }
    unquoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_from_the_path() {
        let size = DocumentSize { value_count: 100, depth: 4 };
        for (path, cost) in [
            ("$.a.b", 1),
            ("$['a b'][0]", 1),
            ("$.a[*].b", 100),
            ("$.a[1:]", 100),
            ("$..a", 100),
            ("$..a..b", 500),
            ("$[*,*][1,2]", 400),
            ("$['a,b']", 1),
            ("$.a[?@.price < $.limit]", 100),
            ("$.a[?@.price < $['limit']].b", 100),
            ("$.a[?@.price == $.b[*].c]", 10_000),
            ("$.a[?count($..*) > 1 && count($..*) > 2]", 5_000_000),
            ("$.a[?match(@.b, 'x')]", 100_000),
        ] {
            assert_eq!(QueryCost::from_path(path).estimated_visits(size), cost, "{path}");
        }
        assert_eq!(
            QueryCost::from_path("$[?@[?$..*[?$..*]]]")
                .estimated_visits(DocumentSize { value_count: u64::MAX, depth: 9 }),
            u64::MAX
        );
    }

    #[test]
    fn a_direct_read_agrees_with_the_parser() {
        let texts = [
            r#"{"a":{"b":[1,{"c":"x\u0041"},[2,3]],"b2":null},"d":1.50,"e":[],"a2":true}"#,
            r#"{"a":{"b":[0]},"a":{"b":[7,8]},"d":[{"b":1}]}"#,
            r#"[[1,2],{"a":5}]"#,
            "\u{feff} {\"d\": \"bom\"}",
            "3",
            r#"{"a":1e999}"#,
            r#"{"a":"\ud800","d":1}"#,
            r#"{"d":1,}"#,
            r#"{"d":1}x"#,
            r#"{"d":01}"#,
            "{\"d\":\"\n\"}",
            "",
            &format!("{}1{}", "[".repeat(127), "]".repeat(127)),
            &format!("{}1{}", "[".repeat(128), "]".repeat(128)),
        ];
        let properties = [
            "$.a",
            "a.b",
            "$.a.b[1]",
            "$.a.b[1].c",
            ".a.b[2][1]",
            "$.d",
            "d",
            "$.e[0]",
            "[0][1]",
            "$[1].a",
            "$",
        ];
        for property in properties {
            let path = compile_json_path(property).unwrap();
            assert!(path.direct_path.is_some(), "{property}");
            for text in texts {
                let node_budget = Cell::new(2);
                let found = parse_document(text).and_then(|parsed| {
                    let found = path.select(&parsed, &node_budget)?;
                    Ok(found.into_iter().cloned().collect::<Vec<_>>())
                });
                match path.read_direct(text, &node_budget) {
                    Some(value) => assert_eq!(value.map(Vec::from_iter), found, "{property} {text}"),
                    None => assert!(found.is_err(), "{property} {text}"),
                }
            }
        }
        for (text, reason) in
            [(r#"{"a":1e2}"#, "the exponent may be too large"), (r#"{"\u0061":1}"#, "the name is `a`")]
        {
            let path = compile_json_path("$.a").unwrap();
            assert_eq!(
                (path.read_direct(text, &Cell::new(2)), parse_document(text).is_ok()),
                (None, true),
                "{reason}"
            );
        }
        for property in ["$.*", "$..a", "$[-1]", "$['a']", "$.a[0:1]", "$.a[?@.b]", "$.a[0,1]", "é", "a-b"] {
            let direct_path =
                path_expression::parse_json_path(property).ok().and_then(|_| DirectPath::parse(property));
            assert_eq!(direct_path, None, "{property}");
        }
    }

    #[test]
    fn a_direct_read_of_random_text_agrees_with_the_parser() {
        const PARTS: &[&str] = &[
            "{",
            "{",
            "}",
            "}",
            "[",
            "[",
            "]",
            "]",
            ",",
            ",",
            ":",
            "\"a\"",
            "\"a\":",
            "\"a\":",
            "\"b\":",
            "\"\\u00e9\"",
            "\"\\ud83d\\ude00\"",
            "\"\\x\"",
            "\"\\\"\\/\"",
            "\"",
            "1",
            "0",
            "-",
            ".5",
            "-0.0",
            "12",
            "e1",
            " ",
            "\n",
            "\u{b}",
            "true",
            "null",
            "false",
            "nul",
            "é",
        ];
        let paths = ["a", "$.a.a", "$.a[1]", "$[0].a", "$[1]", "$"]
            .map(|property| compile_json_path(property).unwrap());
        let (mut state, mut direct_read_count, mut parser_only_count) = (7_u64, 0, 0);
        for _ in 0..100_000 {
            let mut text = String::new();
            // The first part usually opens a container or a string.
            for number in 0..=(state >> 60) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % PARTS.len();
                text.push_str(PARTS[if number == 0 { at % 6 } else { at }]);
            }
            let node_budget = Cell::new(u64::MAX);
            let parsed = parse_document(&text);
            for path in &paths {
                match (path.read_direct(&text, &node_budget), &parsed) {
                    (Some(Ok(value)), Ok(parsed)) => {
                        let found = path.select(parsed, &node_budget).unwrap();
                        assert_eq!(value.iter().collect::<Vec<_>>(), found, "{text}");
                        direct_read_count += 1;
                    }
                    (Some(other), _) => panic!("{text}: {other:?}"),
                    (None, Ok(_)) => parser_only_count += 1,
                    (None, Err(_)) => {}
                }
            }
        }
        assert!(
            direct_read_count > 1_000 && parser_only_count < direct_read_count / 4,
            "{direct_read_count} {parser_only_count}"
        );
    }

    #[test]
    fn the_measured_size_is_an_upper_bound() {
        for (text, values, depth) in
            [("1", 1, 0), ("[]", 2, 1), (r#"{"a,[":[1,{"b\"[":2}]}"#, 5, 3), ("[[[", 4, 3), ("]]", 1, 0)]
        {
            assert_eq!(measure_document(text), DocumentSize { value_count: values, depth }, "{text}");
        }
    }
}
