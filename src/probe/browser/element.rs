//! How long an element is looked for, and the failure of one that is not found.

use std::time::Duration;

use super::ask::Found;
use super::naming;
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::dialect::ElementTarget;

/// How long an element is looked for, where the act does not say.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The failure of an element that was looked for in vain.
pub(super) fn not_found(found: &Found, target: &ElementTarget) -> Failure {
    let of =
        |kind, why: String| Failure::new(Phase::Play, kind, format!("{}: {why}", naming::target(target)));
    match found {
        Found::Weak(count) => {
            of(FailureKind::ElementWeak, format!("the best of them matches {count} elements"))
        }
        Found::OtherState | Found::Yes(_) => {
            of(FailureKind::BrowserEventTimedOut, "it is there, and cannot be seen or used".to_owned())
        }
        Found::No => of(FailureKind::ElementMissing, "nothing on the page matches".to_owned()),
    }
}
