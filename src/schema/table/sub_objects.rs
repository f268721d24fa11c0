//! Sub-objects (interface.md 2.3).

use serde_json::{Map, Value};

use super::super::field::{Access, DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use crate::redaction::sensitive_names::is_sensitive_header;
use crate::syntax::comparison::{ASSERTION_COMPARISONS, ASSERTION_SOURCES};
use crate::syntax::json_schema::MAX_SCHEMA_BYTES;
use crate::syntax::text_format::TextFormat;

/// A location, referred to by its id; name and region are those of the location.
pub static LOCATION: FieldTable = FieldTable::new(
    "Location",
    "A monitoring location",
    &[&[
        Field::new("id", ID, "Id").required(),
        Field::text("name", 255, "Its name").access(Access::Ignored),
        Field::new("region", FieldType::Int { min: i64::MIN, max: i64::MAX }, "Code of its region")
            .access(Access::Ignored),
    ]],
);

/// A value that a monitor has of a property of its account.
pub static CUSTOM_PROPERTY: FieldTable = FieldTable::new(
    "CustomProperty",
    "A value of a property of the account",
    &[&[
        Field::new("id", ID, "The property").required(),
        Field::new("value_id", ID, "Its value").required(),
        Field::text("name", 255, "Name of the property").access(Access::Ignored),
        Field::text("value", 1000, "Text of the value").access(Access::Ignored),
    ]],
);

/// Capture levels, in the order of the codes of the legacy API (behaviour.md 2).
pub const CAPTURE_LEVELS: &[&str] =
    &["Disabled", "Error Only", "All Actions on Error", "All Actions", "All Events on Error", "All Events"];

/// What a browser check captures of its pages, and when.
pub static CAPTURE: FieldTable = FieldTable::new(
    "Capture",
    "What is kept of a page at which moments",
    &[&[
        Field::new("level", FieldType::TextEnum(CAPTURE_LEVELS), "At which moments something is kept")
            .with_default(DefaultValue::Text("Error Only")),
        Field::choice("mimetype", &["image/jpeg", "image/png"], "Format of screenshots"),
        Field::flag("headers", true, "Keep HTTP headers"),
        Field::flag("images", true, "Keep a screenshot"),
        Field::flag("sources", true, "Keep the source of the page"),
    ]],
);

static URL_PATTERN_ITEM: FieldType = FieldType::Text { min: 1, max: 1000, format: TextFormat::Any };

/// A part of a browser script with a status of its own.
pub static CONTENT_VIEW: FieldTable = FieldTable::new(
    "ContentView",
    "A part of a script with a status and alerts of its own",
    &[&[
        Field::new("id", ID, "Id").required(),
        Field::new("notify_on_error", FieldType::Bool, "Notify on its errors").required(),
        Field::new("inherit_global_errors", FieldType::Bool, "Errors of the script count as its own")
            .required(),
        Field::text("name", 80, "What people call it"),
        Field::list(
            "url_patterns",
            &URL_PATTERN_ITEM,
            100,
            "Objects whose URL fits one of these belong to it",
        )
        .vigie_extension(),
        Field::list("steps", &STEP_NUMBER_ITEM, 50, "Steps of the script that belong to it")
            .vigie_extension(),
    ]],
);

static STEP_NUMBER_ITEM: FieldType = FieldType::Int { min: 1, max: 50 };

/// A header of a request.
pub static HEADER: FieldTable = FieldTable::new(
    "Header",
    "A header of a request",
    &[&[
        Field::text_with_format(
            "name",
            256,
            TextFormat::HeaderName,
            "Its name; none that a check sets itself",
        )
        .required(),
        Field::text_with_format("value", 8192, TextFormat::HeaderValue, "Its value")
            .with_default(DefaultValue::Text("")),
    ]],
);

/// Whether `entries` of `table` are a header whose value is a secret, such as `Authorization`.
pub(in crate::schema) fn is_secret_header(table: &FieldTable, entries: &Map<String, Value>) -> bool {
    std::ptr::eq(table, &raw const HEADER)
        && entries.get("name").and_then(Value::as_str).is_some_and(is_sensitive_header)
}

/// An assertion on a response.
pub static ASSERTION: FieldTable = FieldTable::new(
    "Assertion",
    "An assertion on a response",
    &[&[
        Field::new("source", FieldType::TextEnum(ASSERTION_SOURCES), "Part of the response that it reads")
            .required(),
        Field::text("property", 256, "JSONPath, XPath or name of the header"),
        Field::new("comparison", FieldType::TextEnum(ASSERTION_COMPARISONS), "How it compares").required(),
        Field::text("value", 256, "What it compares with").with_default(DefaultValue::Text("1")),
        Field::text_with_format(
            "schema",
            MAX_SCHEMA_BYTES,
            TextFormat::JsonSchema,
            "JSON Schema 2020-12 that the value has to match, with comparison `matches schema`; nothing is fetched",
        )
        .vigie_extension(),
    ]],
);

/// A line of a TCP dialogue.
pub static DIALOGUE_LINE: FieldTable = FieldTable::new(
    "DialogueLine",
    "A line of a dialogue: text to send, or a pattern for the reply",
    &[&[
        Field::text("send", 4096, "Text that is sent; `\\r\\n` has to be in it where the protocol wants it"),
        Field::text(
            "expect",
            4096,
            "Regular expression that has to fit what comes; `^` and `$` match at line ends, unless it begins with `(?-m)`",
        ),
    ]],
);

/// A threshold of a host agent.
pub static THRESHOLD: FieldTable = FieldTable::new(
    "Threshold",
    "Bounds of a metric of a host",
    &[&[
        Field::text("metric", 255, "The metric, all of its series or one: `disk_used_percent{mount=\"/\"}`")
            .required(),
        Field::new("warning", ANY_NUMBER, "From this value on it is a warning"),
        Field::new("error", ANY_NUMBER, "From this value on it is an error"),
        Field::choice("direction", &["above", "below"], "Whether values above or below the bounds are bad")
            .vigie_extension(),
        Field::int("for", 1, 10, "Number of runs in a row with such a value")
            .with_default(DefaultValue::Int(1))
            .vigie_extension(),
    ]],
);

const ANY_NUMBER: FieldType = FieldType::Float { min: f64::NEG_INFINITY, max: f64::INFINITY };
