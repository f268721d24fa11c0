//! Schema of the browser part of a script check.

use serde_json::{Value, json};

use super::page_object_schema::page_object_schema;
use super::schema_parts::{failure_schema, phases_schema};
use crate::api::v3::response_schemas::{
    boolean_schema, duration_us_schema, integer_schema, named_object_schema, string_schema,
};

/// Returns the schema of a browser step.
pub(super) fn browser_step_schema() -> Value {
    let action_schema = named_object_schema(
        "ResultAct",
        &["number", "action", "status", "total_us"],
        json!({
            "number": integer_schema("Its position in the step"),
            "action": string_schema("What it does, as the script names it"),
            "status": integer_schema("Status code"),
            "total_us": duration_us_schema("How long it took"),
            "skipped": boolean_schema("Whether it was left out, being optional"),
        }),
    );
    let timing_schema = named_object_schema(
        "ResultPageTiming",
        &["phases"],
        json!({
            "phases": phases_schema(),
            "first_contentful_paint_us": duration_us_schema("First contentful paint"),
            "largest_contentful_paint_us": duration_us_schema("Largest contentful paint"),
            "layout_shift": {"type": "number", "description": "Cumulative layout shift, without unit"},
        }),
    );
    let console_entry_schema = named_object_schema(
        "ResultConsoleEntry",
        &["level", "source", "text"],
        json!({
            "level": string_schema("`error`, `warning`, `info`, `debug`"),
            "source": string_schema("`javascript`, `console`, `network`, …"),
            "text": string_schema("The text, cut to a readable length"),
            "url": string_schema("Where it came from"),
            "line": integer_schema("The line there, from 1"),
        }),
    );
    let mut schema = named_object_schema(
        "ResultPlayedStep",
        &["http_status", "acts", "unlisted"],
        json!({
            "url": string_schema("Address of the page at its end"),
            "title": string_schema("Title of the page at its end"),
            "http_status": integer_schema("Status code of the last document that was loaded in it; 0 when none was"),
            "acts": {"type": "array", "items": action_schema, "description": "Its acts; ends with the one that failed"},
            "timing": timing_schema,
            "objects": {"type": "array", "items": page_object_schema(), "description": "What the browser loaded during the step; omitted in lists"},
            "unlisted": integer_schema("Requests that are not listed"),
            "console": {"type": "array", "items": console_entry_schema, "description": "Errors of JavaScript and lines of the console; left out in lists"},
        }),
    );
    schema["description"] = Value::from("What the browser reported for a script step");
    schema
}

/// Returns the schema of the browser of a result.
pub(super) fn browser_schema() -> Value {
    let mut schema = named_object_schema(
        "ResultBrowser",
        &["name", "viewport"],
        json!({
            "name": string_schema("`Google Chrome`, `Firefox` or `Internet Explorer`"),
            "version": string_schema("Its version"),
            "driver": string_schema("Its driver, with version"),
            "user_agent": string_schema("The User-Agent header that it sent"),
            "viewport": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer"},
                "description": "Width and height of the page in CSS pixels"},
            "device": string_schema("The emulated device, by its name in the settings"),
            "trace_id": string_schema("Trace id of the requests to the script's own site, in hexadecimal"),
            "memory_bytes": integer_schema("Most bytes of memory that its processes took together"),
        }),
    );
    schema["description"] = Value::from("The browser that ran the script");
    schema
}

/// Returns the schema of the content views of a result.
pub(super) fn content_views_schema() -> Value {
    let view_schema = named_object_schema(
        "ResultView",
        &["id", "name", "status", "total_us", "objects", "bytes"],
        json!({
            "id": integer_schema("Its id"),
            "name": string_schema("What people call it"),
            "status": integer_schema("Status code"),
            "notify_on_error": {"type": "boolean", "description": "Whether its errors are notified"},
            "total_us": duration_us_schema("From the start of its first object or step to the end of its last"),
            "objects": integer_schema("How many objects belong to it"),
            "bytes": integer_schema("Decoded bytes of them"),
            "failures": {"type": "array", "items": failure_schema(), "description": "All its failures"},
        }),
    );
    json!({"type": "array", "items": view_schema, "description": "Content views of a script"})
}
