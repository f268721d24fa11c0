//! Files that a check runs as they are: browser scripts, collections and projects.

use std::path::Path;

use serde_json::Value;

use super::subject::{CheckSubject, MAX_NAME_CHARS, from_entries, text_entry};
use crate::cli::output::UsageError;
use crate::collection::parse_collection;
use crate::domain::MonitorType;
use crate::project::{Project, unsupported};
use crate::script::language::Script;
use crate::settings::{Settings, read_config_text};
use crate::syntax::node::{Key, Node};

/// A file that is a browser script, a collection or a project.
pub(super) struct RunnableFile<'f> {
    path: &'f Path,
    text: String,
    monitor_type: MonitorType,
}

impl<'f> RunnableFile<'f> {
    /// Reads `path`; `None` for a file of monitors.
    ///
    /// # Errors
    /// [`UsageError`] when it cannot be read.
    pub(super) fn read(path: &'f Path) -> anyhow::Result<Option<Self>> {
        let has_extension = |name: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(name));
        if !has_extension("xml") && !has_extension("json") {
            return Ok(None);
        }
        let text = read_config_text(path)
            .map_err(|reason| UsageError::with_hint(format!("`{}` {reason}", path.display()), None))?;
        let monitor_type = match (has_extension("xml"), root_name(&text) == Some("soapui-project")) {
            (true, true) => MonitorType::ApiProject,
            (true, false) => MonitorType::BrowserScript,
            (false, _) if is_collection(&text) => MonitorType::CollectionApi,
            (false, _) => return Ok(None),
        };
        Ok(Some(Self { path, text, monitor_type }))
    }

    /// Creates a monitor that runs it, with the fields in `field_assignments`. A project with a single case needs neither
    /// suite nor case.
    pub(super) fn into_subject(
        self,
        field_assignments: &[String],
        settings: &Settings,
    ) -> anyhow::Result<CheckSubject> {
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name: String = stem.unwrap_or_default().chars().take(MAX_NAME_CHARS).collect();
        let mut entries = vec![
            text_entry("name", &name),
            text_entry("billing_plancode", "check"),
            text_entry("script", &self.text),
        ];
        entries.extend(self.own_fields(field_assignments)?);
        from_entries(self.monitor_type, entries, field_assignments, settings)
    }

    /// Returns the fields that only this type of file has.
    ///
    /// # Errors
    /// [`UsageError`] with everything that keeps the file from running, as `file:line:column`.
    fn own_fields(&self, field_assignments: &[String]) -> anyhow::Result<Vec<(Key, Node)>> {
        let (problems, fields) = match self.monitor_type {
            MonitorType::CollectionApi => (self.collection_problems(), Vec::new()),
            MonitorType::ApiProject => self.project_problems(field_assignments),
            _ => {
                let errors = Script::parse(&self.text).err().unwrap_or_default();
                let errors = errors.into_iter();
                let problems = errors
                    .map(|error| self.place(error.position.line, error.position.column, &error.message))
                    .collect();
                // The password is a placeholder: whoever has the file already has the values that it protects.
                (problems, vec![text_entry("transaction_password", "check")])
            }
        };
        if problems.is_empty() { Ok(fields) } else { Err(UsageError::with_hint(problems.join("\n"), None)) }
    }

    fn collection_problems(&self) -> Vec<String> {
        match parse_collection(&self.text) {
            Err(error) => vec![self.place(error.position.line, error.position.column, &error.message)],
            Ok(collection) => {
                let items = collection.unsupported.iter();
                let describe = |place: &str, reason: &str| format!("`{place}`: {reason}");
                items
                    .map(|item| {
                        self.place(
                            item.position.line,
                            item.position.column,
                            &describe(&item.place, &item.reason),
                        )
                    })
                    .collect()
            }
        }
    }

    /// Returns what cannot be run of the chosen case, and the fields that choose the only one.
    fn project_problems(&self, field_assignments: &[String]) -> (Vec<String>, Vec<(Key, Node)>) {
        let project = match Project::parse(&self.text) {
            Ok(project) => project,
            Err(error) => return (vec![self.place(error.line, error.column, &error.message)], Vec::new()),
        };
        let assigned = |name: &str| {
            let values = field_assignments.iter().filter_map(|assignment| assignment.split_once('='));
            values.rev().find(|(field, _)| *field == name).map(|(_, value)| value)
        };
        let mut cases = project.enabled_case_names();
        let (suite, case) = match (assigned("test_suite"), assigned("test_case"), cases.next(), cases.next())
        {
            (Some(suite), Some(case), ..) => (suite, case),
            (None, None, Some(only), None) => only,
            (None, None, None, _) => {
                return (vec![self.place(1, 1, "it has no case that is enabled")], Vec::new());
            }
            _ => {
                let reason =
                    "it has several cases; choose one with `--set test_suite=…` and `--set test_case=…`";
                return (vec![self.place(1, 1, reason)], Vec::new());
            }
        };
        let items = unsupported(&project, suite, case);
        let problems = items.iter().map(|item| self.place(item.line, item.column, &item.what)).collect();
        (problems, vec![text_entry("test_suite", suite), text_entry("test_case", case)])
    }

    fn place(&self, line: u32, column: u32, reason: &str) -> String {
        format!("{}:{line}:{column}: {reason}", self.path.display())
    }
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
