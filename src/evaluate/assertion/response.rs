//! The response that assertions check, parsed at most once for all of them.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::json_query::{self, JsonDocument, JsonQuery};
use crate::evaluate::search_budget::SearchBudget;
use crate::evaluate::xpath::{LazyPageXml, XPathNode, XmlDocument};

/// Maximum number of characters of a found value in a failure.
const MAX_EXCERPT_CHARS: usize = 60;
/// Number of values and nodes that all paths together may visit: some tenths of a second.
const NODE_BUDGET: u64 = 5_000_000;
/// The same on a thread that must not block: some milliseconds.
const INLINE_NODE_BUDGET: u64 = 50_000;
/// Work that all schemas together may take: a second at worst.
const SCHEMA_BUDGET: u64 = 10_000_000;
/// Number of values that are read directly from the text; for more of them parsing pays off.
const MAX_DIRECT_READS: u8 = 3;
/// Headers whose value is never shown.
const SECRET_HEADERS: &[&str] = &["set-cookie", "authorization", "proxy-authorization", "cookie"];

/// A response; JSON and XML are parsed when the first assertion needs them.
pub struct ParsedResponse<'a> {
    /// The HTTP status.
    pub status: u16,
    /// Duration of the exchange.
    pub elapsed: Duration,
    /// Name and value of each header.
    pub headers: &'a [(String, String)],
    /// The decoded body.
    pub body_text: &'a str,
    json: OnceCell<Result<JsonDocument, String>>,
    direct_read_count: Cell<u8>,
    xml: OnceCell<Result<XmlDocument<'a>, String>>,
    /// Set for a page of HTML, which is then read as one.
    html: Option<&'a LazyPageXml>,
    pub(super) node_budget: Cell<u64>,
    /// Work that schemas may still take.
    pub(super) schema_budget: Cell<u64>,
    /// Budget of regular expressions.
    pub(in crate::evaluate) search_budget: SearchBudget<'a>,
}

impl<'a> ParsedResponse<'a> {
    /// Creates a response of which nothing is parsed yet.
    #[must_use]
    pub fn new(status: u16, elapsed: Duration, headers: &'a [(String, String)], body_text: &'a str) -> Self {
        let node_budget = Cell::new(NODE_BUDGET);
        let (json, direct_read_count, xml) = (OnceCell::new(), Cell::new(0), OnceCell::new());
        let (schema_budget, search_budget) = (Cell::new(SCHEMA_BUDGET), SearchBudget::unlimited());
        Self {
            status,
            elapsed,
            headers,
            body_text,
            json,
            direct_read_count,
            xml,
            html: None,
            node_budget,
            schema_budget,
            search_budget,
        }
    }

    /// Reads the body as HTML where an XPath needs a document; `page` keeps the result.
    #[must_use]
    pub fn with_html(self, page: &'a LazyPageXml) -> Self {
        Self { html: Some(page), ..self }
    }

    /// Limits searches to `budget`. Results are invalid if it [is exhausted](SearchBudget::is_exhausted) afterwards.
    #[must_use]
    pub fn with_search_budget(self, budget: SearchBudget<'a>) -> Self {
        Self { search_budget: budget, ..self }
    }

    /// Whether an expression was not searched for because that would have taken too long.
    #[must_use]
    pub fn is_search_budget_exhausted(&self) -> bool {
        self.search_budget.is_exhausted()
    }

    /// Limits all paths together to some milliseconds: for a thread that must not block. Results are invalid if the
    /// response [has no budget left](Self::is_node_budget_exhausted) afterwards.
    #[must_use]
    pub fn with_inline_node_budget(self) -> Self {
        self.node_budget.set(INLINE_NODE_BUDGET);
        self
    }

    /// Whether a path was not evaluated because the budget was used up.
    #[must_use]
    pub fn is_node_budget_exhausted(&self) -> bool {
        self.node_budget.get() == 0
    }

