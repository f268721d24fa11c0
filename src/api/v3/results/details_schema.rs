//! Schema of the details of a check: steps, exchanges, page objects.

use serde_json::{Value, json};

use super::browser_schema::browser_step_schema;
use super::page_object_schema::page_object_schema;
use super::schema_parts::{failure_schema, phases_schema};
use crate::api::v3::response_schemas::{
    duration_us_schema, integer_schema, named_object_schema, object_schema, string_schema,
};

/// Returns the schema of the steps of a result.
pub(super) fn steps_schema() -> Value {
    let step_schema = named_object_schema(
        "ResultStep",
        &["number", "name", "status", "started_us", "total_us", "phases"],
        json!({
            "number": integer_schema("Its position among the steps"),
            "name": string_schema("What people call it"),
            "status": integer_schema("Status code"),
            "started_us": duration_us_schema("From the start of the attempt to its own"),
            "total_us": duration_us_schema("How long it took"),
            "phases": phases_schema(),
            "failures": {"type": "array", "items": failure_schema(), "description": "All failures, the deciding one first"},
            "exchanges": exchanges_schema("Its exchanges, redirects included; left out in lists"),
            "tests": {"type": "array", "items": step_test_schema(), "description": "Tests of its scripts, assertions of its file"},
            "variables": {"type": "array", "items": {"type": "string"}, "description": "Names of the variables that it set"},
            "played": browser_step_schema(),
        }),
    );
    json!({"type": "array", "items": step_schema, "description": "Steps in order; those of API steps and browser scripts end with the one that failed"})
}

fn step_test_schema() -> Value {
    named_object_schema(
        "ResultTest",
        &["name", "outcome"],
        json!({
            "name": string_schema("What its author calls it"),
            "outcome": {"type": "string", "enum": ["passed", "failed", "skipped"]},
            "reason": string_schema("Why it failed"),
        }),
    )
}

/// Returns the schema of HTTP exchanges.
pub(super) fn exchanges_schema(description: &str) -> Value {
    let header_list_schema = || {
        json!({"type": "array", "description": "Name and value of each; credentials are masked",
            "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}}})
    };
    let excerpt_schema = |description: &str| {
        let properties = json!({
            "mimetype": string_schema("Media type and charset as declared"),
            "text": string_schema("The beginning of the body"),
            "bytes": integer_schema("Bytes of the whole"),
        });
        let mut schema = named_object_schema("ResultExcerpt", &["text", "bytes"], properties);
        schema["description"] = Value::from(description);
        schema
    };
    let exchange_schema = named_object_schema(
        "ResultExchange",
        &["started_us", "method", "url", "phases", "http_status", "body_wire_bytes", "body_bytes"],
        json!({
            "started_us": duration_us_schema("From the start of the attempt to its own"),
            "method": string_schema("Method of the request"),
            "url": string_schema("The requested URL"),
            "address": string_schema("The peer"),
            "phases": phases_schema(),
            "request_headers": header_list_schema(),
            "request_body": excerpt_schema("What was sent"),
            "http_status": integer_schema("Status code of the response; 0 without one"),
            "http_version": string_schema("`HTTP/1.0`, `HTTP/1.1`, `HTTP/2` or `HTTP/3`"),
            "http_reason": string_schema("Reason phrase of HTTP/1"),
            "response_headers": header_list_schema(),
            "response_body": excerpt_schema("What came back, decoded"),
            "body_wire_bytes": integer_schema("Bytes of the body as they came"),
            "body_bytes": integer_schema("Bytes of the body after decompression"),
            "failure": failure_schema(),
        }),
    );
    json!({"type": "array", "items": exchange_schema, "description": description})
}

/// Returns the schema of a full page with its objects.
pub(super) fn full_page_schema() -> Value {
    let page_object = page_object_schema();
    let change_schema = object_schema(
        &["status", "url"],
        json!({
            "status": integer_schema("7121 size changed, 7122 missing, 7123 new"),
            "url": string_schema("The object"),
            "before": integer_schema("Bytes before"),
            "now": integer_schema("Bytes now"),
        }),
    );
    named_object_schema(
        "ResultPage",
        &["total_us", "bytes", "objects"],
        json!({
            "total_us": duration_us_schema("From the request for the page until the last object was loaded"),
            "bytes": integer_schema("Decoded bytes of the page and all objects"),
            "unlisted": integer_schema("Objects that were found but not loaded, because of the limit"),
            "objects": {"type": "array", "items": page_object, "description": "In the order in which they were found"},
            "changes": {"type": "array", "items": change_schema,
                "description": "How they differ from the last passing run at the same location"},
        }),
    )
}
