//! Prints the facts that a check reported about its target.

use std::fmt::Write;

use super::text::escape_controls;
use crate::cli::style::Style;
use crate::service::result_view::FactLine;

/// Prints all facts, after an empty line; prints nothing without facts.
pub(super) fn render_facts(out: &mut String, facts: &[FactLine], style: Style) {
    if !facts.is_empty() {
        out.push('\n');
    }
    for FactLine { label, value } in facts {
        let label = style.dim(&format!("{label:<11}"));
        let _ = writeln!(out, "  {label} {}", escape_controls(value));
    }
}
