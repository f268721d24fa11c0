//! Builds the OpenAPI 3.1 document from the routed operations and the schemas of the field tables.

use serde_json::{Map, Value, json};

use super::{parameters, responses};
use crate::api::operation::{BodySpec, Operation, ResponseSpec};
use crate::domain;
use crate::domain::Permission;
use crate::schema::json_schema;
use crate::schema::json_schema::SchemaRole;

/// Description at the head of the document.
const API_DESCRIPTION: &str = "Version 3 of the interface of Vigie.\n\nLog in with `POST /access-tokens`, then send \
    `Authorization: Bearer <token>` with every call. Bodies are JSON. Read-only fields may be present in a body \
    and is ignored there; unknown fields are rejected. Secrets are shown as `********`; sending that \
    back leaves the value as it is.";

/// Builds the document of `operations`.
#[must_use]
pub fn build_document(operations: &[Operation]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.as_str().to_ascii_lowercase()] = describe_operation(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Vigie",
            "version": env!("CARGO_PKG_VERSION"),
            "description": API_DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/api/v3", "description": "This server"}],
        "security": [{"bearer": []}],
        "tags": tag_objects(operations),
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "The `access_token` that `POST /access-tokens` returns; that of a login is valid for an hour",
            }},
            "parameters": {"IfMatch": parameters::if_match_component()},
            "headers": responses::response_headers(),
            "responses": responses::shared_responses(),
            "schemas": component_schemas(operations),
        },
    })
}

fn describe_operation(operation: &Operation) -> Value {
    let mut operation_json = json!({
        "operationId": operation.operation_id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": describe_access(operation.required_permission),
        "parameters": parameters::describe_parameters(operation),
        "responses": responses::describe_responses(operation),
    });
    if let Some(mut body) = describe_request_body(operation.request_body) {
        body["required"] = Value::Bool(!operation.is_body_optional);
        operation_json["requestBody"] = body;
    }
    if operation.accepts_login {
        operation_json["security"] = json!([{}, {"bearer": []}]);
    } else if operation.required_permission.is_none() {
        operation_json["security"] = json!([]);
    }
    operation_json
}

fn describe_request_body(body_spec: BodySpec) -> Option<Value> {
    let content = match body_spec {
        BodySpec::None => return None,
        BodySpec::Create(table) => json!({
            "schema": json_schema::schema_ref(table, SchemaRole::Create),
            "example": json_schema::create_example(table),
        }),
        BodySpec::CreateOneOf(tables) => {
            let schemas = tables.iter().map(|table| json_schema::schema_ref(table, SchemaRole::Create));
            let example = tables.first().map(|table| json_schema::create_example(table));
            json!({"schema": {"anyOf": schemas.collect::<Vec<_>>()}, "example": example})
        }
        BodySpec::Patch(table) => json!({
            "schema": json_schema::schema_ref(table, SchemaRole::Patch),
            "example": json_schema::patch_example(table),
        }),
        BodySpec::JsonSchema(schema) => json!({"schema": schema()}),
    };
    Some(json!({"content": {"application/json": content}}))
}

/// Describes which roles may make a call that requires the permission `permission`.
pub(super) fn describe_access(permission: Option<Permission>) -> String {
    let Some(permission) = permission else { return "Open to all, without a login".to_owned() };
    let roles = domain::Role::ALL.into_iter().filter(|role| role.allows(permission));
    let roles: Vec<_> = roles.map(|role| format!("`{role}`")).collect();
    match roles.len() {
        count if count == domain::Role::ALL.len() => "Open to every role".to_owned(),
        1 => format!("Open to role {}", roles.join("")),
        _ => format!("Open to roles {}", roles.join(", ")),
    }
}

/// Returns the tags in the order of their first operation.
pub(super) fn tag_names(operations: &[Operation]) -> Vec<&'static str> {
    let mut tags = Vec::new();
    for operation in operations {
        if !tags.contains(&operation.tag) {
            tags.push(operation.tag);
        }
    }
    tags
}

fn tag_objects(operations: &[Operation]) -> Vec<Value> {
    tag_names(operations).into_iter().map(|tag| json!({"name": tag})).collect()
}

fn component_schemas(operations: &[Operation]) -> Map<String, Value> {
    let mut schemas = Map::new();
    schemas.insert("Errors".to_owned(), responses::error_schema());
    for operation in operations {
        match operation.request_body {
            BodySpec::Create(table) => {
                json_schema::add_component_schema(table, SchemaRole::Create, &mut schemas);
            }
            BodySpec::CreateOneOf(tables) => {
                for table in tables {
                    json_schema::add_component_schema(table, SchemaRole::Create, &mut schemas);
                }
            }
            BodySpec::Patch(table) => {
                json_schema::add_component_schema(table, SchemaRole::Patch, &mut schemas);
            }
            BodySpec::None | BodySpec::JsonSchema(_) => {}
        }
        for table in operation.response.field_tables() {
            json_schema::add_component_schema(table, SchemaRole::Response, &mut schemas);
        }
        if let ResponseSpec::JsonSchema(schema) = &operation.response {
            let schema = responses::json_response_schema(operation, schema);
            responses::extract_components(&schema, &mut schemas);
        }
    }
    schemas
}
