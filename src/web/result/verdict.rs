//! What a result says, in sentences.

use crate::domain::{CheckResult, CheckTrigger, Location, LocationId, Outcome, Status, Verification};
use crate::service::result_view::{format_duration, suppression_text};
use crate::texts::Locale;

/// Tells that a result is that of a first check.
const FIRST_CHECK_NOTE: &str = "This is a first check: it ran since the monitor was created, or what it checks was changed. It opens no outage, and reports leave it out.";
/// Tells that a result is that of a check on demand.
const ON_DEMAND_NOTE: &str =
    "This check ran because somebody asked for it. It opens no outage, and reports leave it out.";

/// Returns the name of the location `id`.
pub(in crate::web) fn location_name(locations: &[Location], id: LocationId) -> String {
    let found = locations.iter().find(|location| location.id == id);
    found.map_or_else(|| format!("location {id}"), |location| location.name.clone())
}

/// Returns what happened, in one sentence.
pub(super) fn verdict_sentence(result: &CheckResult, t: Locale) -> String {
    let duration = format_duration(result.duration_us);
    if let Some(missed) = &result.missed {
        let runs = match missed.run_count {
            1 => "1 planned run did".to_owned(),
            count => {
                format!("{count} planned runs, the last at {}, did", t.zoned_time(missed.last_planned_at))
            }
        };
        return format!("{runs} not happen: {}", missed.reason.describe());
    }
    let reason = result.reasons.first().map_or(result.status_text.as_str(), String::as_str);
    match result.outcome {
        Outcome::Ok => format!("The check passed in {duration}"),
        Outcome::Warning => format!("The check passed with a warning in {duration}: {reason}"),
        Outcome::Error => format!("The check failed after {duration}: {reason}"),
        Outcome::Unknown => format!("Vigie could not tell: {reason}"),
        Outcome::Missed => format!("The run did not happen: {reason}"),
        Outcome::Blackout => "The check did not run: a blackout applied".to_owned(),
    }
}

/// Returns what else has to be known about `result`.
pub(super) fn verdict_notes(result: &CheckResult, locations: &[Location], t: Locale) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(verification) = &result.verification {
        notes.push(verification_sentence(verification, locations, t));
    }
    if !result.suppressed_by.is_empty() {
        notes.push(format!("This error opens no outage, {}.", suppression_text(result)));
    }
    match result.trigger {
        CheckTrigger::Schedule => {}
        CheckTrigger::First => notes.push(FIRST_CHECK_NOTE.to_owned()),
        CheckTrigger::OnDemand => notes.push(ON_DEMAND_NOTE.to_owned()),
    }
    notes
}

/// Returns what a second location found.
fn verification_sentence(verification: &Verification, locations: &[Location], t: Locale) -> String {
    let place = verification.location_id.map(|id| location_name(locations, id));
    let place =
        place.map_or_else(|| "Another location".to_owned(), |name| format!("{name} checked again and"));
    let at = t.zoned_time(verification.completed_at);
    match (verification.status, verification.recheck_status) {
        (Status::VERIFICATION_NO_ERROR, _) => {
            format!("{place} found no error at {at}, so this is a warning.")
        }
        (Status::VERIFICATION_CONFIRMED, Some(found)) => {
            format!("{place} confirmed the error at {at}: {found}: {}.", found.text())
        }
        (status, _) => format!("The error could not be verified elsewhere ({status}: {}).", status.text()),
    }
}
