//! Monitor files (behaviour.md 9): a list of monitors with the fields of API version 3, each with `key`, `type` and
//! an optional `customer`. Without I/O: the caller passes the texts of the files, and a function that reads secrets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::host_file::{holds_hosts, misplaced_error};
use super::monitor_document::MonitorDocument;
use super::parent_keys::{ParentKey, split_parent_keys};
use super::reader::{InputFormat, SecretReader};
use super::secret_values::SecretMode;
use super::validate::validate_new_with_secrets;
use super::validation_context::ValidationContext;
use crate::domain::{CustomerId, MonitorType};
use crate::syntax::node::{Node, NodeValue, Position};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, display_value};

/// Maximum length of a key in characters.
const MAX_KEY_CHARS: usize = 255;

/// Top-level fields of an entry that do not belong to the monitor.
const ENVELOPE_FIELDS: &[&str] = &["key", "customer", "type"];

/// One monitor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMonitor {
    /// Stable key, which its id, slot and history follow; empty only where keys are optional.
    pub key: String,
    /// The account that owns it; 1 when the file names none.
    pub customer: CustomerId,
    /// Its fields.
    pub document: MonitorDocument,
    /// The monitors that it depends on, by key; ids stand in the document.
    pub parent_keys: Vec<ParentKey>,
    /// Warnings for its author.
    pub warnings: Vec<String>,
    /// Name of the file.
    pub file: Arc<str>,
    /// Start of the entry in the file.
    pub position: Position,
}

/// The result of reading monitor files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedMonitorFiles {
    /// Valid monitors, in order.
    pub monitors: Vec<FileMonitor>,
    /// All errors, in order.
    pub errors: Vec<ValidationError>,
}

/// Whether entries must have a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPolicy {
    /// Every entry has a key, unique over all files: for monitors that are stored.
    Required,
    /// Keys are optional: for `vigie check --file`, which stores nothing.
    Optional,
}

/// Reads `files` (name and text of each). Invalid entries are left out of the monitors.
#[must_use]
pub fn parse_monitor_files(
    files: &[(String, String)],
    key_policy: KeyPolicy,
    context: &ValidationContext<'_>,
    secret_reader: SecretReader<'_>,
) -> ParsedMonitorFiles {
    let mut parser = MonitorFileParser {
        key_policy,
        context,
        secret_reader,
        key_positions: HashMap::new(),
        parsed_files: ParsedMonitorFiles::default(),
    };
    for (name, text) in files {
        parser.read_file(&Arc::from(name.as_str()), text);
    }
    parser.parsed_files
}

/// Returns all errors of `files`.
#[must_use]
pub fn find_file_errors(
    files: &[(String, String)],
    context: &ValidationContext<'_>,
    secret_reader: SecretReader<'_>,
) -> Vec<ValidationError> {
    parse_monitor_files(files, KeyPolicy::Required, context, secret_reader).errors
}

/// Returns a monitor as an entry of a file: the values that differ from the defaults, secrets masked.
#[must_use]
pub fn to_file_entry(key: &str, customer: CustomerId, document: &MonitorDocument) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert("key".to_owned(), Value::from(key));
    if customer != CustomerId::OPERATOR {
        entry.insert("customer".to_owned(), Value::from(customer.0));
    }
    entry.insert("type".to_owned(), Value::from(document.monitor_type().name()));
    entry.extend(document.to_non_default_fields(SecretMode::Masked));
    entry
}

/// Returns what is sent to a server for a monitor of `vigie apply`: values that differ from the defaults, with secrets in clear text.
#[must_use]
pub fn to_apply_entry(monitor: &FileMonitor) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert("key".to_owned(), Value::from(monitor.key.as_str()));
    entry.insert("type".to_owned(), Value::from(monitor.document.monitor_type().name()));
    entry.extend(monitor.document.to_non_default_fields(SecretMode::Revealed));
    if !monitor.parent_keys.is_empty() {
        let ids = monitor.document.parent_ids().into_iter().map(|id| Value::from(id.0));
        let keys = monitor.parent_keys.iter().map(|parent| Value::from(parent.key.as_str()));
        entry.insert("depends_on".to_owned(), ids.chain(keys).collect());
    }
    entry
}

/// Parses the files one after another.
struct MonitorFileParser<'a> {
    key_policy: KeyPolicy,
    context: &'a ValidationContext<'a>,
    secret_reader: SecretReader<'a>,
    /// File and position of each key.
    key_positions: HashMap<String, (Arc<str>, Position)>,
    parsed_files: ParsedMonitorFiles,
}

