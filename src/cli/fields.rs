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
    let rows = MonitorType::ALL.iter().map(|&kind| {
        let checked = if probe::find_descriptor(kind).is_some() { "checked" } else { "stored only" };
        vec![Cell::new(kind), Cell::new(checked), Cell::new(tables::for_type(kind).description)]
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
fn describe_rule(kind: &FieldType) -> String {
    let expected = kind.requirement();
    match kind {
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
fn render_field(kind: MonitorType, name: &str, style: Style) -> anyhow::Result<String> {
    let type_table = tables::for_type(kind);
    let field = type_table.field(name).ok_or_else(|| unknown_field_error(kind, name))?;
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
    if let Some(inner) = nested_table(&field.field_type) {
        text.push('\n');
        text.push_str(&render_fields(inner, style));
    }
    Ok(text)
}

/// Returns the fields of the map, or of each map in the list, that a field holds.
fn nested_table(kind: &FieldType) -> Option<&'static FieldTable> {
    match kind {
        FieldType::Object(table) => Some(table),
        FieldType::List { item_type: items, .. } => nested_table(items),
        _ => None,
    }
}

/// Returns the error for a field that `kind` does not have.
pub(super) fn unknown_field_error(kind: MonitorType, name: &str) -> anyhow::Error {
    let known = tables::for_type(kind).fields().iter().map(|field| field.name);
    let hint = closest_match(name, known).map_or_else(
        || format!("`vigie fields {kind}` lists them"),
        |near| format!("did you mean `{near}`?"),
    );
    output::UsageError::with_hint(format!("type `{kind}` has no field `{name}`"), Some(hint))
}
