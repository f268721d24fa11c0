//! Responses of calls: every status that each may have, with body and headers.

use serde_json::{Map, Value, json};

use crate::api::operation::{BodySpec, Operation, ResponseSpec};
use crate::schema::json_schema::{SchemaRole, schema_ref, selected_fields_schema_ref};
use crate::schema::table::FieldTable;

/// Responses that many calls share: status and condition.
const SHARED_RESPONSES: &[(u16, &str)] = &[
    (400, "Invalid request; every error is listed"),
    (401, "No access token, or one that is unknown or expired"),
    (403, "The role or the object does not permit the call"),
    (404, "Record not found"),
    (405, "The path does not support this method"),
    (409, "Conflict with the current state"),
    (412, "The object has changed since: `If-Match` names another revision"),
    (413, "The body is larger than the server takes"),
    (415, "The body is not `application/json`"),
    (429, "Too many attempts; `Retry-After` holds the seconds until the next one"),
    (500, "Internal error; see the server log"),
    (503, "Temporarily unavailable; try again later"),
    (504, "The server took too long; the response has no error body"),
];

/// Returns the responses of `operation` by status.
pub(super) fn describe_responses(operation: &Operation) -> Map<String, Value> {
    let mut responses = Map::new();
    responses.insert(operation.response.status().to_string(), success_response(operation));
    for (status, condition) in failure_statuses(operation) {
        let shared = SHARED_RESPONSES.contains(&(status, condition));
        let response = if shared {
            json!({"$ref": format!("#/components/responses/{}", shared_response_name(status))})
        } else {
            failure_response(status, condition)
        };
        responses.insert(status.to_string(), response);
    }
    responses
}

/// Returns the failure statuses of `operation`, each with its condition.
pub(super) fn failure_statuses(operation: &Operation) -> Vec<(u16, &'static str)> {
    let requires_login = operation.required_permission.is_some();
    let takes_body = !matches!(operation.request_body, BodySpec::None);
    let common_statuses = [
        (400, true),
        (401, requires_login),
        (403, requires_login),
        (404, operation.path.contains('{')),
        (412, operation.honours_if_match),
        (413, takes_body),
        (415, takes_body),
        (500, true),
        (503, true),
        (504, true),
    ];
    let common_statuses =
        common_statuses.into_iter().filter(|(_, applies)| *applies).filter_map(|(status, _)| {
            SHARED_RESPONSES.iter().copied().find(|(shared_status, _)| *shared_status == status)
        });
    let mut failures: Vec<(u16, &'static str)> = common_statuses
        .filter(|(status, _)| {
            operation.additional_statuses.iter().all(|(additional_status, _)| additional_status != status)
        })
        .collect();
    failures.extend(operation.additional_statuses.iter().copied());
    failures.sort_unstable_by_key(|(status, _)| *status);
    failures
}

/// Returns the shared responses, for the components.
pub(super) fn shared_responses() -> Map<String, Value> {
    SHARED_RESPONSES
        .iter()
        .map(|(status, condition)| (shared_response_name(*status), failure_response(*status, condition)))
        .collect()
}

/// Returns the headers of responses, for the components.
pub(super) fn response_headers() -> Value {
    json!({
        "X-Request-Id": {
            "description": "Identifies this call in the server log",
            "schema": {"type": "string"},
        },
        "ETag": {
            "description": "The revision of the object, for `If-Match`",
            "schema": {"type": "string"},
        },
        "Retry-After": {
            "description": "Seconds until the next attempt may be made",
            "schema": {"type": "integer", "minimum": 0},
        },
        "WWW-Authenticate": {
            "description": "How to log in: `Bearer`",
            "schema": {"type": "string"},
        },
    })
}

/// Returns the schema of the error body (behaviour.md 1 "Error body"), for the components.
pub(super) fn error_schema() -> Value {
    json!({
        "title": "Errors",
        "description": "Why the call failed; every error is listed",
        "type": "object",
        "properties": {
            "errors": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "code": {"type": "integer", "description": "The HTTP status", "minimum": 400, "maximum": 599},
                        "message": {"type": "string", "description": "Human-readable error"},
                    },
                    "required": ["code", "message"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["errors"],
        "additionalProperties": false,
    })
}

/// Returns the schema of a list of `item_schema` (behaviour.md 1 "Lists").
fn list_response_schema(item_schema: Value) -> Value {
    let paging_number = json!({"type": ["integer", "null"], "minimum": 0});
    json!({
        "type": "object",
        "properties": {
            "metadata": {
                "type": "object",
                "properties": {
                    "__permissions": {
                        "type": "object",
                        "description": "Rights of the caller on the listed objects",
                        "properties": {"acl": {"type": "integer"}},
                        "required": ["acl"],
                    },
                    "resultset": {
                        "type": "object",
                        "properties": {
                            "count": {
                                "type": "integer",
                                "minimum": 0,
                                "description": "How many match in all, before `limit` and `offset`",
                            },
                            "limit": paging_number,
                            "offset": paging_number,
                        },
                        "required": ["count", "limit", "offset"],
                    },
                },
                "required": ["__permissions", "resultset"],
            },
            "results": {"type": "array", "items": item_schema},
        },
        "required": ["metadata", "results"],
        "additionalProperties": false,
    })
}

fn shared_response_name(status: u16) -> String {
    format!("Error{status}")
}

fn failure_response(status: u16, condition: &str) -> Value {
    let mut headers = json!({"X-Request-Id": header_ref("X-Request-Id")});
    match status {
        401 => headers["WWW-Authenticate"] = header_ref("WWW-Authenticate"),
        429 => headers["Retry-After"] = header_ref("Retry-After"),
        _ => {}
    }
    if status == 504 {
        return json!({"description": condition, "headers": headers});
    }
    let message = condition.split(['.', ';']).next().unwrap_or(condition);
    json!({
        "description": condition,
        "headers": headers,
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Errors"},
            "example": {"errors": [{"code": status, "message": message}]},
        }},
    })
}

