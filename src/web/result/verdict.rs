//! What a result says, in sentences.

use crate::domain::{CheckResult, CheckTrigger, Location, LocationId, Outcome, Status, Verification};
use crate::service::result_view::format_duration;
use crate::texts::{Locale, key};

/// Tells that a result is that of a first check.
const FIRST_CHECK_NOTE: &str = key(
    "This is a first check: it ran since the monitor was created, or what it checks was changed. It opens no outage, and reports leave it out.",
);
/// Tells that a result is that of a check on demand.
const ON_DEMAND_NOTE: &str =
    key("This check ran because somebody asked for it. It opens no outage, and reports leave it out.");

/// Returns the name of the location `id`.
pub(in crate::web) fn location_name(locations: &[Location], id: LocationId, t: Locale) -> String {
    let found = locations.iter().find(|location| location.id == id);
    found
        .map_or_else(|| t.fill("location {id}", &[("id", &id.to_string())]), |location| location.name.clone())
}

/// Returns which monitors suppress the error of `result`; empty when none does.
pub(in crate::web) fn suppression_text(result: &CheckResult, t: Locale) -> String {
    let ids: Vec<String> = result.suppressed_by.iter().map(ToString::to_string).collect();
    match ids.as_slice() {
        [] => String::new(),
        [id] => t.fill("suppressed: monitor {id} is down", &[("id", id)]),
        _ => t.fill("suppressed: monitors {ids} are down", &[("ids", &ids.join(", "))]),
    }
}

/// Returns what happened, in one sentence.
pub(super) fn verdict_sentence(result: &CheckResult, t: Locale) -> String {
    let duration = t.decimal(format_duration(result.duration_us));
    if let Some(missed) = &result.missed {
        let (count, time) = (missed.run_count.to_string(), t.zoned_time(missed.last_planned_at));
        let text = match missed.run_count {
            1 => key("{count} planned run did not happen: {reason}"),
            _ => key("{count} planned runs, the last at {time}, did not happen: {reason}"),
        };
        let reason = t.text(missed.reason.describe());
        return t.fill(text, &[("count", &count), ("time", &time), ("reason", reason)]);
    }
    let reason = result.reasons.first().map_or(result.status_text.as_str(), String::as_str);
    let text = match result.outcome {
        Outcome::Ok => key("The check passed in {duration}"),
        Outcome::Warning => key("The check passed with a warning in {duration}: {reason}"),
        Outcome::Error => key("The check failed after {duration}: {reason}"),
        Outcome::Unknown => key("Vigie could not tell: {reason}"),
        Outcome::Missed => key("The run did not happen: {reason}"),
        Outcome::Blackout => key("The check did not run: a blackout applied"),
    };
    t.fill(text, &[("duration", &duration), ("reason", reason)])
}

/// Returns what else has to be known about `result`.
pub(super) fn verdict_notes(result: &CheckResult, locations: &[Location], t: Locale) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(verification) = &result.verification {
        notes.push(verification_sentence(verification, locations, t));
    }
    if !result.suppressed_by.is_empty() {
        notes.push(t.fill(
            "This error opens no outage, {suppression}.",
            &[("suppression", &suppression_text(result, t))],
        ));
    }
    match result.trigger {
        CheckTrigger::Schedule => {}
        CheckTrigger::First => notes.push(t.text(FIRST_CHECK_NOTE).to_owned()),
        CheckTrigger::OnDemand => notes.push(t.text(ON_DEMAND_NOTE).to_owned()),
    }
    notes
}

/// Returns what a second location found.
fn verification_sentence(verification: &Verification, locations: &[Location], t: Locale) -> String {
    let place = verification.location_id.map(|id| location_name(locations, id, t));
    let place = place.map_or_else(
        || t.text("Another location").to_owned(),
        |name| t.fill("{location} checked again and", &[("location", &name)]),
    );
    let time = t.zoned_time(verification.completed_at);
    let (text, status) = match (verification.status, verification.recheck_status) {
        (status @ Status::VERIFICATION_NO_ERROR, _) => {
            (key("{place} found no error at {time}, so this is a warning."), status)
        }
        (Status::VERIFICATION_CONFIRMED, Some(found)) => {
            (key("{place} confirmed the error at {time}: {status}: {meaning}."), found)
        }
        (status, _) => (key("The error could not be verified elsewhere ({status}: {meaning})."), status),
    };
    let (code, meaning) = (status.to_string(), status.text());
    t.fill(text, &[("place", &place), ("time", &time), ("status", &code), ("meaning", meaning)])
}
