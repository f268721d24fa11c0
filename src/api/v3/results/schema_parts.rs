//! Schemas that several parts of a result share: phases, failures.

use serde_json::{Map, Value, json};

use crate::api::v3::response_schemas::{duration_us_schema, integer_schema, named_object_schema};
use crate::domain::{FailureKind, Phase};

/// Returns the schema of a failure.
pub(super) fn failure_schema() -> Value {
    named_object_schema(
        "ResultFailure",
        &["phase", "kind", "fault", "detail"],
        json!({
            "phase": {"type": "string", "enum": Phase::ALL.map(Phase::name)},
            "kind": {"type": "string", "enum": FailureKind::ALL.iter().map(|kind| kind.label()).collect::<Vec<_>>()},
            "fault": {"type": "string", "enum": ["target", "network", "ours"]},
            "detail": {"type": "string"},
            "part": integer_schema("Status code of the part that failed, such as an object of a page"),
        }),
    )
}

pub(super) fn phases_schema() -> Value {
    let phases: Map<String, Value> = Phase::ALL
        .iter()
        .map(|phase| (phase.key().to_owned(), duration_us_schema("How long the phase took")))
        .collect();
    named_object_schema("ResultPhases", &[], Value::Object(phases))
}