impl MonitorFileParser<'_> {
    fn read_file(&mut self, file: &Arc<str>, text: &str) {
        let node = match Node::from_yaml(text) {
            Ok(node) => node,
            Err(error) => return self.parsed_files.errors.push(ValidationError::from(error).with_file(file)),
        };
        match &node.value {
            NodeValue::Null => {}
            NodeValue::List(items) => items.iter().for_each(|item| self.read_monitor(file, item)),
            NodeValue::Map(_) if holds_hosts(&node) => {
                self.parsed_files.errors.push(misplaced_error(&node).with_file(file));
            }
            NodeValue::Map(_) => self.read_monitor(file, &node),
            _ => {
                let message =
                    format!("a monitor file holds a list of monitors, not `{}`", display_value(&node));
                let error = ValidationError::new(ValidationErrorKind::Type, "", node.position, message);
                self.parsed_files
                    .errors
                    .push(error.with_file(file).with_hint("start each one with `- key: …`"));
            }
        }
    }

    fn read_monitor(&mut self, file: &Arc<str>, node: &Node) {
        let mut errors = Vec::new();
        if !matches!(node.value, NodeValue::Map(_)) {
            let message = format!("a monitor must be a map of fields, not `{}`", display_value(node));
            let error = ValidationError::new(ValidationErrorKind::Type, "", node.position, message);
            return self.parsed_files.errors.push(error.with_file(file));
        }
        let key = self.read_key(file, node, &mut errors);
        let customer = read_customer(node, &mut errors);
        let (entry, parent_keys) = match split_parent_keys(node) {
            Some((entry, parent_keys)) => (Cow::Owned(entry), parent_keys),
            None => (Cow::Borrowed(node), Vec::new()),
        };
        let validated = read_type(node, &mut errors).and_then(|monitor_type| {
            let validated = validate_new_with_secrets(
                monitor_type,
                InputFormat::File,
                &entry,
                self.context,
                self.secret_reader,
                ENVELOPE_FIELDS,
            );
            validated.map_err(|document_errors| errors.extend(document_errors)).ok()
        });
        if let (Some(validated), true) = (validated, errors.is_empty()) {
            let (document, warnings) = (validated.document, validated.warnings);
            let file = Arc::clone(file);
            let position = node.position;
            let monitor = FileMonitor { key, customer, document, parent_keys, warnings, file, position };
            self.parsed_files.monitors.push(monitor);
        }
        errors.sort_by_key(|error| error.position);
        self.parsed_files.errors.extend(errors.into_iter().map(|error| error.with_file(file)));
    }

    fn read_key(&mut self, file: &Arc<str>, node: &Node, errors: &mut Vec<ValidationError>) -> String {
        let Some(key_node) = node.get("key") else {
            if self.key_policy == KeyPolicy::Required {
                let error = ValidationError::new(
                    ValidationErrorKind::MissingField,
                    "key",
                    node.position,
                    "`key` is required",
                );
                errors.push(error.with_hint(
                    "give each monitor a key of its own, and keep it when you rename the monitor",
                ));
            }
            return String::new();
        };
        let is_valid_key = |key: &&str| {
            let length = key.chars().count();
            (1..=MAX_KEY_CHARS).contains(&length) && !key.chars().any(char::is_control)
        };
        let Some(key) = key_node.as_text().filter(is_valid_key) else {
            let message = format!(
                "`key` must be a text of 1 to {MAX_KEY_CHARS} characters, not `{}`",
                display_value(key_node)
            );
            errors.push(
                ValidationError::new(ValidationErrorKind::Type, "key", key_node.position, message)
                    .with_value(display_value(key_node)),
            );
            return String::new();
        };
        match self.key_positions.get(key) {
            Some((other_file, position)) => {
                let message = format!(
                    "`key` `{key}` is already in use by {other_file}:{}:{}",
                    position.line, position.column
                );
                let error = ValidationError::new(
                    ValidationErrorKind::DuplicateField,
                    "key",
                    key_node.position,
                    message,
                )
                .with_value(key);
                errors.push(error.with_hint("keys are unique over all files"));
            }
            None => {
                self.key_positions.insert(key.to_owned(), (Arc::clone(file), key_node.position));
            }
        }
        key.to_owned()
    }
}

fn read_customer(node: &Node, errors: &mut Vec<ValidationError>) -> CustomerId {
    let Some(customer_node) = node.get("customer") else { return CustomerId::OPERATOR };
    if let NodeValue::Int(number @ 1..) = customer_node.value {
        return CustomerId(number);
    }
    let message = format!("`customer` must be the id of an account, not `{}`", display_value(customer_node));
    errors.push(
        ValidationError::new(ValidationErrorKind::Type, "customer", customer_node.position, message)
            .with_value(display_value(customer_node)),
    );
    CustomerId::OPERATOR
}

fn read_type(node: &Node, errors: &mut Vec<ValidationError>) -> Option<MonitorType> {
    let Some(type_node) = node.get("type") else {
        errors.push(ValidationError::new(
            ValidationErrorKind::MissingField,
            "type",
            node.position,
            "`type` is required",
        ));
        return None;
    };
    let name = type_node.as_text().unwrap_or_default();
    let monitor_type = MonitorType::from_name(name);
    if monitor_type.is_none() {
        let message = format!("`type` must be a monitor type, not `{}`", display_value(type_node));
        let error = ValidationError::new(ValidationErrorKind::Choice, "type", type_node.position, message)
            .with_value(display_value(type_node));
        let type_names = || MonitorType::ALL.iter().map(|monitor_type| monitor_type.name());
        errors.push(match closest_match(name, type_names()) {
            Some(closest_type) => error.with_hint(format!("did you mean `{closest_type}`?")),
            None => error.with_hint(format!("the types are {}", type_names().collect::<Vec<_>>().join(", "))),
        });
    }
    monitor_type
}
