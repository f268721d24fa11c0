//! Shows what `vigie apply` changes.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cli::style::Style;
use crate::domain::{Outcome, replace_control_chars};
use crate::syntax::truncate_value;

/// A change of one monitor or host, made or planned.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Change {
    /// The key of the monitor, or the name of the host.
    pub(super) key: String,
    /// Its id on the server; `None` when it was not created.
    pub(super) id: Option<i64>,
    /// `create`, `change`, `remove`, or `none` when nothing changes.
    pub(super) action: String,
    /// Fields that change, with their old values.
    pub(super) before: Map<String, Value>,
    /// Fields that change, with their new values.
    pub(super) after: Map<String, Value>,
    /// Warnings for its author.
    #[serde(default)]
    pub(super) warnings: Vec<String>,
}

/// Renders the changes for people: one block per host, one per monitor, and summaries.
pub(super) fn render_changes(changes: &[Change], hosts: &[Change], dry_run: bool, style: Style) -> String {
    let mut out = String::new();
    render_blocks(&mut out, hosts, "host ", style);
    render_blocks(&mut out, changes, "", style);
    if !hosts.is_empty() {
        let _ = writeln!(out, "hosts: {}", summarize_changes(hosts, dry_run));
    }
    let _ = writeln!(out, "{}", summarize_changes(changes, dry_run));
    if dry_run {
        out.push_str("Dry run: nothing was changed\n");
    }
    out
}

/// Renders a block per change, its name after `prefix`.
fn render_blocks(out: &mut String, changes: &[Change], prefix: &str, style: Style) {
    for change in changes {
        let (symbol, outcome) = match change.action.as_str() {
            "create" => ('+', Outcome::Ok),
            "change" => ('~', Outcome::Warning),
            "remove" => ('-', Outcome::Error),
            _ => (' ', Outcome::Unknown),
        };
        if symbol != ' ' {
            let id = change.id.map(|id| format!(" (id {id})")).unwrap_or_default();
            let heading = format!("{symbol} {prefix}{}", replace_control_chars(&change.key));
            let _ = writeln!(out, "{}{}", style.in_outcome_color(outcome, &heading), style.dim(&id));
            if symbol != '-' {
                render_field_changes(out, change, style);
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
}

/// Renders one line per field: `+` for added, `-` for removed, `~` for changed, with both values.
fn render_field_changes(out: &mut String, change: &Change, style: Style) {
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

fn summarize_changes(changes: &[Change], dry_run: bool) -> String {
    let count = |action: &str| changes.iter().filter(|change| change.action == action).count();
    let (created, changed, removed, unchanged) =
        (count("create"), count("change"), count("remove"), count("none"));
    if dry_run {
        return format!(
            "{created} would be created, {changed} changed, {removed} removed; {unchanged} unchanged"
        );
    }
    format!("{created} created, {changed} changed, {removed} removed; {unchanged} unchanged")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(key: &str, action: &str, before: Value, after: Value) -> Change {
        let map = |value: Value| value.as_object().unwrap().clone();
        Change {
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
        assert_eq!(render_changes(&changes, &[], false, Style::PLAIN), expected);
        let hosts = [change("db1", "create", json!({}), json!({"report_seconds": 30}))];
        let with_host = render_changes(&[], &hosts, true, Style::PLAIN);
        let expected = "+ host db1\n    + report_seconds: 30\nhosts: 1 would be created, 0 changed, 0 removed; 0 unchanged\n\
            0 would be created, 0 changed, 0 removed; 0 unchanged\nDry run: nothing was changed\n";
        assert_eq!(with_host, expected);
        assert!(
            render_changes(&changes, &[], true, Style::PLAIN).ends_with("Dry run: nothing was changed\n")
        );
        assert!(render_changes(&changes, &[], false, Style::colored()).contains("\x1b[1;32m+ new\x1b[0m"));
    }

    #[test]
    fn control_characters_from_the_server_are_not_printed() {
        let changes = [change("a\x1b[2J", "change", json!({"name": "\x1b]0;x"}), json!({"name": " b\n"}))];
        assert!(!render_changes(&changes, &[], false, Style::PLAIN).contains('\x1b'));
    }
}
