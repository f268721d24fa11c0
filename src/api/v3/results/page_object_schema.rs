//! Schema of a page object.

use serde_json::{Value, json};

use super::schema_parts::{failure_schema, phases_schema};
use crate::api::v3::json_schema::{boolean, integer, micros, named_object, text};

/// Returns the schema of a page object, loaded by Vigie or by a browser.
pub(super) fn page_object_schema() -> Value {
    named_object(
        "ResultPageObject",
        &["url", "kind", "started_us", "total_us", "phases", "http_status", "body_wire_bytes", "body_bytes"],
        json!({
            "url": text("Where it is"),
            "kind": {"type": "string", "enum": ["image", "script", "style", "frame", "font", "media", "other", "document"]},
            "third_party": boolean("Whether it belongs to another registrable domain than the page"),
            "blocked": boolean("Whether Vigie blocked the request: by a blocked host or by the egress policy"),
            "started_us": micros("From the request for the page until the request for the object"),
            "total_us": micros("How long it took"),
            "phases": phases_schema(),
            "http_status": integer("Status code of the response; 0 without one"),
            "http_version": text("`HTTP/1.1` or `HTTP/2`"),
            "mimetype": text("Media type as declared"),
            "body_wire_bytes": integer("Bytes over the wire"),
            "body_bytes": integer("Bytes after decompression"),
            "failure": failure_schema(),
        }),
    )
}
