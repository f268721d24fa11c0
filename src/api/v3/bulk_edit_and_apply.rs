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
use crate::domain::Permission;
use crate::schema::table::FieldTable;
use crate::schema::table::operations::{APPLY, APPLY_RESPONSE, BULK_EDIT_RESULT};
use crate::schema::table::requests::{MONITOR_BULK_EDIT, PASSWORD_BULK_EDIT, SCRIPT_BULK_EDIT};
use crate::service::monitors;
use crate::service::{AppliedChange, Caller};
use crate::syntax::node::{Node, NodeValue};

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
    let (entries, options) = monitors::parse_apply_request(body)?;
    let changes = monitors::apply(&state.monitor_service, &caller, entries, options).await?;
    let changes: Vec<Value> = changes.into_iter().map(change_to_json).collect();
    Ok(Json(json!({"changes": changes})))
}

fn change_to_json(change: AppliedChange) -> Value {
    let AppliedChange { key, id, action, before, after, warnings } = change;
    json!({"key": key, "id": id, "action": action, "before": before, "after": after, "warnings": warnings})
}
