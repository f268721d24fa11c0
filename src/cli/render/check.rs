//! Prints one check.

use std::fmt::Write;

use super::units::{duration, plain};
use crate::cli::style::Style;
use crate::domain::{Attempt, CheckResult, Hop, HttpFacts, Outcome, Phases, Warning, WarningKind};

/// The whole of `result`, ending with a line break.
#[must_use]
pub fn check(result: &CheckResult, style: Style) -> String {
    let mut out = String::new();
    verdict(&mut out, result, style);
    reasons(&mut out, result);
    for (index, attempt) in result.attempts.iter().enumerate() {
        let last = index + 1 == result.attempts.len();
        section(&mut out, result, attempt, last, style);
    }
    super::course::lines(&mut out, &result.course, style);
    super::facts::lines(&mut out, result, style);
    out
}

/// The first line: outcome, what was checked, how long it took.
fn verdict(out: &mut String, result: &CheckResult, style: Style) {
    let word = style.outcome(result.outcome, result.outcome.name());
    let name = style.bold(&format!("`{}`", plain(&result.monitor_name)));
    let took = duration(result.total_us);
    let _ = writeln!(out, "{word}: {name} ({}) in {took}{}", result.kind, code(result));
}

fn code(result: &CheckResult) -> String {
    match (result.outcome, result.warning_status) {
        (Outcome::Ok, _) => String::new(),
        (_, Some(status)) => format!(", status {} after {status} ({})", result.status, status.text()),
        _ => format!(", status {} ({})", result.status, result.status_text),
    }
}

fn reasons(out: &mut String, result: &CheckResult) {
    for (index, reason) in result.reasons.iter().enumerate() {
        let label = if index == 0 { "why" } else { "" };
        let _ = writeln!(out, "{label:>4}  {}", plain(reason));
    }
}

/// One attempt: a heading where there are several, then its phases, by hop where it was redirected.
fn section(out: &mut String, result: &CheckResult, attempt: &Attempt, last: bool, style: Style) {
    let nothing = attempt.phases == Phases::default() && attempt.warnings.is_empty();
    if result.attempts.len() == 1 && nothing {
        return;
    }
    out.push('\n');
    if result.attempts.len() > 1 {
        heading(out, attempt, style);
    }
    // Hops are kept of the last attempt only, as facts are.
    match result.facts.http.as_deref().filter(|http| last && !http.redirects.is_empty()) {
        None => super::bars::draw(out, &attempt.phases, 0, attempt.total_us, style),
        Some(http) => hops(out, http, attempt, style),
    }
    // What is wrong with objects stands beside `why`.
    for warning in attempt.warnings.iter().filter(|warning| warning.kind != WarningKind::PageObject) {
        note(out, warning);
    }
}

fn heading(out: &mut String, attempt: &Attempt, style: Style) {
    let title = style.bold(&format!("attempt {}", attempt.number));
    let _ = match &attempt.failure {
        None => writeln!(out, "  {title}  passed in {}", duration(attempt.total_us)),
        Some(failure) => {
            let (phase, took) = (failure.phase.name().replace('_', " "), duration(attempt.total_us));
            writeln!(out, "  {title}  failed in phase {phase} after {took}")
        }
    };
}

fn note(out: &mut String, warning: &Warning) {
    let _ = writeln!(out, "  note  {}", plain(&warning.detail));
}

fn hops(out: &mut String, http: &HttpFacts, attempt: &Attempt, style: Style) {
    let mut rest = attempt.phases;
    let (mut begun, longest) = (0, attempt.total_us);
    for (index, hop) in http.redirects.iter().enumerate() {
        hop_title(out, index + 1, &hop.url, Some(hop), style);
        super::bars::draw(out, &hop.phases, begun, longest, style);
        begun += super::bars::sum(&hop.phases);
        rest = without(&rest, &hop.phases);
    }
    hop_title(out, http.redirects.len() + 1, &http.url, None, style);
    super::bars::draw(out, &rest, begun, longest, style);
}

fn hop_title(out: &mut String, number: usize, url: &str, hop: Option<&Hop>, style: Style) {
    let answered = hop.map_or(String::new(), |hop| {
        let from = hop.address.map_or(String::new(), |address| format!(" from {address}"));
        format!("  {}{from}", hop.http_status)
    });
    let _ = writeln!(out, "  {}  `{}`{answered}", style.bold(&format!("hop {number}")), plain(url));
}

/// What is left of `phases` when those of one hop are taken out: an attempt keeps their sums.
fn without(phases: &Phases, hop: &Phases) -> Phases {
    let mut left = Phases::default();
    for phase in crate::domain::Phase::ALL {
        if let Some(whole) = phases.duration(phase) {
            let part = hop.duration(phase);
            if part != Some(whole) {
                left.set(phase, whole.saturating_sub(part.unwrap_or_default()));
            }
        }
    }
    left
}
