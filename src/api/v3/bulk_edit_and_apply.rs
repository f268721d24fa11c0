//! POST `/monitors/bulk-edit`, `/monitors/bulk-edit-passwords`, `/monitors/bulk-edit-scripts` and `/apply`.

use std::collections::HashSet;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::state::ApiState;
use crate::domain::{MonitorType, Permission};
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::FieldTable;
use crate::schema::table::operations::{APPLY, APPLY_RESPONSE, BULK_EDIT_RESULT};
use crate::schema::table::requests::{MONITOR_BULK_EDIT, PASSWORD_BULK_EDIT, SCRIPT_BULK_EDIT};
use crate::schema::typed::request::{ApplyRequest, parse_request_fields};
use crate::service::monitors;
use crate::service::{AppliedChange, ApplyOptions, Caller, MonitorDefinition, ServiceError};
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, display_value};

/// Longest key, in characters.
const MAX_KEY_CHARS: usize = 255;
/// Most errors that one response reports.
const MAX_REPORTED_ERRORS: usize = 100;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let bulk_edit_operation = |path, operation_id, summary, table: &'static FieldTable| {
        Operation::new(OperationMethod::Post, path, operation_id, "monitors", summary)
            .with_permission(Some(Permission::Edit))
            .with_body(BodySpec::Create(table))
            .with_response(ResponseSpec::Object(&BULK_EDIT_RESULT))
            .with_additional_status(
                403,
                "The role lacks the right, or one of the monitors is not of this account, or is defined in a file",
            )
    };
    let edit_fields_operation = bulk_edit_operation(
        "/monitors/bulk-edit",
        "bulkEditMonitors",
        "Change several monitors",
        &MONITOR_BULK_EDIT,
    );
    let edit_passwords_operation = bulk_edit_operation(
        "/monitors/bulk-edit-passwords",
        "bulkEditPasswords",
        "Replace a password wherever several monitors use it",
        &PASSWORD_BULK_EDIT,
    );
    let edit_scripts_operation = bulk_edit_operation(
        "/monitors/bulk-edit-scripts",
        "bulkEditScripts",
        "Replace a text wherever it occurs in the scripts of several monitors",
        &SCRIPT_BULK_EDIT,
    );
    let apply_operation = Operation::new(
        OperationMethod::Post,
        "/apply",
        "apply",
        "monitors",
        "Create, change and remove monitors to match files (`vigie apply`)",
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Create(&APPLY))
    .with_response(ResponseSpec::Object(&APPLY_RESPONSE));
    router
        .route(
            edit_fields_operation,
            async |State(state): State<ApiState>,
                   Extension(caller): Extension<Caller>,
                   JsonBody(body): JsonBody| {
                let warnings = monitors::bulk_edit(&state.monitor_service, &caller, &body).await?;
                Ok::<_, ApiError>(bulk_edit_response(&body, warnings))
            },
        )
        .route(
            edit_passwords_operation,
            async |State(state): State<ApiState>,
                   Extension(caller): Extension<Caller>,
                   JsonBody(body): JsonBody| {
                let warnings = monitors::bulk_edit_passwords(&state.monitor_service, &caller, &body).await?;
                Ok::<_, ApiError>(bulk_edit_response(&body, warnings))
            },
        )
        .route(
            edit_scripts_operation,
            async |State(state): State<ApiState>,
                   Extension(caller): Extension<Caller>,
                   JsonBody(body): JsonBody| {
                let warnings = monitors::bulk_edit_scripts(&state.monitor_service, &caller, &body).await?;
                Ok::<_, ApiError>(bulk_edit_response(&body, warnings))
            },
        )
        .route_with_large_body(apply_operation, apply_monitors)
}

/// Builds the 200 response with the ids as strings, each once, as other edits do, and with the warnings if any.
pub(super) fn bulk_edit_response(body: &Node, warnings: Vec<String>) -> Json<Value> {
    let monitor_nodes = body.get("monitors").map(Node::items).unwrap_or_default();
    let mut listed_ids = HashSet::new();
    let ids: Vec<String> = monitor_nodes
        .iter()
        .filter_map(|node| match node.value {
            NodeValue::Int(id) if listed_ids.insert(id) => Some(id.to_string()),
            _ => None,
        })
        .collect();
    let mut response = json!({"ids": ids});
    if let (Value::Object(fields), false) = (&mut response, warnings.is_empty()) {
        fields.insert("warnings".to_owned(), warnings.into());
    }
    Json(response)
}

async fn apply_monitors(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Json<Value>, ApiError> {
    let (entries, options) = parse_apply_request(body)?;
    let changes = monitors::apply(&state.monitor_service, &caller, entries, options).await?;
    let changes: Vec<Value> = changes.into_iter().map(change_to_json).collect();
    Ok(Json(json!({"changes": changes})))
}

fn change_to_json(change: AppliedChange) -> Value {
    let AppliedChange { key, id, action, before, after, warnings } = change;
    json!({"key": key, "id": id, "action": action, "before": before, "after": after, "warnings": warnings})
}

/// Splits the body into entries and options. The fields of the monitors are validated when they are saved.
fn parse_apply_request(body: Node) -> Result<(Vec<MonitorDefinition>, ApplyOptions), ServiceError> {
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
                crate::syntax::truncate_value(type_name)
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
