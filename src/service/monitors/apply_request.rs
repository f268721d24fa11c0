//! The request of `vigie apply`: entries and options.

use std::collections::HashSet;

use super::apply::{ApplyOptions, MonitorDefinition};
use crate::domain::MonitorType;
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::operations::APPLY;
use crate::schema::typed::request::{ApplyRequest, parse_request_fields};
use crate::service::caller::ServiceError;
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, display_value, truncate_value};

/// Longest key, in characters.
const MAX_KEY_CHARS: usize = 255;
/// Most errors that one response reports.
const MAX_REPORTED_ERRORS: usize = 100;

/// Splits the body of a request into entries and options. The fields of the monitors are validated when they are saved.
///
/// # Errors
/// [`ServiceError::Invalid`] with at most 100 errors.
pub fn parse_apply_request(body: Node) -> Result<(Vec<MonitorDefinition>, ApplyOptions), ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_complete_fields(&APPLY, &body);
    let mut errors = reader.errors;
    let options = match parse_request_fields::<ApplyRequest>(&APPLY, &fields) {
        Ok(request) => ApplyOptions { dry_run: request.dry_run, prune: request.prune },
        Err(error) => {
            errors.push(error.into());
            return Err(ServiceError::Invalid(errors));
        }
    };
    let mut used_keys = HashSet::new();
    let mut entries = Vec::new();
    let monitors = into_map_entries(body).into_iter().find(|(name, _)| name == "monitors");
    let monitor_nodes = match monitors.map(|(_, node)| node.value) {
        Some(NodeValue::List(monitor_nodes)) => monitor_nodes,
        _ => Vec::new(),
    };
    for (index, monitor_node) in monitor_nodes.into_iter().enumerate() {
        if errors.len() >= MAX_REPORTED_ERRORS {
            let message = format!("more than {MAX_REPORTED_ERRORS} errors; the rest was not read");
            errors.push(ValidationError::new(
                ValidationErrorKind::Conflict,
                "monitors",
                monitor_node.position,
                message,
            ));
            break;
        }
        match parse_apply_entry(index, monitor_node) {
            Ok(entry) if used_keys.insert(entry.key.clone()) => entries.push(entry),
            Ok(entry) => {
                let path = format!("monitors[{index}].key");
                let message = format!("`{path}` must be unique; `{}` is used twice", entry.key);
                errors.push(ValidationError::new(
                    ValidationErrorKind::DuplicateField,
                    path,
                    entry.body.position,
                    message,
                ));
            }
            Err(entry_errors) => errors.extend(entry_errors),
        }
    }
    if errors.is_empty() { Ok((entries, options)) } else { Err(ServiceError::Invalid(errors)) }
}

/// Parses key and type of one monitor, with its fields; `type` stays among them.
fn parse_apply_entry(index: usize, node: Node) -> Result<MonitorDefinition, Vec<ValidationError>> {
    let field_path = |field: &str| format!("monitors[{index}].{field}");
    let mut errors = Vec::new();
    if !matches!(node.value, NodeValue::Map(_)) {
        let message = format!("`monitors[{index}]` must be a map of fields, not {}", display_value(&node));
        return Err(vec![ValidationError::new(
            ValidationErrorKind::Type,
            format!("monitors[{index}]"),
            node.position,
            message,
        )]);
    }
    let has_valid_length = |key: &&str| !key.is_empty() && key.chars().count() <= MAX_KEY_CHARS;
    let key = node.get("key").and_then(Node::as_text).filter(has_valid_length).map(str::to_owned);
    if key.is_none() {
        let message = format!("`{}` must be a string of 1 to {MAX_KEY_CHARS} characters", field_path("key"));
        errors.push(ValidationError::new(
            ValidationErrorKind::MissingField,
            field_path("key"),
            node.position,
            message,
        ));
    }
    let type_name = node.get("type").and_then(Node::as_text);
    let monitor_type = type_name.and_then(MonitorType::from_name);
    if monitor_type.is_none() {
        let message = match type_name {
            Some(type_name) => format!(
                "`{}` must be a monitor type, not `{}`",
                field_path("type"),
                truncate_value(type_name)
            ),
            None => format!("`{}` is required", field_path("type")),
        };
        let error =
            ValidationError::new(ValidationErrorKind::Choice, field_path("type"), node.position, message);
        let known_types = MonitorType::ALL.iter().map(|monitor_type| monitor_type.name());
        errors.push(match type_name.and_then(|type_name| closest_match(type_name, known_types)) {
            Some(closest) => error.with_hint(format!("did you mean `{closest}`?")),
            None => error,
        });
    }
    let position = node.position;
    let fields = match node.value {
        NodeValue::Map(fields) => fields,
        _ => Vec::new(),
    };
    let has_duplicate_key = fields.iter().filter(|(name, _)| name.name == "key").count() > 1;
    if has_duplicate_key {
        let message = format!("`{}` is given twice", field_path("key"));
        errors.push(ValidationError::new(
            ValidationErrorKind::DuplicateField,
            field_path("key"),
            position,
            message,
        ));
    }
    let fields = fields.into_iter().filter(|(name, _)| name.name != "key").collect();
    match (key, monitor_type) {
        (Some(key), Some(monitor_type)) if errors.is_empty() => Ok(MonitorDefinition {
            key,
            monitor_type,
            body: Node { value: NodeValue::Map(fields), position },
        }),
        _ => Err(errors),
    }
}

fn into_map_entries(node: Node) -> Vec<(String, Node)> {
    match node.value {
        NodeValue::Map(entries) => entries.into_iter().map(|(key, node)| (key.name, node)).collect(),
        _ => Vec::new(),
    }
}
