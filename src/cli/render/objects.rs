//! Prints objects of a page as lines of a waterfall.

use std::fmt::Write;

use super::phase_bars;
use super::text::{escape_controls, shorten_url};
use crate::cli::style::Style;
use crate::domain::Outcome;
use crate::service::result_view::{ObjectView, format_duration, format_grouped};

/// Prints one object, in a waterfall that spans `span_us` microseconds.
pub(super) fn render_object(out: &mut String, object: &ObjectView<'_>, span_us: u64, style: Style) {
    let (leading_dots, bar) = phase_bars::dots_and_bar(object.start_offset_us, object.total_us, span_us);
    let used_cells = leading_dots.chars().count() + bar.chars().count();
    let padding = " ".repeat(phase_bars::BAR_CELLS.saturating_sub(used_cells));
    let status = match object.http_status {
        _ if object.was_blocked => "blocked".to_owned(),
        None => "–".to_owned(),
        Some(status) => status.to_string(),
    };
    let _ = writeln!(
        out,
        "  {}{}{padding} {:>9} {:>11} {status:>3}  {}",
        style.dim(&leading_dots),
        style.in_chart_color(&bar),
        format_duration(object.total_us),
        format_grouped(object.decoded_bytes),
        shorten_url(object.url)
    );
    if let Some(reason) = &object.failure_reason {
        let _ = writeln!(
            out,
            "      {}  {}",
            style.in_outcome_color(Outcome::Error, "why"),
            escape_controls(reason)
        );
    }
}
