//! The validated fields of one monitor, small in memory.

use std::cell::LazyCell;

use serde_json::{Map, Value};

use super::field::{Access, Field, Kind, Table};
use super::table::{self, parts};
use super::url_login;
use crate::domain::MonitorType;
use crate::script::ScriptFacts;
use crate::syntax::MASK;

/// The fields of a monitor as its author set them, checked against the field table. Fields that were
/// not set answer with the default of the table. Only what differs from the default takes memory.
#[derive(Clone, PartialEq)]
pub struct Document {
    kind: MonitorType,
    /// Sorted by the position of the field in the table of `kind`.
    entries: Box<[Entry]>,
}

/// A value that differs from the default of its field.
#[derive(Clone)]
enum Entry {
    /// One of the few values of its field, shared by all documents.
    Known(u16, &'static Value),
    Own(u16, Box<Value>),
}

/// What happens to secrets in what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They show as `********`: for everything that leaves the process.
    Masked,
    /// They are left out: for the store, where they stay with their source.
    Omitted,
    /// They stand there: for sealing, and for the probe.
    Revealed,
}

impl Document {
    /// Takes `values` as they are, in their version 3 form. Only for values that were checked before, such
    /// as those from the store; what the table does not know is left out.
    #[must_use]
    pub fn trusted(kind: MonitorType, values: Map<String, Value>) -> Self {
        let table = table::of(kind);
        let mut entries: Vec<Entry> = values
            .into_iter()
            .filter_map(|(name, value)| Entry::of(table, table.position(&name)?, value))
            .collect();
        entries.sort_by_key(Entry::position);
        Self { kind, entries: entries.into_boxed_slice() }
    }

    /// Puts together what [`Document::stored`] without secrets and [`Document::secrets`] took apart.
    #[must_use]
    pub fn with_secrets(kind: MonitorType, mut stored: Map<String, Value>, secrets: Value) -> Self {
        let table = table::of(kind);
        if let Value::Object(secrets) = secrets {
            for (name, secret) in secrets {
                // What was left of the value may have been no more than the default, which is not stored.
                let default = || table.default_at(table.position(&name)?).cloned();
                let mut value = stored.get_mut(&name).map(Value::take).or_else(default).unwrap_or_default();
                join(&mut value, secret);
                stored.insert(name, value);
            }
        }
        Self::trusted(kind, stored)
    }

    /// The type that the fields belong to.
    #[must_use]
    pub fn kind(&self) -> MonitorType {
        self.kind
    }

