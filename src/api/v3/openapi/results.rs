//! The schema of a check result, as behaviour.md 9 shows it and `CheckResult` is written.

use serde_json::{Map, Value, json};

use crate::model::{FailureKind, MissedReason, MonitorType, Outcome, Phase};

/// The name of the schema.
pub(super) const RESULT: &str = "CheckResult";

/// A reference to the schema of a result, for the operations that answer some.
pub(in super::super) fn result_reference() -> Value {
    json!({"$ref": format!("#/components/schemas/{RESULT}")})
}

/// The schema.
pub(super) fn result() -> Value {
    let outcomes: Vec<_> = Outcome::ALL.iter().map(ToString::to_string).collect();
    let kinds: Vec<_> = MonitorType::ALL.iter().map(|kind| kind.name()).collect();
    json!({
        "title": RESULT,
        "description": "One check: a run of a monitor at one location. What is not known is left out",
        "type": "object",
        "properties": {
            "check_id": {"type": "string", "pattern": "^[0-9a-f]+$", "description": "Its key"},
            "run_id": {"type": "string", "pattern": "^[0-9a-f]+$", "description": "The run that it belongs to"},
            "monitor_id": {"type": "integer", "description": "The monitor"},
            "monitor_name": {"type": "string", "description": "Its name when the check ran"},
            "revision": {"type": "integer", "description": "Its version that ran"},
            "type": {"type": "string", "enum": kinds, "description": "Its type"},
            "location_id": {"type": "integer", "description": "Where the check ran"},
            "planned_at": time("When the run was due"),
            "started_at": time("When the first attempt began; of a missed run, when that was found out"),
            "outcome": {"type": "string", "enum": outcomes, "description": "What it came to"},
            "status": {"type": "integer", "description": "Status code; 0 is ok"},
            "warning_status": {"type": "integer", "description": "Status code of the reservation of a warning"},
            "status_text": {"type": "string", "description": "The status code in words"},
            "reasons": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Why, the deciding reason first",
            },
            "total_us": micros("From the start of the first attempt to the end of the last"),
            "address": {"type": "string", "description": "The peer of the last attempt"},
            "attempts": {"type": "array", "items": attempt(), "description": "The tries, in their order"},
            "facts": {"type": "object", "description": "What the last attempt learned; it differs by type"},
            "missed": missed(),
            "steps": {"type": "array", "items": {"type": "object"}, "description": "Steps of the type"},
            "captures": {"type": "array", "items": capture(), "description": "Files that were kept"},
        },
        "required": [
            "check_id", "run_id", "monitor_id", "monitor_name", "revision", "type", "location_id", "planned_at",
            "started_at", "outcome", "status", "status_text", "reasons", "total_us", "attempts", "facts",
        ],
        "additionalProperties": false,
    })
}

fn time(about: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": about})
}

fn micros(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": format!("{about}, in microseconds")})
}

fn attempt() -> Value {
    let phases: Map<String, Value> =
        Phase::ALL.iter().map(|phase| (phase.key().to_owned(), micros("Time in the phase"))).collect();
    let kinds: Vec<_> = FailureKind::ALL.iter().map(|kind| kind.label()).collect();
    let names: Vec<_> = Phase::ALL.iter().map(|phase| phase.name()).collect();
    json!({
        "type": "object",
        "properties": {
            "number": {"type": "integer", "minimum": 1, "description": "1, or 2 for the retry"},
            "started_at": time("When it began"),
            "total_us": micros("How long it took"),
            "phases": {"type": "object", "properties": phases, "additionalProperties": false},
            "failure": {
                "type": "object",
                "description": "Why it failed; left out when it passed",
                "properties": {
                    "phase": {"type": "string", "enum": names},
                    "kind": {"type": "string", "enum": kinds},
                    "fault": {"type": "string", "enum": ["target", "network", "ours"]},
                    "detail": {"type": "string"},
                },
                "required": ["phase", "kind", "fault", "detail"],
            },
            "warnings": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"kind": {"type": "string"}, "detail": {"type": "string"}},
                    "required": ["kind", "detail"],
                },
            },
        },
        "required": ["number", "started_at", "total_us", "phases"],
        "additionalProperties": false,
    })
}

fn missed() -> Value {
    let reasons: Vec<_> = MissedReason::ALL.iter().map(|reason| reason.label()).collect();
    json!({
        "type": "object",
        "description": "Runs that did not happen, for one reason, as one record",
        "properties": {
            "reason": {"type": "string", "enum": reasons},
            "slots": {"type": "integer", "minimum": 1, "description": "How many runs"},
            "last_planned_at": time("When the last of them was due"),
        },
        "required": ["reason", "slots", "last_planned_at"],
        "additionalProperties": false,
    })
}

fn capture() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Its name in `/results/{id}/captures/{name}`"},
            "mimetype": {"type": "string"},
            "bytes": {"type": "integer", "minimum": 0},
        },
        "required": ["name", "mimetype", "bytes"],
    })
}
