//! `vigie apply`: monitors as code. Makes the monitors of a server match files.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api_client::ServerArgs;
use super::output::{self, InvalidInput};
use super::style::Style;
use crate::app::read_monitors_for_apply;
use crate::domain::{Outcome, replace_control_chars};
use crate::schema::monitor_file::to_apply_entry;
use crate::syntax::truncate_value;

/// Make the monitors of a server match files
///
/// Creates and changes monitors as the files define them, and prints the changes. A monitor is identified by its
/// `key`: renaming it keeps its history. Monitors from other sources are not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie apply monitors/ --dry-run          see what would change
  vigie apply monitors/                    change it
  vigie apply monitors/ --prune            and remove monitors of an earlier apply that are no longer in the files
  vigie apply monitors/ --server https://vigie.example.com --token-file token")]
pub(super) struct Args {
    /// Folder of monitor files, or one file
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only print what would change
    #[arg(long)]
    dry_run: bool,
    /// Remove monitors of an earlier apply that are no longer in the files
    #[arg(long)]
    prune: bool,
    /// Print the response of the server as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// The response of the server.
#[derive(Debug, Deserialize, Serialize)]
struct ApplyResponse {
    changes: Vec<MonitorChange>,
}

/// A change of one monitor, made or planned.
#[derive(Debug, Deserialize, Serialize)]
struct MonitorChange {
    key: String,
    id: Option<i64>,
    /// `create`, `change`, `remove`, or `none` when nothing changes.
    action: String,
    /// Fields that change, with their old values.
    before: Map<String, Value>,
    /// Fields that change, with their new values.
    after: Map<String, Value>,
    #[serde(default)]
    warnings: Vec<String>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let monitors = read_monitors_for_apply(&args.folder).map_err(InvalidInput)?;
    let entries: Vec<Value> = monitors.iter().map(|monitor| Value::Object(to_apply_entry(monitor))).collect();
    let body = json!({"monitors": entries, "dry_run": args.dry_run, "prune": args.prune});
    let response: ApplyResponse = super::process::build_single_threaded_runtime()?.block_on(async {
        let mut server = args.server.connect().await?;
        server.post("apply", &body).await
    })?;
    let text = if args.json {
        format!("{}\n", serde_json::to_string_pretty(&response)?)
    } else {
        render_changes(&response.changes, args.dry_run, Style::for_stdout())
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Renders the changes for people: one block per monitor, and a summary.
fn render_changes(changes: &[MonitorChange], dry_run: bool, style: Style) -> String {
    let mut out = String::new();
    for change in changes {
        let (symbol, outcome) = match change.action.as_str() {
            "create" => ('+', Outcome::Ok),
            "change" => ('~', Outcome::Warning),
            "remove" => ('-', Outcome::Error),
            _ => (' ', Outcome::Unknown),
        };
        if symbol != ' ' {
            let id = change.id.map(|id| format!(" (id {id})")).unwrap_or_default();
            let heading = format!("{symbol} {}", replace_control_chars(&change.key));
            let _ = writeln!(out, "{}{}", style.in_outcome_color(outcome, &heading), style.dim(&id));
            if symbol != '-' {
                render_field_changes(&mut out, change, style);
            }
        }
        for warning in &change.warnings {
            let heading = style.in_outcome_color(Outcome::Warning, "warning:");
            let _ = writeln!(
                out,
                "  {heading} {}: {}",
                replace_control_chars(&change.key),
                replace_control_chars(warning)
            );
        }
    }
    out.push_str(&summarize_changes(changes, dry_run));
    out
}

/// Renders one line per field: `+` for added, `-` for removed, `~` for changed, with both values.
fn render_field_changes(out: &mut String, change: &MonitorChange, style: Style) {
    let names =
        change.after.keys().chain(change.before.keys().filter(|name| !change.after.contains_key(*name)));
    for name in names {
        let display_value =
            |map: &Map<String, Value>| map.get(name).filter(|value| !value.is_null()).map(value_on_one_line);
        let line = match (display_value(&change.before), display_value(&change.after)) {
            (None, Some(after)) => style.in_outcome_color(Outcome::Ok, &format!("+ {name}: {after}")),
            (Some(before), None) => style.in_outcome_color(Outcome::Error, &format!("- {name}: {before}")),
            (Some(before), Some(after)) => {
                style.in_outcome_color(Outcome::Warning, &format!("~ {name}: {before} -> {after}"))
            }
            (None, None) => continue,
        };
        let _ = writeln!(out, "    {line}");
    }
}

fn value_on_one_line(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && text.trim() == text => {
            truncate_value(&replace_control_chars(text))
        }
        value => truncate_value(&replace_control_chars(&value.to_string())),
    }
}

fn summarize_changes(changes: &[MonitorChange], dry_run: bool) -> String {
    let count = |action: &str| changes.iter().filter(|change| change.action == action).count();
    let (created, changed, removed, unchanged) =
        (count("create"), count("change"), count("remove"), count("none"));
    if dry_run {
        return format!(
            "{created} would be created, {changed} changed, {removed} removed; {unchanged} unchanged\nDry run: nothing was changed\n"
        );
    }
    format!("{created} created, {changed} changed, {removed} removed; {unchanged} unchanged\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, action: &str, before: Value, after: Value) -> MonitorChange {
        let map = |value: Value| value.as_object().unwrap().clone();
        MonitorChange {
            key: key.to_owned(),
            id: (action != "create").then_some(7),
            action: action.to_owned(),
            before: map(before),
            after: map(after),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_diff_shows_added_changed_and_removed_monitors_and_fields() {
        let mut changes = vec![
            change("new", "create", json!({}), json!({"name": "New", "interval": 5})),
            change("old", "change", json!({"interval": 5, "note": "x"}), json!({"interval": 10, "port": 80})),
            change("gone", "remove", json!({"name": "Gone"}), json!({})),
            change("same", "none", json!({}), json!({})),
        ];
        changes[3].warnings.push("checks may overlap".to_owned());
        let expected = "+ new\n    + name: New\n    + interval: 5\n~ old (id 7)\n    ~ interval: 5 -> 10\n    + port: 80\n    - note: x\n\
            - gone (id 7)\n  warning: same: checks may overlap\n1 created, 1 changed, 1 removed; 1 unchanged\n";
        assert_eq!(render_changes(&changes, false, Style::PLAIN), expected);
        assert!(render_changes(&changes, true, Style::PLAIN).ends_with("Dry run: nothing was changed\n"));
        assert!(render_changes(&changes, false, Style::colored()).contains("\x1b[1;32m+ new\x1b[0m"));
    }

    #[test]
    fn control_characters_from_the_server_are_not_printed() {
        let changes = [change("a\x1b[2J", "change", json!({"name": "\x1b]0;x"}), json!({"name": " b\n"}))];
        assert!(!render_changes(&changes, false, Style::PLAIN).contains('\x1b'));
    }
}
