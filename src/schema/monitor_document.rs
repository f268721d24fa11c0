//! The validated fields of one monitor, small in memory.

use std::cell::LazyCell;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::browser_choice::rename_browser_type;
use super::field::{Access, FieldTable, FieldType};
use super::secret_values::{SecretMode, apply_secret_mode, extract_secrets, insert_secrets};
use super::table;
use super::typed::monitor::MonitorSettings;
use super::typed::{InvalidFieldValue, deserialize_fields, find_mistyped_value};
use crate::domain::{LocationMode, MonitorType};
use crate::script::ScriptOverview;

/// The fields of a monitor as its author set them, checked against the field table. Fields that were not set have the
/// default of the table. Only values that differ from the default take memory.
#[derive(Clone, PartialEq)]
pub struct MonitorDocument {
    monitor_type: MonitorType,
    /// Sorted by the position of the field in the table of `monitor_type`.
    entries: Box<[DocumentEntry]>,
    settings: MonitorSettings,
}

/// A value that differs from the default of its field.
#[derive(Clone)]
enum DocumentEntry {
    /// One of the few values of its field, shared by all documents.
    Shared(u16, &'static Value),
    /// A value of its own. The number is the position of the field in the table, as in `Shared`.
    Owned(u16, Box<Value>),
}

impl MonitorDocument {
    /// Creates a document from `values` in version 3 form, such as those from the store. Ignores fields that the table
    /// does not have.
    ///
    /// # Errors
    /// A value that is not of the type of its field, such as an unknown choice.
    pub fn new(monitor_type: MonitorType, mut values: Map<String, Value>) -> Result<Self, InvalidFieldValue> {
        // Earlier versions stored the browser as `browser_type`.
        rename_browser_type(monitor_type, &mut values);
        let table = table::for_type(monitor_type);
        let mut entries = Vec::with_capacity(values.len());
        for (name, value) in values {
            if let Some(position) = table.position(&name) {
                entries.extend(DocumentEntry::new(table, position, value)?);
            }
        }
        entries.sort_by_key(DocumentEntry::position);
        let settings =
            MonitorSettings::from_values(monitor_type, &|position, _| find_value(&entries, position))?;
        Ok(Self { monitor_type, entries: entries.into_boxed_slice(), settings })
    }

    /// Combines the results of [`MonitorDocument::to_non_default_fields`] without secrets and
    /// [`MonitorDocument::secrets`].
    ///
    /// # Errors
    /// As [`MonitorDocument::new`].
    pub fn with_secrets(
        monitor_type: MonitorType,
        mut stored: Map<String, Value>,
        secrets: Value,
    ) -> Result<Self, InvalidFieldValue> {
        let table = table::for_type(monitor_type);
        if let Value::Object(secrets) = secrets {
            for (name, secret) in secrets {
                // Without its secrets the value may have equalled the default, which is not stored.
                let default = || table.default_at(table.position(&name)?).cloned();
                let mut value = stored.get_mut(&name).map(Value::take).or_else(default).unwrap_or_default();
                insert_secrets(&mut value, secret);
                stored.insert(name, value);
            }
        }
        Self::new(monitor_type, stored)
    }

    /// Returns this document without secrets.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let table = table::for_type(self.monitor_type);
        let without_secret = |entry: &DocumentEntry| {
            let position = entry.position();
            let value =
                apply_secret_mode(table.fields()[position], entry.value().clone(), SecretMode::Omitted)?;
            let differs = table.default_at(position) != Some(&value);
            differs.then(|| match entry {
                DocumentEntry::Shared(..) => entry.clone(),
                DocumentEntry::Owned(at, _) => DocumentEntry::Owned(*at, Box::new(value)),
            })
        };
        Self { entries: self.entries.iter().filter_map(without_secret).collect(), ..*self }
    }

    /// Whether a check of `other` is the same: only fields differ that say how, when and where the monitor runs, and
    /// what its alerts are.
    #[must_use]
    pub fn checks_the_same(&self, other: &Self) -> bool {
        self.monitor_type == other.monitor_type && self.checked_entries().eq(other.checked_entries())
    }

