//! The validated fields of one monitor, small in memory.

use std::cell::LazyCell;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::document_secrets::{Secrets, covered, hidden, join};
use super::field::{Access, Kind, Table};
use super::table;
use super::typed::monitor::MonitorSettings;
use super::typed::{InvalidSettings, misfit, read};
use crate::domain::{LocationMode, MonitorType};
use crate::script::ScriptSummary;

/// The fields of a monitor as its author set them, checked against the field table. Fields that were
/// not set answer with the default of the table. Only what differs from the default takes memory.
#[derive(Clone, PartialEq)]
pub struct Document {
    kind: MonitorType,
    /// Sorted by the position of the field in the table of `kind`.
    entries: Box<[Entry]>,
    settings: MonitorSettings,
}

/// A value that differs from the default of its field.
#[derive(Clone)]
enum Entry {
    /// One of the few values of its field, shared by all documents.
    Known(u16, &'static Value),
    Own(u16, Box<Value>),
}

impl Document {
    /// The document of `values` in their version 3 form, such as those from the store. What the table does not know
    /// is left out.
    ///
    /// # Errors
    /// A value that is not of the kind of its field, such as a choice that there is not.
    pub fn new(kind: MonitorType, values: Map<String, Value>) -> Result<Self, InvalidSettings> {
        let table = table::of(kind);
        let mut entries = Vec::with_capacity(values.len());
        for (name, value) in values {
            if let Some(position) = table.position(&name) {
                entries.extend(Entry::new(table, position, value)?);
            }
        }
        entries.sort_by_key(Entry::position);
        let settings = MonitorSettings::read(kind, &|position, _| found(&entries, position))?;
        Ok(Self { kind, entries: entries.into_boxed_slice(), settings })
    }

    /// Puts together what [`Document::stored`] without secrets and [`Document::secrets`] took apart.
    ///
    /// # Errors
    /// As [`Document::new`].
    pub fn with_secrets(
        kind: MonitorType,
        mut stored: Map<String, Value>,
        secrets: Value,
    ) -> Result<Self, InvalidSettings> {
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
        Self::new(kind, stored)
    }

    /// This document without secrets.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let table = table::of(self.kind);
        let open = |entry: &Entry| {
            let position = entry.position();
            let value = covered(table.fields()[position], entry.value().clone(), Secrets::Omitted)?;
            let differs = table.default_at(position) != Some(&value);
            differs.then(|| match entry {
                Entry::Known(..) => entry.clone(),
                Entry::Own(at, _) => Entry::Own(*at, Box::new(value)),
            })
        };
        Self { entries: self.entries.iter().filter_map(open).collect(), ..*self }
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

    /// What the monitor is planned and alerts by.
    #[must_use]
    pub fn settings(&self) -> &MonitorSettings {
        &self.settings
    }

    /// Typed settings, such as those of a probe.
    ///
    /// # Errors
    /// A field that is missing, or whose value cannot be used.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, InvalidSettings> {
        read(table::of(self.kind), &|position, _| found(&self.entries, position))
    }

    /// A text; `None` when it is neither set nor has a default.
    pub(in crate::schema) fn text(&self, field: &str) -> Option<&str> {
        self.value(field).and_then(Value::as_str)
    }

    /// A whole number; 0 when it is neither set nor has a default.
    pub(in crate::schema) fn number(&self, field: &str) -> i64 {
        self.value(field).and_then(Value::as_i64).unwrap_or_default()
    }

    /// A yes or no; no when it is neither set nor has a default.
    pub(in crate::schema) fn flag(&self, field: &str) -> bool {
        self.value(field).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The entries of an array; none when it is neither set nor has a default.
    pub(in crate::schema) fn list(&self, field: &str) -> &[Value] {
        self.value(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The values that differ from their defaults, in the order of the table: what the store keeps and
    /// [`Document::new`] takes.
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
        script: &LazyCell<Option<ScriptSummary>, impl FnOnce() -> Option<ScriptSummary>>,
    ) -> Option<Value> {
        let follows = match name {
            "transaction_steps" => return Some(Value::from(script.as_ref()?.steps)),
            "transaction_events" => return Some(Value::from(script.as_ref()?.events)),
            "is_transaction" => script.as_ref().map(ScriptSummary::is_transaction),
            "monitor_uses_own_locations" => Some(!self.list("locations").is_empty()),
            "has_capture" => {
                let level = self.value("capture").and_then(|capture| capture.get("level"));
                Some(level.and_then(Value::as_str) != Some("Disabled"))
            }
            "has_content_views" => Some(!self.list("content_views").is_empty()),
            "has_user_experience" => Some(self.flag("user_experience_enabled")),
            "has_multipop" => Some(self.settings.mode == LocationMode::MultiPop),
            _ => None,
        };
        follows.map(Value::Bool)
    }

    fn entry(&self, position: usize) -> Option<&Value> {
        found(&self.entries, position)
    }
}

/// The value of the field at `position`, where it differs from its default.
fn found(entries: &[Entry], position: usize) -> Option<&Value> {
    let found = entries.binary_search_by_key(&position, Entry::position);
    found.ok().map(|at| entries[at].value())
}

impl Entry {
    /// `None` for nulls, defaults and what is not an author's to set.
    fn new(table: &'static Table, position: usize, value: Value) -> Result<Option<Self>, InvalidSettings> {
        let field = table.fields()[position];
        let settable = matches!(field.access, Access::Open | Access::ReadOnlyInV3);
        let value = whole(&field.kind, value);
        if !settable || value.is_null() || table.default_at(position) == Some(&value) {
            return Ok(None);
        }
        let Ok(at) = u16::try_from(position) else { return Ok(None) };
        if let Some(known) = table.known_at(position, &value) {
            return Ok(Some(Self::Known(at, known)));
        }
        match misfit(field, &value) {
            None => Ok(Some(Self::Own(at, Box::new(value)))),
            Some(error) => Err(error),
        }
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

/// An object with the defaults of what it leaves open, in the order of its table; all else as it is.
fn whole(kind: &Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Object(part), Value::Object(mut given)) => {
            let mut all = part.defaults();
            all.append(&mut given);
            Value::Object(all)
        }
        (_, value) => value,
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.position() == other.position() && self.value() == other.value()
    }
}

/// Shows no value: some are secrets, and all are long.
impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields = table::of(self.kind).fields();
        let names: Vec<_> = self.entries.iter().map(|entry| fields[entry.position()].name).collect();
        f.debug_struct("Document").field("kind", &self.kind).field("set", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
