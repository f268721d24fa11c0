//! Collects what of a project cannot be run, with its place.

use roxmltree::Node;

use super::project_error::UnsupportedItem;
use super::xml_tree::{child, is_disabled, text};
use crate::syntax::line_index::LineIndex;
use crate::syntax::node::Position;

/// Maximum number of items of one suite, case or step that are listed.
const MAX_ISSUES: usize = 50;

/// Collects what cannot be run of one suite, case or step.
pub(super) struct IssueCollector<'c, 't> {
    line_index: &'c LineIndex<'t>,
    /// The place, such as the names of suite, case and step.
    pub(super) place: String,
    issues: Vec<UnsupportedItem>,
}

impl<'c, 't> IssueCollector<'c, 't> {
    pub(super) fn new(line_index: &'c LineIndex<'t>, place: String) -> Self {
        Self { line_index, place, issues: Vec::new() }
    }

    /// Adds that `what`, at `node`, cannot be run.
    pub(super) fn add(&mut self, node: Node<'_, '_>, what: impl AsRef<str>) {
        if self.issues.len() < MAX_ISSUES {
            let Position { line, column } = self.position(node);
            let what = format!("{}: {}", self.place, what.as_ref());
            self.issues.push(UnsupportedItem { line, column, what });
        }
    }

    /// Returns where `node` begins.
    pub(super) fn position(&self, node: Node<'_, '_>) -> Position {
        self.line_index.position_at(node.range().start)
    }

    /// Adds every expansion of Groovy in the texts of `node`, but not in disabled parts of it.
    pub(super) fn add_groovy_expansions(&mut self, node: Node<'_, '_>) {
        let is_groovy = |text: &str| text.contains("${=");
        let mut pending = vec![node];
        while let Some(found) = pending.pop() {
            if found != node && is_disabled(found) {
                continue;
            }
            if found.is_text() && found.text().is_some_and(is_groovy)
                || found.attributes().any(|attribute| is_groovy(attribute.value()))
            {
                self.add(found, "expansions of Groovy, `${=…}`");
            }
            pending.extend(found.children().rev());
        }
    }

    /// Adds the scripts of `node` with these names that have a text.
    pub(super) fn add_scripts(&mut self, node: Node<'_, '_>, names: &[&str]) {
        for name in names {
            if let Some(script) = child(node, name).filter(|script| !text(*script).trim().is_empty()) {
                self.add(script, format!("`{name}`: Groovy scripts are not run"));
            }
        }
    }

    pub(super) fn into_issues(self) -> Vec<UnsupportedItem> {
        self.issues
    }
}
