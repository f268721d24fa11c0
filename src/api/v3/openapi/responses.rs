//! Responses of calls: every status that each may have, with body and headers.

use serde_json::{Map, Value, json};

use crate::api::operation::{BodySpec, Operation, ResponseSpec};
use crate::schema::json_schema::{SchemaRole, partial_schema_ref, schema_ref};
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
    let status = if matches!(operation.response, ResponseSpec::NoContent) { "204" } else { "200" };
    responses.insert(status.to_owned(), success_response(operation));
    for (status, when) in failure_statuses(operation) {
        let shared = SHARED_RESPONSES.contains(&(status, when));
        let response = if shared {
            json!({"$ref": format!("#/components/responses/{}", shared_response_name(status))})
        } else {
            failure_response(status, when)
        };
        responses.insert(status.to_string(), response);
    }
    responses
}

/// Returns the failure statuses of `operation`, each with its condition.
pub(super) fn failure_statuses(operation: &Operation) -> Vec<(u16, &'static str)> {
    let guarded = operation.required_permission.is_some();
    let takes_body = !matches!(operation.request_body, BodySpec::None);
    let usual = [
        (400, true),
        (401, guarded),
        (403, guarded),
        (404, operation.path.contains('{')),
        (412, operation.honours_if_match),
        (413, takes_body),
        (415, takes_body),
        (500, true),
        (503, true),
        (504, true),
    ];
    let usual = usual
        .into_iter()
        .filter(|(_, applies)| *applies)
        .filter_map(|(status, _)| SHARED_RESPONSES.iter().copied().find(|(known, _)| *known == status));
    let mut failures: Vec<(u16, &'static str)> = usual
        .filter(|(status, _)| operation.additional_statuses.iter().all(|(own, _)| own != status))
        .collect();
    failures.extend(operation.additional_statuses.iter().copied());
    failures.sort_unstable_by_key(|(status, _)| *status);
    failures
}

/// Returns the shared responses, for the components.
pub(super) fn shared_responses() -> Map<String, Value> {
    SHARED_RESPONSES
        .iter()
        .map(|(status, when)| (shared_response_name(*status), failure_response(*status, when)))
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

/// Returns the schema of a list of `items` (behaviour.md 1 "Lists").
fn list_response_schema(items: Value) -> Value {
    let number = json!({"type": ["integer", "null"], "minimum": 0});
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
                            "limit": number,
                            "offset": number,
                        },
                        "required": ["count", "limit", "offset"],
                    },
                },
                "required": ["__permissions", "resultset"],
            },
            "results": {"type": "array", "items": items},
        },
        "required": ["metadata", "results"],
        "additionalProperties": false,
    })
}

fn shared_response_name(status: u16) -> String {
    format!("Error{status}")
}

fn failure_response(status: u16, when: &str) -> Value {
    let mut headers = json!({"X-Request-Id": header_ref("X-Request-Id")});
    match status {
        401 => headers["WWW-Authenticate"] = header_ref("WWW-Authenticate"),
        429 => headers["Retry-After"] = header_ref("Retry-After"),
        _ => {}
    }
    if status == 504 {
        return json!({"description": when, "headers": headers});
    }
    let message = when.split(['.', ';']).next().unwrap_or(when);
    json!({
        "description": when,
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
    let has_select = operation.query_params.iter().any(|param| param.name == "select");
    let schema = match &operation.response {
        ResponseSpec::NoContent => return json!({"description": "Done", "headers": headers}),
        ResponseSpec::File => {
            let content = json!({"*/*": {"schema": {}}});
            return json!({"description": "The file", "headers": headers, "content": content});
        }
        ResponseSpec::SavedId(more) => saved_id_schema(*more),
        ResponseSpec::Object(table) if has_select && !is_monitor_table(table) => {
            or_selected_fields(table_schema_ref(table, false))
        }
        ResponseSpec::Object(table) => table_schema_ref(table, has_select),
        ResponseSpec::ObjectOneOf(tables) => tables_schema(tables, has_select),
        ResponseSpec::List(tables) => list_response_schema(tables_schema(tables, has_select)),
        ResponseSpec::JsonSchema(schema) if has_select => {
            or_selected_fields(extract_components(schema, &mut Map::new()))
        }
        ResponseSpec::JsonSchema(schema) => extract_components(schema, &mut Map::new()),
    };
    let content = json!({"application/json": {"schema": schema}});
    json!({"description": operation.response.description(), "headers": headers, "content": content})
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
fn saved_id_schema(more: Option<&'static FieldTable>) -> Value {
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
    for field in more.map(FieldTable::fields).unwrap_or_default() {
        schema["properties"][field.name] = json!({"type": "string", "description": field.description});
    }
    schema
}

/// Returns the schema of an object that is either complete, as `whole`, or reduced to the fields in `select`.
fn or_selected_fields(whole: Value) -> Value {
    json!({"anyOf": [whole, {"type": "object", "description": "The fields that `select` names"}]})
}

fn table_schema_ref(table: &'static FieldTable, has_select: bool) -> Value {
    if has_select && is_monitor_table(table) {
        partial_schema_ref(table)
    } else {
        schema_ref(table, SchemaRole::Response)
    }
}

fn tables_schema(tables: &[&'static FieldTable], has_select: bool) -> Value {
    let references: Vec<Value> = tables.iter().map(|table| table_schema_ref(table, has_select)).collect();
    match references.as_slice() {
        [only] => only.clone(),
        // Without `type` among the selected fields, an object may match several types.
        _ if has_select => json!({"anyOf": references}),
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
    /// Describes the response for people.
    pub(super) fn description(&self) -> &'static str {
        match self {
            Self::SavedId(_) => "Saved: the id, and warnings if any",
            Self::Object(_) | Self::ObjectOneOf(_) => "The object",
            Self::List(_) => "The list",
            Self::JsonSchema(_) => "The response",
            Self::File => "The file",
            Self::NoContent => "Done",
        }
    }

    /// Returns the tables of the objects in the response.
    pub(super) fn field_tables(&self) -> Vec<&'static FieldTable> {
        match self {
            Self::Object(table) => vec![table],
            Self::ObjectOneOf(tables) | Self::List(tables) => tables.clone(),
            Self::SavedId(_) | Self::JsonSchema(_) | Self::File | Self::NoContent => Vec::new(),
        }
    }
}
