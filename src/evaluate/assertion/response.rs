//! The answer that assertions look at, parsed at most once for all of them.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::json_query::{self, JsonDocument, JsonQuery};
use crate::evaluate::search_budget::SearchBudget;
use crate::evaluate::xpath::{XPathNode, XmlDocument};

/// Characters of what was found that a failure tells.
const MAX_EXCERPT_CHARS: usize = 60;
/// Values and nodes that all paths together may look at: some tenths of a second.
const FUEL: u64 = 5_000_000;
/// As much as may be looked at where nothing may be held up: some milliseconds.
const INLINE_FUEL: u64 = 50_000;
/// Single values that are taken out of the text; for more of them it is worth to keep what was read.
const MAX_DIRECT_READS: u8 = 3;
/// Headers whose value is never told.
const SECRET_HEADERS: &[&str] = &["set-cookie", "authorization", "proxy-authorization", "cookie"];

/// An answer; JSON and XML are parsed when the first assertion wants them.
pub struct ParsedResponse<'a> {
    /// The HTTP status.
    pub status: u16,
    /// How long the answer took.
    pub elapsed: Duration,
    /// Name and value of each header.
    pub headers: &'a [(String, String)],
    /// The decoded body.
    pub text: &'a str,
    json: OnceCell<Result<JsonDocument, String>>,
    direct_reads: Cell<u8>,
    xml: OnceCell<Result<XmlDocument<'a>, String>>,
    pub(super) fuel: Cell<u64>,
    /// Of regular expressions.
    pub(in crate::evaluate) search_budget: SearchBudget<'a>,
}

impl<'a> ParsedResponse<'a> {
    /// An answer of which nothing has been parsed yet.
    #[must_use]
    pub fn new(status: u16, elapsed: Duration, headers: &'a [(String, String)], text: &'a str) -> Self {
        let fuel = Cell::new(FUEL);
        let (json, picked, xml) = (OnceCell::new(), Cell::new(0), OnceCell::new());
        let budget = SearchBudget::unlimited();
        Self { status, elapsed, headers, text, json, direct_reads: picked, xml, fuel, search_budget: budget }
    }

    /// The same for somebody of this patience. What comes of it is worth nothing when that [is
    /// over](SearchBudget::is_exhausted) behind it.
    #[must_use]
    pub fn with_search_budget(self, budget: SearchBudget<'a>) -> Self {
        Self { search_budget: budget, ..self }
    }

    /// Whether an expression was not searched for, since that would have taken too long.
    #[must_use]
    pub fn is_search_budget_exhausted(&self) -> bool {
        self.search_budget.is_exhausted()
    }

    /// The same for paths that take some milliseconds at most, all together: for a thread that others wait for.
    /// What comes of them is worth nothing when the answer [is spent](Self::is_fuel_exhausted) behind them.
    #[must_use]
    pub fn with_inline_fuel(self) -> Self {
        self.fuel.set(INLINE_FUEL);
        self
    }

    /// Whether a path could not be looked up, since all that may be looked at had been.
    #[must_use]
    pub fn is_fuel_exhausted(&self) -> bool {
        self.fuel.get() == 0
    }

    /// What `path` selects in the body as JSON.
    pub(super) fn select_json<'s>(&'s self, path: &JsonQuery) -> Result<Vec<ResponseNode<'s>>, String> {
        if self.json.get().is_none() && self.direct_reads.get() < MAX_DIRECT_READS {
            self.direct_reads.set(self.direct_reads.get() + 1);
            if let Some(found) = path.read_direct(self.text, &self.fuel) {
                return Ok(found?.map(Cow::Owned).map(ResponseNode::Json).into_iter().collect());
            }
        }
        let document =
            self.json.get_or_init(|| json_query::parse(self.text)).as_ref().map_err(Clone::clone)?;
        let found = path.select(document, &self.fuel)?;
        Ok(found.into_iter().map(Cow::Borrowed).map(ResponseNode::Json).collect())
    }

    pub(super) fn xml(&self) -> Result<&XmlDocument<'a>, String> {
        self.xml.get_or_init(|| XmlDocument::parse(self.text)).as_ref().map_err(Clone::clone)
    }

    /// The values of the header `name`, joined by `, `; `None` when there is none.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let of_name = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let values: Vec<_> = of_name.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

impl fmt::Debug for ParsedResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({}, {:?}, {} bytes)", self.status, self.elapsed, self.text.len())
    }
}

/// One thing that an assertion compares.
pub(in crate::evaluate) enum ResponseNode<'a> {
    Json(Cow<'a, Value>),
    Xml(XPathNode<'a>),
    Text(Cow<'a, str>),
}

impl ResponseNode<'_> {
    /// Its text; that of a JSON value other than a string is compact JSON.
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

    /// A few words on it: never a whole body, never all of a long text.
    fn describe(&self) -> String {
        if let Self::Json(value) = self {
            match &**value {
                Value::Array(items) => return format!("an array of {}", items.len()),
                Value::Object(members) => return format!("an object of {}", members.len()),
                _ => {}
            }
        }
        format!("`{}`", excerpt(&self.text()))
    }
}

/// A few words on what was found.
pub(super) fn describe(nodes: &[ResponseNode<'_>]) -> String {
    match nodes {
        [] => "nothing".to_owned(),
        [only] => only.describe(),
        [first, second] => format!("{} and {}", first.describe(), second.describe()),
        [first, second, ..] => {
            format!("{}, {} … ({} nodes)", first.describe(), second.describe(), nodes.len())
        }
    }
}

/// The value of the header `name` in a few words.
pub(super) fn describe_header(name: &str, nodes: &[ResponseNode<'_>]) -> String {
    match nodes {
        [value] if SECRET_HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name)) => {
            format!("a value of {} bytes", value.text().len())
        }
        _ => describe(nodes),
    }
}

/// The beginning of `text` in one line.
pub(in crate::evaluate) fn excerpt(text: &str) -> String {
    let mut characters = text.chars();
    let control = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = characters.by_ref().take(MAX_EXCERPT_CHARS).map(control).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
