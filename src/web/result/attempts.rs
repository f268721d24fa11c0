//! The attempts of a check: each phase drawn where it lies on the timeline.

use std::fmt::Write;

use crate::service::result_view::{
    AttemptView, HopHeading, HopView, format_duration, phase_label, phase_spans, phases_sum_us,
};
use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};

/// Width of the timeline in its own units.
const TIMELINE_WIDTH: f64 = 400.0;
/// Smallest width of a bar above zero, so that it stays visible.
const MIN_BAR_WIDTH: f64 = 1.5;

/// Renders all attempts; empty without any. Writing into a string cannot fail, here and below.
pub(super) fn render_attempts(attempts: &[AttemptView<'_>], t: Locale) -> String {
    let mut out = String::new();
    for attempt in attempts {
        let title = if attempt.has_other_attempts {
            t.fill("Attempt {number}", &[("number", &attempt.number.to_string())])
        } else {
            t.text("Phases").to_owned()
        };
        let duration = t.decimal(format_duration(attempt.total_us));
        let end = match &attempt.failed_phase {
            None => t.fill("passed in {duration}", &[("duration", &duration)]),
            Some(phase) => t.fill(
                "failed in phase {phase} after {duration}",
                &[("phase", t.text(phase)), ("duration", &duration)],
            ),
        };
        let _ = write!(out, "<h2>{title} <small>{end}</small></h2>");
        for hop in &attempt.hops {
            render_hop(&mut out, hop, attempt.total_us, t);
        }
        for warning in &attempt.warnings {
            let _ = write!(out, r#"<p class="notice">{}</p>"#, escape(warning));
        }
    }
    out
}

fn render_hop(out: &mut String, hop: &HopView<'_>, total_us: u64, t: Locale) {
    if let Some(heading) = &hop.heading {
        render_hop_heading(out, heading, t);
    }
    if hop.phases.iter().next().is_none() {
        return;
    }
    let heads = [("", key("Phase")), ("n", key("Duration")), ("", key("When"))];
    out.push_str(&render_table_head(&heads, t).replacen(r#"class="rows""#, r#"class="timeline""#, 1));
    let span_us = total_us.max(hop.offset_us + phases_sum_us(&hop.phases)).max(1);
    let scale = TIMELINE_WIDTH / span_us as f64;
    for span in phase_spans(&hop.phases, hop.offset_us) {
        let (label, duration) = (phase_label(span.phase), t.decimal(format_duration(span.total_us)));
        let label = t.text(&label);
        let width = (span.total_us as f64 * scale).max(MIN_BAR_WIDTH);
        let x = (span.offset_us as f64 * scale).min(TIMELINE_WIDTH - width);
        let _ = write!(
            out,
            r#"<tr><td>{label}</td><td class="n">{duration}</td><td><svg class="span" viewBox="0 0 400 12" preserveAspectRatio="none" aria-hidden="true"><rect class="p-{}" x="{x:.1}" width="{width:.1}" height="12"/></svg></td></tr>"#,
            span.phase.name()
        );
    }
    out.push_str("</tbody></table></div>");
}

fn render_hop_heading(out: &mut String, heading: &HopHeading<'_>, t: Locale) {
    let response = heading.http_status.map_or(String::new(), |status| {
        let status = status.to_string();
        let text = match heading.server_address.map(|address| address.to_string()) {
            Some(address) => {
                t.fill("answered {status} from {address}", &[("status", &status), ("address", &address)])
            }
            None => t.fill("answered {status}", &[("status", &status)]),
        };
        format!(" {text}")
    });
    let hop = t.fill("Hop {number}", &[("number", &heading.number.to_string())]);
    let _ = write!(out, "<h3>{hop} <code>{}</code>{response}</h3>", escape(heading.url));
}
