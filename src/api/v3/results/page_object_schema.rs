//! Schema of a page object.

use serde_json::{Value, json};

use super::schema_parts::{failure_schema, phases_schema};
use crate::api::v3::response_schemas::{
    boolean_schema, duration_us_schema, integer_schema, named_object_schema, string_schema,
};

/// Returns the schema of a page object, loaded by Vigie or by a browser.
pub(super) fn page_object_schema() -> Value {
    named_object_schema(
        "ResultPageObject",
        &["url", "kind", "started_us", "total_us", "phases", "http_status", "body_wire_bytes", "body_bytes"],
        json!({
            "url": string_schema("Where it is"),
            "kind": {"type": "string", "enum": ["image", "script", "style", "frame", "font", "media", "other", "document"]},
            "third_party": boolean_schema("Whether it belongs to another registrable domain than the page"),
            "blocked": boolean_schema("Whether Vigie blocked the request: by a blocked host or by the egress policy"),
            "started_us": duration_us_schema("From the request for the page until the request for the object"),
            "total_us": duration_us_schema("How long it took"),
            "phases": phases_schema(),
            "http_status": integer_schema("Status code of the response; 0 without one"),
            "http_version": string_schema("`HTTP/1.1` or `HTTP/2`"),
            "mimetype": string_schema("Media type as declared"),
            "body_wire_bytes": integer_schema("Bytes over the wire"),
            "body_bytes": integer_schema("Bytes after decompression"),
            "failure": failure_schema(),
        }),
    )
}
