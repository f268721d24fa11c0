//! The tree of a YAML or JSON text, with the line and column of every key and value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

/// Maximum nesting of lists and maps.
pub const MAX_NESTING_DEPTH: usize = 24;

/// Maximum size of a text in bytes.
pub const MAX_TEXT_BYTES: usize = 256 * 1024 * 1024;

/// Maximum size of the YAML that a person types into a field, in bytes.
const MAX_SNIPPET_BYTES: usize = 1024 * 1024;

/// A position in a text, counted from 1; 0 where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// Whether the position is known.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.line > 0
    }
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: NodeValue,
    /// Start of the value.
    pub position: Position,
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`; `yes`, `on` and `y` are text.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction, or too large for an integer.
    Float(f64),
    /// A text.
    Text(String),
    /// Entries in order.
    List(Vec<Node>),
    /// Entries in order; a duplicate key is kept twice.
    Map(Vec<(Key, Node)>),
}

/// A key of a map and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Start of the key.
    pub position: Position,
}

/// Why a text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Position at which parsing stopped.
    pub position: Position,
    /// The error, without a full stop.
    pub message: String,
}

impl Node {
    /// Reads YAML 1.2 (and so JSON): one document, at most [`MAX_NESTING_DEPTH`] deep and [`MAX_TEXT_BYTES`] long,
    /// with aliases that expand within limits.
    pub fn from_yaml(text: &str) -> Result<Self, SyntaxError> {
        if text.len() > MAX_TEXT_BYTES {
            let message = format!("the file is larger than {} MiB", MAX_TEXT_BYTES / 1024 / 1024);
            return Err(SyntaxError { position: Position::default(), message });
        }
        serde_saphyr::from_str_with_options(text, yaml_options()).map_err(|error| syntax_error(&error))
    }

    /// Reads the YAML that a person typed into a field: short, and without aliases, whose content could be many times as
    /// long as the text.
    pub fn from_yaml_snippet(text: &str) -> Result<Self, SyntaxError> {
        serde_saphyr::from_str_with_options(text, snippet_options()).map_err(|error| syntax_error(&error))
    }

    /// Returns the value of `name`; the last one if there are several.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Returns the position of the value at `path`, such as `api_steps[0].url`, or of the nearest one around it.
    #[must_use]
    pub fn position_of(&self, path: &str) -> Position {
        let mut node = self;
        for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
            let inner = match part.strip_suffix(']') {
                Some(index) => index.parse::<usize>().ok().and_then(|index| node.items().get(index)),
                None => node.get(part),
            };
            match inner {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node.position
    }

    /// Returns the entries of a map; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[(Key, Self)] {
        match &self.value {
            NodeValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the entries of a list; none for anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.value {
            NodeValue::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the text; `None` for anything else.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == NodeValue::Null
    }

    /// Converts it to JSON without positions.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(flag) => Value::Bool(*flag),
            NodeValue::Int(number) => Value::from(*number),
            NodeValue::Float(number) => Value::from(*number),
            NodeValue::Text(text) => Value::String(text.clone()),
            NodeValue::List(items) => items.iter().map(Self::to_json).collect(),
            NodeValue::Map(entries) => {
                entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect()
            }
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        let value = match value {
            Value::Null => NodeValue::Null,
            Value::Bool(flag) => NodeValue::Bool(flag),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => NodeValue::Int(whole),
                (None, float) => NodeValue::Float(float.unwrap_or(f64::NAN)),
            },
            Value::String(text) => NodeValue::Text(text),
            Value::Array(items) => NodeValue::List(items.into_iter().map(Self::from).collect()),
            Value::Object(entries) => NodeValue::Map(
                entries
                    .into_iter()
                    .map(|(name, value)| (Key { name, position: Position::default() }, Self::from(value)))
                    .collect(),
            ),
        };
        Self { value, position: Position::default() }
    }
}

/// Limits far above the needs of 100,000 monitors in one file, and low enough that aliases cannot multiply
/// the content of the text.
fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_reader_input_bytes: Some(MAX_TEXT_BYTES),
            max_depth: MAX_NESTING_DEPTH,
            flow_nesting_limit: MAX_NESTING_DEPTH,
            max_events: 64_000_000,
            max_nodes: 32_000_000,
            max_aliases: 100_000,
            max_recorded_anchor_events: 200_000,
            max_total_scalar_bytes: MAX_TEXT_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 200_000,
            max_replay_stack_depth: 16,
            max_alias_expansions_per_anchor: 100_000,
        },
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    }
}

/// Limits of a text that a person typed into a field.
fn snippet_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_reader_input_bytes: Some(MAX_SNIPPET_BYTES),
            max_depth: MAX_NESTING_DEPTH,
            flow_nesting_limit: MAX_NESTING_DEPTH,
            max_events: 200_000,
            max_nodes: 100_000,
            max_aliases: 0,
            max_total_scalar_bytes: MAX_SNIPPET_BYTES,
        },
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    }
}

fn syntax_error(error: &serde_saphyr::Error) -> SyntaxError {
    let start = error.location().map(convert_position).unwrap_or_default();
    SyntaxError { position: start, message: syntax_message(error.without_snippet()) }
}

/// Returns the parser's own message, except for limits and messages meant for programmers.
fn syntax_message(error: &serde_saphyr::Error) -> String {
    if matches!(error, serde_saphyr::Error::MultipleDocuments { .. }) {
        return "a second document starts here; a file holds one".to_owned();
    }
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default().trim_end_matches('.');
    let contains_any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if contains_any(&["recursion limit", "Depth {"]) {
        format!("lists and maps are nested more than {MAX_NESTING_DEPTH} deep")
    } else if contains_any(&["Anchor", "Aliases {", "alias replay", "alias expansion"]) {
        "anchors and aliases expand to more than is read".to_owned()
    } else if contains_any(&["budget breached"]) {
        "the text holds more than is read".to_owned()
    } else if contains_any(&["into string", "expected string scalar"]) {
        "a key must be a text".to_owned()
    } else {
        text.to_owned()
    }
}

fn convert_position(location: serde_saphyr::Location) -> Position {
    let bounded = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: bounded(location.line()), column: bounded(location.column()) }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<NodeValue>::deserialize(deserializer)?;
        Ok(Self { position: convert_position(spanned.referenced), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for NodeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = NodeValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Null)
    }

    fn visit_none<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<NodeValue, E> {
        Ok(NodeValue::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<NodeValue, E> {
        Ok(NodeValue::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<NodeValue, E> {
        Ok(i64::try_from(number).map_or(NodeValue::Float(number as f64), NodeValue::Int))
    }

    fn visit_i128<E>(self, number: i128) -> Result<NodeValue, E> {
        Ok(i64::try_from(number).map_or(NodeValue::Float(number as f64), NodeValue::Int))
    }

    fn visit_u128<E>(self, number: u128) -> Result<NodeValue, E> {
        Ok(i64::try_from(number).map_or(NodeValue::Float(number as f64), NodeValue::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<NodeValue, E> {
        Ok(NodeValue::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<NodeValue, E> {
        Ok(NodeValue::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<NodeValue, E> {
        Ok(NodeValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<NodeValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<Node>()? {
            items.push(item);
        }
        Ok(NodeValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<NodeValue, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, node)) = access.next_entry::<Spanned<String>, Node>()? {
            entries.push((Key { position: convert_position(key.referenced), name: key.value }, node));
        }
        Ok(NodeValue::Map(entries))
    }
}
