//! Files that are checked: those of monitors, and browser scripts, collections and projects, which are run as they are.

use std::path::Path;

use serde_json::Value;

use super::subject::{CheckSubject, MAX_NAME_CHARS, from_entries, from_monitor_file, text_entry};
use crate::cli::input_file::in_file;
use crate::cli::output::UsageError;
use crate::collection::parse_collection;
use crate::domain::MonitorType;
use crate::project::{Project, unsupported};
use crate::script::language::Script;
use crate::settings::{Settings, read_config_text};
use crate::syntax::node::{Key, Node, Position};

/// A file that is checked.
pub(super) struct CheckedFile<'f> {
    path: &'f Path,
    text: String,
    /// The type of the monitor that runs it; `None` for a file of monitors.
    runnable_type: Option<MonitorType>,
}

impl<'f> CheckedFile<'f> {
    /// Reads `path`.
    ///
    /// # Errors
    /// [`UsageError`] when it cannot be read.
    pub(super) fn read(path: &'f Path) -> anyhow::Result<Self> {
        let text = read_config_text(path)
            .map_err(|reason| UsageError::with_hint(format!("`{}` {reason}", path.display()), None))?;
        let runnable_type = if has_extension(path, "xml") {
            let is_project = root_name(&text) == Some("soapui-project");
            Some(if is_project { MonitorType::ApiProject } else { MonitorType::BrowserScript })
        } else {
            (has_extension(path, "json") && is_collection(&text)).then_some(MonitorType::CollectionApi)
        };
        Ok(Self { path, text, runnable_type })
    }

    /// Whether a file of this name may be run as it is.
    pub(super) fn may_be_runnable(path: &Path) -> bool {
        has_extension(path, "xml") || has_extension(path, "json")
    }

    /// Whether it is run as it is, and holds no monitors.
    pub(super) const fn is_runnable(&self) -> bool {
        self.runnable_type.is_some()
    }

    /// Returns the monitors in it, or only the one named `name`; or one that runs the file, with the fields in
    /// `field_assignments`. A project with a single case needs neither suite nor case.
    pub(super) fn into_subjects(
        self,
        name: Option<&str>,
        field_assignments: &[String],
        settings: &Settings,
    ) -> anyhow::Result<Vec<CheckSubject>> {
        let Some(monitor_type) = self.runnable_type else {
            return from_monitor_file(self.path, self.text, name, settings);
        };
        if let Some(name) = name {
            let hint = "leave it out; `--set` chooses the case of a project".to_owned();
            return Err(UsageError::with_hint(
                format!("the file has no monitor `{name}`: it is run as it is"),
                Some(hint),
            ));
        }
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name: String = stem.unwrap_or_default().chars().take(MAX_NAME_CHARS).collect();
        let mut entries = vec![
            text_entry("name", &name),
            text_entry("billing_plancode", "check"),
            text_entry("script", &self.text),
        ];
        entries.extend(self.own_fields(monitor_type, field_assignments)?);
        Ok(vec![from_entries(monitor_type, entries, field_assignments, settings)?])
    }

    /// Returns the fields that only this type of file has.
    ///
    /// # Errors
    /// [`UsageError`] with everything that keeps the file from running, as `file:line:column`.
    fn own_fields(
        &self,
        monitor_type: MonitorType,
        field_assignments: &[String],
    ) -> anyhow::Result<Vec<(Key, Node)>> {
        let (problems, fields) = match monitor_type {
            MonitorType::CollectionApi => (self.collection_problems(), Vec::new()),
            MonitorType::ApiProject => self.project_problems(field_assignments),
            _ => {
                let errors = Script::parse(&self.text).err().unwrap_or_default();
                let errors = errors.iter();
                let problems = errors.map(|error| self.place(error.position, &error.message)).collect();
                // The password is a placeholder: whoever has the file already has the values that it protects.
                (problems, vec![text_entry("transaction_password", "check")])
            }
        };
        if problems.is_empty() { Ok(fields) } else { Err(UsageError::with_hint(problems.join("\n"), None)) }
    }

    fn collection_problems(&self) -> Vec<String> {
        match parse_collection(&self.text) {
            Err(error) => vec![self.place(error.position, &error.message)],
            Ok(collection) => {
                let items = collection.unsupported.iter();
                items
                    .map(|item| self.place(item.position, &format!("`{}`: {}", item.place, item.reason)))
                    .collect()
            }
        }
    }

    /// Returns what cannot be run of the chosen case, and the fields that choose the only one.
    fn project_problems(&self, field_assignments: &[String]) -> (Vec<String>, Vec<(Key, Node)>) {
        let place = |line, column, text: &str| self.place(Position { line, column }, text);
        let project = match Project::parse(&self.text) {
            Ok(project) => project,
            Err(error) => return (vec![place(error.line, error.column, &error.message)], Vec::new()),
        };
        let assigned = |name: &str| {
            let values = field_assignments.iter().filter_map(|assignment| assignment.split_once('='));
            values.rev().find(|(field, _)| *field == name).map(|(_, value)| value)
        };
        let flags = "`--set test_suite=…` and `--set test_case=…`";
        let (suite, case) = match project.choose_case(assigned("test_suite"), assigned("test_case"), flags) {
            Ok(chosen) => chosen,
            Err(reason) => return (vec![place(1, 1, &reason)], Vec::new()),
        };
        let items = unsupported(&project, suite, case);
        let problems = items.iter().map(|item| place(item.line, item.column, &item.what)).collect();
        (problems, vec![text_entry("test_suite", suite), text_entry("test_case", case)])
    }

    fn place(&self, position: Position, text: &str) -> String {
        in_file(self.path, position, text)
    }
}

fn has_extension(path: &Path, name: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(name))
}

/// Returns the name of the root element, without its prefix; `None` when there is none.
fn root_name(xml: &str) -> Option<&str> {
    let mut rest = xml.trim_start_matches('\u{feff}').trim_start();
    for (start, end) in [("<?", "?>"), ("<!--", "-->"), ("<!--", "-->"), ("<!--", "-->")] {
        if rest.starts_with(start) {
            rest = rest.split_once(end)?.1.trim_start();
        }
    }
    let name = rest.strip_prefix('<')?.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next()?;
    name.rsplit(':').next()
}

/// Whether the text is a collection of any format, and not a file of monitors.
fn is_collection(text: &str) -> bool {
    let Ok(Value::Object(root)) = serde_json::from_str(text.trim_start_matches('\u{feff}')) else {
        return false;
    };
    let root = root.get("collection").and_then(Value::as_object).unwrap_or(&root);
    let has_items = root.contains_key("item") || root.contains_key("requests");
    has_items && !root.contains_key("type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_tells_a_project_from_a_script() {
        for (xml, expected) in [
            (
                "\u{feff}<?xml version='1.0'?>\n<!-- soapui-project -->\n<con:soapui-project a='b'>",
                Some("soapui-project"),
            ),
            ("<script><open url='http://soapui-project/'/></script>", Some("script")),
            ("<script/>", Some("script")),
            ("text", None),
            ("<!-- open", None),
        ] {
            assert_eq!(root_name(xml), expected, "{xml}");
        }
    }
}
