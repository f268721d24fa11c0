//! The failure of an element that is not found, and how long elements are looked for.

use std::time::Duration;

use super::descriptions;
use super::dom::ElementLookup;
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::language::ElementTarget;

/// How long an element is looked for when the action sets no timeout.
pub(super) const DEFAULT_ELEMENT_WAIT: Duration = Duration::from_secs(10);

/// Returns the failure of an element that was not found.
pub(super) fn element_lookup_failure(lookup: &ElementLookup, target: &ElementTarget) -> Failure {
    let failure = |kind, reason: String| {
        Failure::new(Phase::RunScript, kind, format!("{}: {reason}", descriptions::describe_target(target)))
    };
    match lookup {
        ElementLookup::Ambiguous(count) => {
            failure(FailureKind::ElementAmbiguous, format!("the best of them matches {count} elements"))
        }
        ElementLookup::WrongState | ElementLookup::Match(_) => {
            failure(FailureKind::StepTimedOut, "it exists, but is not visible or enabled".to_owned())
        }
        ElementLookup::NotFound => {
            failure(FailureKind::ElementMissing, "nothing on the page matches".to_owned())
        }
    }
}
