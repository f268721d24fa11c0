//! JSON Schema (2020-12, as OpenAPI 3.1 has it) and the reference page, both out of the field table.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::MonitorType;
use super::field::{Access, Field, Kind};
use super::format::Format;
use super::table::{self, Table};

/// The schema of `table`; sub-objects are references of `prefix` and their name.
#[must_use]
pub fn schema(table: &'static Table, prefix: &str) -> Value {
    let properties: Map<String, Value> =
        table.fields().iter().map(|field| (field.name.to_owned(), field_schema(field, prefix))).collect();
    let required: Vec<_> =
        table.fields().iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = json!({
        "title": table.name,
        "description": table.about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The schemas of all monitor types, inputs and sub-objects by name, as OpenAPI's components want them.
#[must_use]
pub fn components() -> Map<String, Value> {
    let kinds = MonitorType::ALL.iter().map(|kind| table::of(*kind));
    let mut components = Map::new();
    for table in kinds.chain(table::account::INPUTS.iter().copied()) {
        add(table, &mut components);
    }
    components
}

fn add(table: &'static Table, components: &mut Map<String, Value>) {
    if components.contains_key(table.name) {
        return;
    }
    components.insert(table.name.to_owned(), schema(table, "#/components/schemas/"));
    for part in parts(table) {
        add(part, components);
    }
}

/// The sub-objects that fields of `table` hold.
fn parts(table: &'static Table) -> Vec<&'static Table> {
    let part = |field: &&'static Field| match field.kind {
        Kind::Object(part) => Some(part),
        Kind::List { of: Kind::Object(part), .. } => Some(*part),
        _ => None,
    };
    table.fields().iter().filter_map(part).collect()
}

fn field_schema(field: &Field, prefix: &str) -> Value {
    let mut schema = kind_schema(&field.kind, prefix);
    schema["description"] = Value::from(field.about);
    if let Some(default) = field.default_value() {
        schema["default"] = default;
    }
    match field.access {
        Access::ReadOnly | Access::Echo | Access::ReadOnlyInV3 => schema["readOnly"] = Value::Bool(true),
        Access::Open => {}
    }
    if field.secret {
        schema["format"] = Value::from("password");
    }
    if field.extension {
        schema["x-extension"] = Value::Bool(true);
    }
    schema
}

fn kind_schema(kind: &Kind, prefix: &str) -> Value {
    match kind {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Int { min, max } => {
            let mut schema = json!({"type": "integer"});
            if *min > i64::MIN {
                schema["minimum"] = json!(min);
            }
            if *max < i64::MAX {
                schema["maximum"] = json!(max);
            }
            schema
        }
        Kind::IntOf(choices) => json!({"type": "integer", "enum": choices}),
        Kind::Number { min, max } => {
            let mut schema = json!({"type": "number"});
            if min.is_finite() {
                schema["minimum"] = json!(min);
            }
            if max.is_finite() {
                schema["maximum"] = json!(max);
            }
            schema
        }
        Kind::Text { min, max, format } => {
            let mut schema = json!({"type": "string", "maxLength": max});
            if *min > 0 {
                schema["minLength"] = json!(min);
            }
            if let Some(format) = schema_format(*format) {
                schema["format"] = json!(format);
            }
            schema
        }
        Kind::TextOf(choices) => json!({"type": "string", "enum": choices}),
        Kind::List { of, min, max } => {
            json!({"type": "array", "items": kind_schema(of, prefix), "minItems": min, "maxItems": max})
        }
        Kind::Object(table) => json!({"$ref": format!("{prefix}{}", table.name)}),
        Kind::Any => json!({}),
    }
}

const fn schema_format(format: Format) -> Option<&'static str> {
    match format {
        Format::Ipv4 => Some("ipv4"),
        Format::HttpUrl => Some("uri"),
        Format::Email => Some("email"),
        _ => None,
    }
}

/// The reference page of all types, in Markdown.
#[must_use]
pub fn reference_page() -> String {
    let mut page = "# Monitor files\n\n".to_owned();
    page.push_str(
        "A file is YAML or JSON: a list of monitors. Each has a `key`, unique over all files, to which its id and \
         history are tied; its `type`; perhaps the `customer` that owns it (default 1); and the fields of its type. \
         A secret stands in place, or as `<field>_file` (path of a file) or `<field>_env` (name of a variable). \
         Fields marked (x) are Vigie's own.\n\nThis page is made from the field table; a test fails when it is out of \
         date.\n",
    );
    for kind in MonitorType::ALL {
        page.push('\n');
        page.push_str(&reference(*kind));
    }
    let mut inner: Vec<&'static Table> = Vec::new();
    for kind in MonitorType::ALL {
        collect(table::of(*kind), &mut inner);
    }
    for part in inner {
        page.push('\n');
        section(part, &mut page);
    }
    page
}

/// The section of one type in the reference page.
#[must_use]
pub fn reference(kind: MonitorType) -> String {
    let mut text = String::new();
    section(table::of(kind), &mut text);
    text
}

fn collect(table: &'static Table, inner: &mut Vec<&'static Table>) {
    for part in parts(table) {
        if !inner.iter().any(|known| known.name == part.name) {
            inner.push(part);
            collect(part, inner);
        }
    }
}

fn section(table: &'static Table, text: &mut String) {
    let head = "| Field | Value | Default | What |\n|---|---|---|---|";
    let _ = writeln!(text, "## {}\n\n{}.\n\n{head}", table.name, table.about);
    for field in table.fields().iter().filter(|field| field.is_settable()) {
        let extension = if field.extension { " (x)" } else { "" };
        let secret = if field.secret { "; secret" } else { "" };
        let default = match field.default_value() {
            _ if field.required => "required".to_owned(),
            Some(Value::Object(_)) => "its defaults".to_owned(),
            Some(value) => format!("`{value}`"),
            None => String::new(),
        };
        let bounds = cell(&bounds(&field.kind));
        let about = cell(field.about);
        let _ = writeln!(text, "| `{}`{extension} | {bounds}{secret} | {default} | {about} |", field.name);
    }
}

/// A text as the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Type and bounds for people.
fn bounds(kind: &Kind) -> String {
    match kind {
        Kind::Text { max, format: Format::Any, .. } => format!("text, at most {max} characters"),
        Kind::Text { max, format, .. } => format!("{}, at most {max} characters", format.wanted()),
        Kind::List { of: Kind::Object(part), max, .. } => format!("list of {}, at most {max}", part.name),
        Kind::List { of, max, .. } => format!("list, at most {max}, each {}", bounds(of)),
        Kind::Object(part) => part.name.to_owned(),
        kind => kind.wanted(),
    }
}