fn header_ref(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

fn success_response(operation: &Operation) -> Value {
    let mut headers = json!({"X-Request-Id": header_ref("X-Request-Id")});
    if matches!(operation.response, ResponseSpec::Object(_) | ResponseSpec::ObjectOneOf(_))
        || operation.honours_if_match
    {
        headers["ETag"] = header_ref("ETag");
    }
    let supports_selection = operation.query_params.iter().any(|param| param.name == "select");
    let schema = match &operation.response {
        ResponseSpec::NoContent => return json!({"description": "Done", "headers": headers}),
        ResponseSpec::File => {
            let content = json!({"*/*": {"schema": {}}});
            return json!({"description": "The file", "headers": headers, "content": content});
        }
        ResponseSpec::SavedId { create_response_fields } => saved_id_schema(*create_response_fields),
        ResponseSpec::Object(table) if supports_selection && !is_monitor_table(table) => {
            or_selected_fields(table_schema_ref(table, false))
        }
        ResponseSpec::Object(table) | ResponseSpec::Created(table) => {
            table_schema_ref(table, supports_selection)
        }
        ResponseSpec::ObjectOneOf(tables) => tables_schema(tables, supports_selection),
        ResponseSpec::List(tables) if tables.iter().all(|table| is_monitor_table(table)) => {
            list_response_schema(tables_schema(tables, supports_selection))
        }
        ResponseSpec::List(tables) => list_response_schema(or_selected_fields(tables_schema(tables, false))),
        ResponseSpec::JsonSchema(schema) => {
            extract_components(&json_response_schema(operation, schema), &mut Map::new())
        }
    };
    let content = json!({"application/json": {"schema": schema}});
    json!({"description": operation.response.description(), "headers": headers, "content": content})
}

/// Returns `schema`, the schema of complete responses, extended by the responses that `select` reduces.
pub(super) fn json_response_schema(operation: &Operation, schema: &Value) -> Value {
    let has_param = |name| operation.query_params.iter().any(|param| param.name == name);
    match has_param("select") {
        // Only lists have `offset`.
        true if has_param("offset") => list_of_selected_fields(schema.clone()),
        true => or_selected_fields(schema.clone()),
        false => schema.clone(),
    }
}

/// Replaces the objects in `schema` that have a title by references, and moves them to `components`.
pub(super) fn extract_components(schema: &Value, components: &mut Map<String, Value>) -> Value {
    match schema {
        Value::Object(entries) => {
            let replaced = entries
                .iter()
                .map(|(name, entry)| (name.clone(), extract_components(entry, components)))
                .collect::<Map<_, _>>();
            let Some(title) = entries.get("title").and_then(Value::as_str) else { return replaced.into() };
            components.insert(title.to_owned(), replaced.into());
            json!({"$ref": format!("#/components/schemas/{title}")})
        }
        Value::Array(items) => items.iter().map(|item| extract_components(item, components)).collect(),
        other => other.clone(),
    }
}

/// Returns the schema of `{"id":"123456"}`, with warnings if any.
fn saved_id_schema(additional_fields: Option<&'static FieldTable>) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9]+$", "description": "Its id, as a string"},
            "warnings": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string"},
                "description": "Warnings about the saved values",
            },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    for field in additional_fields.map(FieldTable::fields).unwrap_or_default() {
        schema["properties"][field.name] = json!({"type": "string", "description": field.description});
    }
    schema
}