    /// The value set for `field`, or its default; `None` where there is neither.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&Value> {
        let table = table::of(self.kind);
        let position = table.position(field)?;
        self.entry(position).or_else(|| table.default_at(position))
    }

    /// Whether `field` was set to something else than its default.
    #[must_use]
    pub fn is_set(&self, field: &str) -> bool {
        table::of(self.kind).position(field).is_some_and(|position| self.entry(position).is_some())
    }

    /// A text; `None` when it is neither set nor has a default.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.value(field).and_then(Value::as_str)
    }

    /// A whole number; 0 when it is neither set nor has a default.
    #[must_use]
    pub fn number(&self, field: &str) -> i64 {
        self.value(field).and_then(Value::as_i64).unwrap_or_default()
    }

    /// A yes or no; no when it is neither set nor has a default.
    #[must_use]
    pub fn flag(&self, field: &str) -> bool {
        self.value(field).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The entries of an array; none when it is neither set nor has a default.
    #[must_use]
    pub fn list(&self, field: &str) -> &[Value] {
        self.value(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The values that differ from their defaults, in the order of the table: what the store keeps and
    /// [`Document::trusted`] takes.
    #[must_use]
    pub fn stored(&self, secrets: Secrets) -> Map<String, Value> {
        let fields = table::of(self.kind).fields();
        self.entries
            .iter()
            .filter_map(|entry| {
                let field = fields[entry.position()];
                Some((field.name.to_owned(), covered(field, entry.value().clone(), secrets)?))
            })
            .collect()
    }

    /// The secrets alone, in their places: objects hold nothing else, arrays have their full length with null
    /// for what has none. `None` without any. What a store seals and [`Document::with_secrets`] takes.
    #[must_use]
    pub fn secrets(&self) -> Option<Value> {
        let fields = table::of(self.kind).fields();
        let secret = |entry: &Entry| {
            let field = fields[entry.position()];
            Some((field.name.to_owned(), hidden(field, entry.value())?))
        };
        let secrets: Map<String, Value> = self.entries.iter().filter_map(secret).collect();
        (!secrets.is_empty()).then_some(Value::Object(secrets))
    }

    /// Every field that has a value, defaults included, in the order of the table and in version 3 form.
    /// Of the fields that Vigie sets, those are among them that follow from the others (fields.md 3).
    #[must_use]
    pub fn to_json(&self, secrets: Secrets) -> Map<String, Value> {
        let table = table::of(self.kind);
        let script = LazyCell::new(|| self.script_facts());
        table
            .fields()
            .iter()
            .enumerate()
            .filter_map(|(position, field)| {
                let value = match self.entry(position).or_else(|| table.default_at(position)) {
                    Some(value) => value.clone(),
                    None => self.follows(field.name, &script)?,
                };
                Some((field.name.to_owned(), covered(field, value, secrets)?))
            })
            .collect()
    }

    /// The value of a field that Vigie sets and that follows from the others.
    fn follows(
        &self,
        name: &str,
        script: &LazyCell<Option<ScriptFacts>, impl FnOnce() -> Option<ScriptFacts>>,
    ) -> Option<Value> {
        let follows = match name {
            "transaction_steps" => return Some(Value::from(script.as_ref()?.steps)),
            "transaction_events" => return Some(Value::from(script.as_ref()?.events)),
            "is_transaction" => script.as_ref().map(ScriptFacts::is_transaction),
            "monitor_uses_own_locations" => Some(!self.list("locations").is_empty()),
            "has_capture" => {
                let level = self.value("capture").and_then(|capture| capture.get("level"));
                Some(level.and_then(Value::as_str) != Some("Disabled"))
            }
            "has_content_views" => Some(!self.list("content_views").is_empty()),
            "has_user_experience" => Some(self.flag("user_experience_enabled")),
            "has_multipop" => Some(self.text("mode") == Some("SLA (MultiPOP)")),
            _ => None,
        };
        follows.map(Value::Bool)
    }

    fn entry(&self, position: usize) -> Option<&Value> {
        let found = self.entries.binary_search_by_key(&position, Entry::position);
        found.ok().map(|at| self.entries[at].value())
    }
}

impl Entry {
    /// `None` for nulls, defaults and what is not an author's to set.
    fn of(table: &'static Table, position: usize, value: Value) -> Option<Self> {
        let field = table.fields()[position];
        let settable = matches!(field.access, Access::Open | Access::ReadOnlyInV3);
        if !settable || value.is_null() || table.default_at(position) == Some(&value) {
            return None;
        }
        let at = u16::try_from(position).ok()?;
        Some(match table.known_at(position, &value) {
            Some(known) => Self::Known(at, known),
            None => Self::Own(at, Box::new(value)),
        })
    }

    fn position(&self) -> usize {
        match self {
            Self::Known(position, _) | Self::Own(position, _) => usize::from(*position),
        }
    }

    fn value(&self) -> &Value {
        match self {
            Self::Known(_, value) => value,
            Self::Own(_, value) => value,
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.position() == other.position() && self.value() == other.value()
    }
}

/// `value` with its secrets treated as `secrets` says; `None` when nothing of it is left.
pub(super) fn covered(field: &Field, value: Value, secrets: Secrets) -> Option<Value> {
    if secrets == Secrets::Revealed {
        return Some(value);
    }
    if field.is_script() && secrets == Secrets::Masked {
        let shown = value.as_str().map(crate::script::masked);
        return Some(shown.map_or(Value::Null, |shown| Value::from(shown.as_ref())));
    }
    if let Some(shown) = without_login(field, &value) {
        return Some(Value::from(shown));
    }
    if field.hides(&value) {
        return masked(value, secrets);
    }
    Some(covered_inside(&field.kind, value, secrets))
}

/// What stands for a secret.
fn masked(value: Value, secrets: Secrets) -> Option<Value> {
    let set = value.as_str().is_none_or(|text| !text.is_empty());
    match secrets {
        Secrets::Masked if set => Some(Value::from(MASK)),
        Secrets::Revealed | Secrets::Masked => Some(value),
        Secrets::Omitted => None,
    }
}

fn covered_inside(kind: &Kind, value: Value, secrets: Secrets) -> Value {
    match (kind, value) {
        (Kind::List { of, .. }, Value::Array(items)) if matches!(of, Kind::Object(_)) => {
            items.into_iter().map(|item| covered_inside(of, item, secrets)).collect()
        }
        (Kind::Object(table), Value::Object(entries)) => {
            let lets_in = parts::lets_in(table, &entries);
            entries
                .into_iter()
                .filter_map(|(name, value)| match table.field(&name) {
                    Some(_) if lets_in && name == "value" => {
                        masked(value, secrets).map(|value| (name, value))
                    }
                    Some(field) => covered(field, value, secrets).map(|value| (name, value)),
                    None => Some((name, value)),
                })
                .collect()
        }
        (_, value) => value,
    }
}

/// What [`Secrets::Omitted`] leaves out of `value`.
fn hidden(field: &Field, value: &Value) -> Option<Value> {
    let whole = field.secret || without_login(field, value).is_some();
    if whole { Some(value.clone()) } else { hidden_inside(&field.kind, value) }
}

/// A URL with a mask in the place of its login; `None` for what has none. The mask goes into the store as
/// well, and the whole URL among the secrets.
fn without_login(field: &Field, value: &Value) -> Option<String> {
    value.as_str().filter(|_| field.is_url()).and_then(url_login::masked)
}

fn hidden_inside(kind: &Kind, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Kind::List { of, .. }, Value::Array(items)) if matches!(of, Kind::Object(_)) => {
            let items: Vec<_> = items.iter().map(|item| hidden_inside(of, item)).collect();
            let any = items.iter().any(Option::is_some);
            any.then(|| items.into_iter().map(Option::unwrap_or_default).collect())
        }
        (Kind::Object(table), Value::Object(entries)) => {
            let lets_in = parts::lets_in(table, entries);
            let secret = |name: &str, value: &Value| match table.field(name)? {
                _ if lets_in && name == "value" => Some(value.clone()),
                field => hidden(field, value),
            };
            let hidden: Map<String, Value> = entries
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), secret(name, value)?)))
                .collect();
            (!hidden.is_empty()).then_some(Value::Object(hidden))
        }
        _ => None,
    }
}

/// Puts `secrets` into their places in `value`.
fn join(value: &mut Value, secrets: Value) {
    match (value, secrets) {
        (Value::Object(entries), Value::Object(secrets)) => {
            for (name, secret) in secrets {
                match entries.get_mut(&name) {
                    Some(entry) => join(entry, secret),
                    None => drop(entries.insert(name, secret)),
                }
            }
        }
        (Value::Array(items), Value::Array(secrets)) => {
            for (item, secret) in items.iter_mut().zip(secrets).filter(|(_, secret)| !secret.is_null()) {
                join(item, secret);
            }
        }
        (value, secret) => *value = secret,
    }
}

/// Shows no value: some are secrets, and all are long.
impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields = table::of(self.kind).fields();
        let names: Vec<_> = self.entries.iter().map(|entry| fields[entry.position()].name).collect();
        f.debug_struct("Document").field("kind", &self.kind).field("set", &names).finish()
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
