//! How long an element is looked for, and the failure of one that is not found.

use std::time::Duration;

use super::describe;
use super::dom::ElementLookup;
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::language::ElementTarget;

/// How long an element is looked for, where the act does not say.
pub(super) const ELEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The failure of an element that was looked for in vain.
pub(super) fn element_failure(found: &ElementLookup, target: &ElementTarget) -> Failure {
    let of = |kind, reason: String| {
        Failure::new(Phase::Play, kind, format!("{}: {reason}", describe::describe_target(target)))
    };
    match found {
        ElementLookup::Ambiguous(count) => {
            of(FailureKind::ElementWeak, format!("the best of them matches {count} elements"))
        }
        ElementLookup::WrongState | ElementLookup::Match(_) => {
            of(FailureKind::BrowserEventTimedOut, "it is there, and cannot be seen or used".to_owned())
        }
        ElementLookup::NotFound => of(FailureKind::ElementMissing, "nothing on the page matches".to_owned()),
    }
}
