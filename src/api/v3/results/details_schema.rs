//! Schema of the details of a check: steps, exchanges, page objects.

use serde_json::{Value, json};

use super::browser_schema::browser_step_schema;
use super::page_object_schema::page_object_schema;
use super::schema_parts::{failure_schema, phases_schema};
use crate::api::v3::json_schema::{integer, micros, named_object, object_schema, text};

/// Returns the schema of the steps of a result.
pub(super) fn steps_schema() -> Value {
    let step = named_object(
        "ResultStep",
        &["number", "name", "status", "started_us", "total_us", "phases"],
        json!({
            "number": integer("Its position among the steps"),
            "name": text("What people call it"),
            "status": integer("Status code"),
            "started_us": micros("From the start of the attempt to its own"),
            "total_us": micros("How long it took"),
            "phases": phases_schema(),
            "failures": {"type": "array", "items": failure_schema(), "description": "All failures, the deciding one first"},
            "exchanges": exchanges_schema("Its exchanges, redirects included; left out in lists"),
            "variables": {"type": "array", "items": {"type": "string"}, "description": "Names of the variables that it set"},
            "played": browser_step_schema(),
        }),
    );
    json!({"type": "array", "items": step, "description": "Steps in order; ends with the step that failed"})
}

/// Returns the schema of HTTP exchanges.
pub(super) fn exchanges_schema(about: &str) -> Value {
    let fields = || {
        json!({"type": "array", "description": "Name and value of each; credentials are masked",
            "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}}})
    };
    let excerpt = |about: &str| {
        let parts = json!({
            "mimetype": text("Media type and charset as declared"),
            "text": text("The beginning of the body"),
            "bytes": integer("Bytes of the whole"),
        });
        let mut schema = named_object("ResultExcerpt", &["text", "bytes"], parts);
        schema["description"] = Value::from(about);
        schema
    };
    let exchange = named_object(
        "ResultExchange",
        &["started_us", "method", "url", "phases", "http_status", "body_wire_bytes", "body_bytes"],
        json!({
            "started_us": micros("From the start of the attempt to its own"),
            "method": text("Method of the request"),
            "url": text("The requested URL"),
            "address": text("The peer"),
            "phases": phases_schema(),
            "request_headers": fields(),
            "request_body": excerpt("What was sent"),
            "http_status": integer("Status code of the response; 0 without one"),
            "http_version": text("`HTTP/1.0`, `HTTP/1.1`, `HTTP/2` or `HTTP/3`"),
            "http_reason": text("Reason phrase of HTTP/1"),
            "response_headers": fields(),
            "response_body": excerpt("What came back, decoded"),
            "body_wire_bytes": integer("Bytes of the body as they came"),
            "body_bytes": integer("Bytes of the body after decompression"),
            "failure": failure_schema(),
        }),
    );
    json!({"type": "array", "items": exchange, "description": about})
}

/// Returns the schema of a full page with its objects.
pub(super) fn page_schema() -> Value {
    let page_object = page_object_schema();
    let change = object_schema(
        &["status", "url"],
        json!({
            "status": integer("7121 size changed, 7122 missing, 7123 new"),
            "url": text("The object"),
            "before": integer("Bytes before"),
            "now": integer("Bytes now"),
        }),
    );
    named_object(
        "ResultPage",
        &["total_us", "bytes", "objects"],
        json!({
            "total_us": micros("From the request for the page until the last object was loaded"),
            "bytes": integer("Decoded bytes of the page and all objects"),
            "unlisted": integer("Objects that were found but not loaded, because of the limit"),
            "objects": {"type": "array", "items": page_object, "description": "In the order in which they were found"},
            "changes": {"type": "array", "items": change,
                "description": "How they differ from the last passing run at the same location"},
        }),
    )
}
