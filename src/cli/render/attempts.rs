//! Prints the attempts of a check: phases as bars, one group for each hop of a redirect.

use std::fmt::Write;

use super::phase_bars;
use super::text::escape_controls;
use crate::cli::style::Style;
use crate::service::result_view::{AttemptView, HopHeading, format_duration};

/// Prints one attempt, after an empty line.
pub(super) fn render_attempt(out: &mut String, attempt: &AttemptView<'_>, style: Style) {
    out.push('\n');
    if attempt.has_other_attempts {
        render_attempt_heading(out, attempt, style);
    }
    for hop in &attempt.hops {
        if let Some(title) = &hop.heading {
            render_hop_heading(out, title, style);
        }
        phase_bars::render_phase_bars(out, &hop.phases, hop.offset_us, attempt.total_us, style);
    }
    for warning in &attempt.warnings {
        let _ = writeln!(out, "  note  {}", escape_controls(warning));
    }
}

fn render_attempt_heading(out: &mut String, attempt: &AttemptView<'_>, style: Style) {
    let title = style.bold(&format!("attempt {}", attempt.number));
    let duration = format_duration(attempt.total_us);
    let _ = match &attempt.failed_phase {
        None => writeln!(out, "  {title}  passed in {duration}"),
        Some(phase) => writeln!(out, "  {title}  failed in phase {phase} after {duration}"),
    };
}

fn render_hop_heading(out: &mut String, hop: &HopHeading<'_>, style: Style) {
    let server_text = hop.server_address.map_or(String::new(), |address| format!(" from {address}"));
    let response_text = hop.http_status.map_or(String::new(), |status| format!("  {status}{server_text}"));
    let _ = writeln!(
        out,
        "  {}  `{}`{response_text}",
        style.bold(&format!("hop {}", hop.number)),
        escape_controls(hop.url)
    );
}
