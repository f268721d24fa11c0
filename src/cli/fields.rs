//! `vigie fields`: the reference of monitor types and their fields, from the field tables.

use std::process::ExitCode;

use comfy_table::Cell;
use serde_json::Value;

use super::style::Style;
use super::{output, table};
use crate::domain::MonitorType;
use crate::probe;
use crate::schema::field::{DefaultValue, Field, FieldType};
use crate::schema::json_schema::{fields_as_markdown, sub_objects_as_markdown};
use crate::schema::table as tables;
use crate::schema::table::FieldTable;
use crate::syntax::closest_match;

/// Show the fields of a monitor type: name, rule, default, meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie fields                        all types
  vigie fields website                all fields of the type
  vigie fields website keyword_string one field in full")]
pub(super) struct Args {
    /// The monitor type; without it, all types are listed
    #[arg(value_parser = super::monitor_type::parse_monitor_type)]
    kind: Option<MonitorType>,
    /// One field of the type
    #[arg(requires = "kind", conflicts_with = "markdown")]
    field: Option<String>,
    /// Print the table of the type from the manual; without a type, the tables of nested objects
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let style = Style::for_stdout();
    let text = match (args.kind, &args.field) {
        (None, _) if args.markdown => sub_objects_as_markdown(),
        (Some(kind), _) if args.markdown => fields_as_markdown(kind),
        (None, _) => render_types(style),
        (Some(kind), None) => render_fields(tables::for_type(kind), style),
        (Some(kind), Some(name)) => render_field(kind, name, style)?,
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Renders every type, and whether this build can check it.
fn render_types(style: Style) -> String {
    let rows = MonitorType::ALL.iter().map(|&monitor_type| {
        let support_text =
            if probe::find_descriptor(monitor_type).is_some() { "checked" } else { "stored only" };
        vec![
            Cell::new(monitor_type),
            Cell::new(support_text),
            Cell::new(tables::for_type(monitor_type).description),
        ]
    });
    table::render_table(&["type", "this build", "what"], rows.collect(), style)
}

/// Renders every settable field of `type_table`, required fields first.
fn render_fields(type_table: &FieldTable, style: Style) -> String {
    let mut settable: Vec<&Field> =
        type_table.fields().iter().copied().filter(|field| field.is_settable()).collect();
    settable.sort_by_key(|field| !field.required);
    let rows = settable.iter().map(|field| {
        vec![
            Cell::new(field.name),
            Cell::new(describe_rule(&field.field_type)),
            Cell::new(describe_default(field)),
            Cell::new(field.description),
        ]
    });
    format!(
        "{}\n\n{}",
        type_table.description,
        table::render_table(&["field", "rule", "default", "meaning"], rows.collect(), style)
    )
}

/// Describes the values that a field accepts, with bounds.
fn describe_rule(field_type: &FieldType) -> String {
    let expected = field_type.requirement();
    match field_type {
        FieldType::Text { max, .. } => format!("{expected}, at most {max} characters"),
        FieldType::List { min: 0, max, .. } => format!("{expected} of at most {max}"),
        FieldType::List { min, max, .. } => format!("{expected} of {min} to {max}"),
        _ => expected,
    }
}

fn describe_default(field: &Field) -> String {
    match (field.default_value(), field.default) {
        _ if field.required => "required".to_owned(),
        (_, DefaultValue::ObjectOfDefaults | DefaultValue::EmptyList | DefaultValue::Text(""))
        | (None, _) => String::new(),
        (Some(Value::String(text)), _) => format!("`{text}`"),
        (Some(value), _) => value.to_string(),
    }
}

/// Renders one field with all its properties.
fn render_field(monitor_type: MonitorType, name: &str, style: Style) -> anyhow::Result<String> {
    let type_table = tables::for_type(monitor_type);
    let field = type_table.field(name).ok_or_else(|| unknown_field_error(monitor_type, name))?;
    let mut lines = vec![
        format!("{}: {}", style.bold(field.name), field.description),
        format!("  rule     {}", describe_rule(&field.field_type)),
    ];
    match describe_default(field).as_str() {
        "" => {}
        default => lines.push(format!("  default  {default}")),
    }
    if field.secret {
        lines.push(
            "  secret   shown as `********`; in files also `<field>_file` and `<field>_env`".to_owned(),
        );
    }
    if !field.is_settable() {
        lines.push("  set by   Vigie alone".to_owned());
    }
    if field.extension {
        lines.push("  note     an extension beyond the interface of the hosted service".to_owned());
    }
    let mut text = lines.join("\n") + "\n";
    if let Some(nested) = nested_table(&field.field_type) {
        text.push('\n');
        text.push_str(&render_fields(nested, style));
    }
    Ok(text)
}

/// Returns the fields of the map, or of each map in the list, that a field holds.
fn nested_table(field_type: &FieldType) -> Option<&'static FieldTable> {
    match field_type {
        FieldType::Object(table) => Some(table),
        FieldType::List { item_type: items, .. } => nested_table(items),
        _ => None,
    }
}

/// Returns the error for a field that `monitor_type` does not have.
pub(super) fn unknown_field_error(monitor_type: MonitorType, name: &str) -> anyhow::Error {
    let field_names = tables::for_type(monitor_type).fields().iter().map(|field| field.name);
    let hint = closest_match(name, field_names).map_or_else(
        || format!("`vigie fields {monitor_type}` lists them"),
        |closest| format!("did you mean `{closest}`?"),
    );
    output::UsageError::with_hint(format!("type `{monitor_type}` has no field `{name}`"), Some(hint))
}
