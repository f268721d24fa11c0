//! Prints the content views of a script, one line each.

use std::fmt::Write;

use super::text::escape_controls;
use crate::cli::style::Style;
use crate::domain::Outcome;
use crate::service::result_view::{ContentViewRow, format_duration, format_grouped};

/// Prints all content views.
pub(super) fn render_content_views(out: &mut String, views: &[ContentViewRow<'_>], style: Style) {
    for view in views {
        let (outcome, text) = if view.passed { (Outcome::Ok, "ok") } else { (Outcome::Error, "failed") };
        let _ = writeln!(
            out,
            "view  {}  {}  {} objects, {} bytes in {}",
            escape_controls(view.name),
            style.in_outcome_color(outcome, text),
            view.object_count,
            format_grouped(view.decoded_bytes),
            format_duration(view.total_us)
        );
        if let Some(reason) = &view.reason {
            let _ = writeln!(out, "      why  {}", escape_controls(reason));
        }
    }
}