    fn checked_entries(&self) -> impl Iterator<Item = &DocumentEntry> {
        let fields = table::for_type(self.monitor_type).fields();
        self.entries.iter().filter(|entry| table::decides_check(fields[entry.position()].name))
    }

    /// Returns the type that the fields belong to.
    #[must_use]
    pub fn monitor_type(&self) -> MonitorType {
        self.monitor_type
    }

    /// Returns the value of `field`, or its default; `None` without either.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&Value> {
        let table = table::for_type(self.monitor_type);
        let position = table.position(field)?;
        self.non_default_value(position).or_else(|| table.default_at(position))
    }

    /// Whether the value of `field` differs from its default, whoever set it.
    #[must_use]
    pub fn differs_from_default(&self, field: &str) -> bool {
        table::for_type(self.monitor_type)
            .position(field)
            .is_some_and(|position| self.non_default_value(position).is_some())
    }

    /// Returns the settings for scheduling and alerting.
    #[must_use]
    pub fn settings(&self) -> &MonitorSettings {
        &self.settings
    }

    /// Returns typed settings, such as those of a probe.
    ///
    /// # Errors
    /// A field that is missing, or whose value cannot be used.
    pub fn deserialize<'a, T: Deserialize<'a>>(&'a self) -> Result<T, InvalidFieldValue> {
        deserialize_fields(table::for_type(self.monitor_type), &|position, _| {
            find_value(&self.entries, position)
        })
    }

    /// Returns a text; `None` when it is neither set nor has a default.
    pub(in crate::schema) fn text(&self, field: &str) -> Option<&str> {
        self.value(field).and_then(Value::as_str)
    }

    /// Returns an integer; 0 when it is neither set nor has a default.
    pub(in crate::schema) fn int_or_zero(&self, field: &str) -> i64 {
        self.value(field).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns a boolean; `false` when it is neither set nor has a default.
    pub(in crate::schema) fn flag(&self, field: &str) -> bool {
        self.value(field).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the entries of an array; empty when it is neither set nor has a default.
    pub(in crate::schema) fn list(&self, field: &str) -> &[Value] {
        self.value(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the values that differ from their defaults, in the order of the table: the form that is stored and that
    /// [`MonitorDocument::new`] takes.
    #[must_use]
    pub fn to_non_default_fields(&self, secret_mode: SecretMode) -> Map<String, Value> {
        let fields = table::for_type(self.monitor_type).fields();
        self.entries
            .iter()
            .filter_map(|entry| {
                let field = fields[entry.position()];
                Some((field.name.to_owned(), apply_secret_mode(field, entry.value().clone(), secret_mode)?))
            })
            .collect()
    }

    /// Returns the secrets alone, at their positions: objects hold nothing else, arrays have their full length with
    /// null for entries without a secret. `None` without any secret. The store seals them and passes them to
    /// [`MonitorDocument::with_secrets`].
    #[must_use]
    pub fn secrets(&self) -> Option<Value> {
        let fields = table::for_type(self.monitor_type).fields();
        let secret = |entry: &DocumentEntry| {
            let field = fields[entry.position()];
            Some((field.name.to_owned(), extract_secrets(field, entry.value())?))
        };
        let secrets: Map<String, Value> = self.entries.iter().filter_map(secret).collect();
        (!secrets.is_empty()).then_some(Value::Object(secrets))
    }

    /// Returns every field that has a value, defaults included, in the order of the table and in version 3 form.
    /// Includes those fields set by Vigie that follow from others (fields.md 3).
    #[must_use]
    pub fn to_json(&self, secret_mode: SecretMode) -> Map<String, Value> {
        let table = table::for_type(self.monitor_type);
        let script = LazyCell::new(|| self.script_summary());
        table
            .fields()
            .iter()
            .enumerate()
            .filter_map(|(position, field)| {
                let value = match self.non_default_value(position).or_else(|| table.default_at(position)) {
                    Some(value) => value.clone(),
                    None => self.derived_value(field.name, &script)?,
                };
                Some((field.name.to_owned(), apply_secret_mode(field, value, secret_mode)?))
            })
            .collect()
    }

    /// Returns the value of a field that Vigie derives from the others.
    fn derived_value(
        &self,
        name: &str,
        script: &LazyCell<Option<ScriptOverview>, impl FnOnce() -> Option<ScriptOverview>>,
    ) -> Option<Value> {
        let derived_flag = match name {
            "transaction_steps" => return Some(Value::from(script.as_ref()?.step_count)),
            "transaction_events" => return Some(Value::from(script.as_ref()?.action_count)),
            "browser_type" => return Some(Value::from(self.used_browser(None))),
            "is_transaction" => script.as_ref().map(ScriptOverview::is_transaction),
            "monitor_uses_own_locations" => Some(!self.list("locations").is_empty()),
            "has_capture" => {
                let level = self.value("capture").and_then(|capture| capture.get("level"));
                Some(level.and_then(Value::as_str) != Some("Disabled"))
            }
            "has_content_views" => Some(!self.list("content_views").is_empty()),
            "has_user_experience" => Some(self.flag("user_experience_enabled")),
            "has_multipop" => Some(self.settings.location_mode == LocationMode::MultiPop),
            _ => None,
        };
        derived_flag.map(Value::Bool)
    }

    fn non_default_value(&self, position: usize) -> Option<&Value> {
        find_value(&self.entries, position)
    }
}

/// Returns the value of the field at `position`, if it differs from its default.
fn find_value(entries: &[DocumentEntry], position: usize) -> Option<&Value> {
    let found = entries.binary_search_by_key(&position, DocumentEntry::position);
    found.ok().map(|at| entries[at].value())
}

impl DocumentEntry {
    /// Creates an entry; `None` for nulls, defaults and fields that the author may not set.
    fn new(
        table: &'static FieldTable,
        position: usize,
        value: Value,
    ) -> Result<Option<Self>, InvalidFieldValue> {
        let field = table.fields()[position];
        let settable = matches!(field.access, Access::ReadWrite | Access::ReadOnlyInV3);
        let value = with_object_defaults(&field.field_type, value);
        if !settable || value.is_null() || table.default_at(position) == Some(&value) {
            return Ok(None);
        }
        let Ok(compact_position) = u16::try_from(position) else { return Ok(None) };
        if let Some(interned) = table.interned_value(position, &value) {
            return Ok(Some(Self::Shared(compact_position, interned)));
        }
        match find_mistyped_value(field, &value) {
            None => Ok(Some(Self::Owned(compact_position, Box::new(value)))),
            Some(error) => Err(error),
        }
    }

    fn position(&self) -> usize {
        match self {
            Self::Shared(position, _) | Self::Owned(position, _) => usize::from(*position),
        }
    }

    fn value(&self) -> &Value {
        match self {
            Self::Shared(_, value) => value,
            Self::Owned(_, value) => value,
        }
    }
}

/// Adds the defaults of missing fields to an object, in the order of its table; returns other values unchanged.
fn with_object_defaults(field_type: &FieldType, value: Value) -> Value {
    match (field_type, value) {
        (FieldType::Object(table), Value::Object(mut fields)) => {
            let mut completed = table.defaults();
            completed.append(&mut fields);
            Value::Object(completed)
        }
        (_, value) => value,
    }
}

impl PartialEq for DocumentEntry {
    fn eq(&self, other: &Self) -> bool {
        self.position() == other.position() && self.value() == other.value()
    }
}

/// Leaves out the values: some are secrets, and others may be long.
impl std::fmt::Debug for MonitorDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields = table::for_type(self.monitor_type).fields();
        let names: Vec<_> = self.entries.iter().map(|entry| fields[entry.position()].name).collect();
        f.debug_struct("MonitorDocument")
            .field("kind", &self.monitor_type)
            .field("set", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "monitor_document_tests.rs"]
mod tests;