/// Returns the schema of a list whose objects are complete or reduced to the fields in `select`.
fn list_of_selected_fields(mut list_schema: Value) -> Value {
    if let Some(items) = list_schema.pointer_mut("/properties/results/items") {
        *items = or_selected_fields(items.take());
    }
    list_schema
}

/// Returns the schema of an object that is either complete, as `full_schema`, or reduced to the fields in `select`.
fn or_selected_fields(full_schema: Value) -> Value {
    json!({"anyOf": [full_schema, {"type": "object", "description": "The fields that `select` names"}]})
}

fn table_schema_ref(table: &'static FieldTable, supports_selection: bool) -> Value {
    if supports_selection && is_monitor_table(table) {
        selected_fields_schema_ref(table)
    } else {
        schema_ref(table, SchemaRole::Response)
    }
}

fn tables_schema(tables: &[&'static FieldTable], supports_selection: bool) -> Value {
    let references: Vec<Value> =
        tables.iter().map(|table| table_schema_ref(table, supports_selection)).collect();
    match references.as_slice() {
        [only] => only.clone(),
        // Without `type` among the selected fields, an object may match several types.
        _ if supports_selection => json!({"anyOf": references}),
        _ if tables.iter().all(|table| is_monitor_table(table)) => {
            let mapping: Map<String, Value> = tables
                .iter()
                .map(|table| (table.name.to_owned(), schema_ref(table, SchemaRole::Response)["$ref"].clone()))
                .collect();
            json!({"oneOf": references, "discriminator": {"propertyName": "type", "mapping": mapping}})
        }
        _ => json!({"anyOf": references}),
    }
}

fn is_monitor_table(table: &FieldTable) -> bool {
    crate::domain::MonitorType::from_name(table.name).is_some()
}

impl ResponseSpec {
    /// Returns the HTTP status of the response.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::NoContent => 204,
            Self::Created(_) => 201,
            _ => 200,
        }
    }

    /// Describes the response for people.
    pub(super) fn description(&self) -> &'static str {
        match self {
            Self::SavedId { .. } => "Saved: the id, and warnings if any",
            Self::Object(_) | Self::ObjectOneOf(_) => "The object",
            Self::Created(_) => "The new object",
            Self::List(_) => "The list",
            Self::JsonSchema(_) => "The response",
            Self::File => "The file",
            Self::NoContent => "Done",
        }
    }

    /// Returns the tables of the objects in the response.
    pub(super) fn field_tables(&self) -> Vec<&'static FieldTable> {
        match self {
            Self::Object(table) | Self::Created(table) => vec![table],
            Self::ObjectOneOf(tables) | Self::List(tables) => tables.clone(),
            Self::SavedId { .. } | Self::JsonSchema(_) | Self::File | Self::NoContent => Vec::new(),
        }
    }
}
