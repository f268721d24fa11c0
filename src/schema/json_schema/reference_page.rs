//! The generated parts of the manual: the fields of the monitor types as Markdown tables.

use std::fmt::Write as _;

use serde_json::Value;

use super::sub_objects::sub_objects;
use crate::domain::MonitorType;
use crate::schema::field::{FieldTable, FieldType};
use crate::schema::table;
use crate::syntax::text_format::TextFormat;

/// Returns the fields of a type as a Markdown table.
#[must_use]
pub fn fields_as_markdown(monitor_type: MonitorType) -> String {
    table_as_markdown(table::for_type(monitor_type))
}

/// Returns the sub-objects of all types, each as a section of a Markdown page.
#[must_use]
pub fn sub_objects_as_markdown() -> String {
    let mut sub_tables: Vec<&'static FieldTable> = Vec::new();
    for monitor_type in MonitorType::ALL {
        collect_sub_objects(table::for_type(*monitor_type), &mut sub_tables);
    }
    let section = |sub_table: &&FieldTable| {
        format!("## {}\n\n{}.\n\n{}", sub_table.name, sub_table.description, table_as_markdown(sub_table))
    };
    sub_tables.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn collect_sub_objects(table: &'static FieldTable, sub_tables: &mut Vec<&'static FieldTable>) {
    for sub_table in sub_objects(table) {
        if !sub_tables.iter().any(|listed| listed.name == sub_table.name) {
            sub_tables.push(sub_table);
            collect_sub_objects(sub_table, sub_tables);
        }
    }
}

fn table_as_markdown(table: &FieldTable) -> String {
    let mut text = "| Field | Value | Default | What |\n|---|---|---|---|\n".to_owned();
    for field in table.fields().iter().filter(|field| field.is_settable()) {
        let extension = if field.extension { " (x)" } else { "" };
        let secret = if field.secret { "; secret" } else { "" };
        let default = match field.default_value() {
            _ if field.required => "required".to_owned(),
            Some(value) if field.required_in_v3 => format!("`{value}`; required in version 3"),
            Some(Value::Object(_)) => "its defaults".to_owned(),
            Some(value) => format!("`{value}`"),
            None => String::new(),
        };
        let bounds = escape_cell(&describe_type(&field.field_type));
        let description = escape_cell(field.description);
        let _ =
            writeln!(text, "| `{}`{extension} | {bounds}{secret} | {default} | {description} |", field.name);
    }
    text
}

/// Escapes a text for a cell of a table.
fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Describes type and bounds for people.
#[must_use]
pub fn describe_type(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Text { max, format: TextFormat::Any | TextFormat::Name, .. } => {
            format!("text, at most {max} characters")
        }
        FieldType::Text { max, format, .. } => format!("{}, at most {max} characters", format.requirement()),
        FieldType::List { item_type: FieldType::Object(table), max, .. } => {
            format!("list of {}, at most {max}", table.name)
        }
        FieldType::List { item_type, max, .. } => {
            format!("list, at most {max}, each {}", describe_type(item_type))
        }
        FieldType::Object(table) => table.name.to_owned(),
        field_type => field_type.requirement(),
    }
}