    /// Returns the nodes that `path` selects in the JSON body.
    pub(super) fn select_json<'s>(&'s self, path: &JsonQuery) -> Result<Vec<ResponseNode<'s>>, String> {
        if self.json.get().is_none() && self.direct_read_count.get() < MAX_DIRECT_READS {
            self.direct_read_count.set(self.direct_read_count.get() + 1);
            if let Some(found) = path.read_direct(self.body_text, &self.node_budget) {
                return Ok(found?.map(Cow::Owned).map(ResponseNode::Json).into_iter().collect());
            }
        }
        let document = self
            .json
            .get_or_init(|| json_query::parse_document(self.body_text))
            .as_ref()
            .map_err(Clone::clone)?;
        let found = path.select(document, &self.node_budget)?;
        Ok(found.into_iter().map(Cow::Borrowed).map(ResponseNode::Json).collect())
    }

    pub(super) fn xml(&self) -> Result<&XmlDocument<'a>, String> {
        let parse = || match self.html {
            Some(page) => XmlDocument::parse(page.to_xml(self.body_text)?),
            None => XmlDocument::parse(self.body_text),
        };
        self.xml.get_or_init(parse).as_ref().map_err(Clone::clone)
    }

    /// Returns the value of the header `name`: those of several fields joined by `, `, except for `Set-Cookie`, where
    /// a comma separates nothing and each field stays its own (RFC 9110 5.3).
    pub(super) fn header_values(&self, name: &str) -> Vec<Cow<'_, str>> {
        let matching = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let values: Vec<_> = matching.map(|(_, value)| value.as_str()).collect();
        match values.as_slice() {
            [] => Vec::new(),
            several if name.eq_ignore_ascii_case("set-cookie") => {
                several.iter().map(|&value| Cow::Borrowed(value)).collect()
            }
            several => vec![Cow::Owned(several.join(", "))],
        }
    }
}

impl fmt::Debug for ParsedResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParsedResponse({}, {:?}, {} bytes)", self.status, self.elapsed, self.body_text.len())
    }
}

/// A value that an assertion compares.
pub(in crate::evaluate) enum ResponseNode<'a> {
    Json(Cow<'a, Value>),
    Xml(XPathNode<'a>),
    Text(Cow<'a, str>),
}

impl ResponseNode<'_> {
    /// Returns its text; for a JSON value other than a string, compact JSON.
    pub(in crate::evaluate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Json(value) => match &**value {
                Value::String(text) => Cow::Borrowed(text),
                value => Cow::Owned(value.to_string()),
            },
            Self::Xml(node) => node.text(),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Describes the node briefly: never a whole body, never all of a long text.
    pub(super) fn describe(&self) -> String {
        if let Self::Json(value) = self {
            match &**value {
                Value::Array(items) => return format!("an array of {}", items.len()),
                Value::Object(members) => return format!("an object of {}", members.len()),
                _ => {}
            }
        }
        format!("`{}`", one_line_excerpt(&self.text()))
    }
}

/// Describes the found nodes briefly.
pub(super) fn describe_nodes(nodes: &[ResponseNode<'_>]) -> String {
    match nodes {
        [] => "nothing".to_owned(),
        [only] => only.describe(),
        [first, second] => format!("{} and {}", first.describe(), second.describe()),
        [first, second, ..] => {
            format!("{}, {} … ({} nodes)", first.describe(), second.describe(), nodes.len())
        }
    }
}

/// Describes the value of the header `name` briefly.
pub(super) fn describe_header(name: &str, nodes: &[ResponseNode<'_>]) -> String {
    if !SECRET_HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name)) {
        return describe_nodes(nodes);
    }
    match nodes {
        [] => describe_nodes(nodes),
        [value] => format!("a value of {} bytes", value.text().len()),
        several => {
            let sizes: Vec<_> = several.iter().take(8).map(|value| value.text().len().to_string()).collect();
            format!("{} values of {} bytes", several.len(), sizes.join(", "))
        }
    }
}

/// Returns the beginning of `text` in one line.
pub(in crate::evaluate) fn one_line_excerpt(text: &str) -> String {
    excerpt(text, MAX_EXCERPT_CHARS)
}

/// Returns at most `max` characters of `text` in one line.
pub(super) fn excerpt(text: &str, max: usize) -> String {
    let mut characters = text.chars();
    let control_to_space = |c: char| if c.is_control() { ' ' } else { c };
    let mut excerpt_text: String = characters.by_ref().take(max).map(control_to_space).collect();
    if characters.next().is_some() {
        excerpt_text.push('…');
    }
    excerpt_text
}
