//! The reference page of the monitor types, in Markdown, out of the field table.

use std::fmt::Write as _;

use serde_json::Value;

use super::sub_objects::sub_objects;
use crate::domain::MonitorType;
use crate::schema::field::{FieldTable, FieldType};
use crate::schema::table;
use crate::syntax::text_format::TextFormat;

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
        page.push_str(&reference_section(*kind));
    }
    let mut inner: Vec<&'static FieldTable> = Vec::new();
    for kind in MonitorType::ALL {
        collect_sub_objects(table::for_type(*kind), &mut inner);
    }
    for part in inner {
        page.push('\n');
        write_section(part, &mut page);
    }
    page
}

/// The section of one type in the reference page.
#[must_use]
pub fn reference_section(kind: MonitorType) -> String {
    let mut text = String::new();
    write_section(table::for_type(kind), &mut text);
    text
}

fn collect_sub_objects(table: &'static FieldTable, inner: &mut Vec<&'static FieldTable>) {
    for part in sub_objects(table) {
        if !inner.iter().any(|known| known.name == part.name) {
            inner.push(part);
            collect_sub_objects(part, inner);
        }
    }
}

fn write_section(table: &'static FieldTable, text: &mut String) {
    let head = "| Field | Value | Default | What |\n|---|---|---|---|";
    let _ = writeln!(text, "## {}\n\n{}.\n\n{head}", table.name, table.description);
    for field in table.fields().iter().filter(|field| field.is_settable()) {
        let extension = if field.extension { " (x)" } else { "" };
        let secret = if field.secret { "; secret" } else { "" };
        let default = match field.default_value() {
            _ if field.required => "required".to_owned(),
            Some(Value::Object(_)) => "its defaults".to_owned(),
            Some(value) => format!("`{value}`"),
            None => String::new(),
        };
        let bounds = escape_cell(&describe_type(&field.field_type));
        let about = escape_cell(field.description);
        let _ = writeln!(text, "| `{}`{extension} | {bounds}{secret} | {default} | {about} |", field.name);
    }
}

/// A text as the cell of a table.
fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Type and bounds for people.
#[must_use]
pub fn describe_type(kind: &FieldType) -> String {
    match kind {
        FieldType::Text { max, format: TextFormat::Any, .. } => format!("text, at most {max} characters"),
        FieldType::Text { max, format, .. } => format!("{}, at most {max} characters", format.expected()),
        FieldType::List { items: FieldType::Object(table), max, .. } => {
            format!("list of {}, at most {max}", table.name)
        }
        FieldType::List { items: of, max, .. } => format!("list, at most {max}, each {}", describe_type(of)),
        FieldType::Object(table) => table.name.to_owned(),
        kind => kind.expected(),
    }
}
