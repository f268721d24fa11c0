//! What is known of the monitors that another one depends on (behaviour.md 6, Dependencies).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{MonitorId, Timestamp};

/// How long an episode waits for the checks of the parents.
pub const PARENT_CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// A monitor that another one depends on, as far as it may suppress errors: known, active and in no blackout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentState {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Whether it has an open episode, or its own errors are suppressed.
    pub is_down: bool,
    /// Planned time of its last resolved run; `None` when that had no conclusive result.
    pub last_run_at: Option<Timestamp>,
}

/// The suppression of the last failing run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suppression {
    /// The parents that suppress it.
    pub(super) suppressed_by: Vec<MonitorId>,
    /// Planned time of the first of these consecutive runs, while only checks outside of the schedule suppress them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) only_by_checks_since: Option<Timestamp>,
}

/// Checks of the parents of a failing run that were requested. Not stored: after a restart they are requested again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PendingParentCheck {
    /// When to decide with what is known.
    pub(super) deadline: Timestamp,
    /// The parents whose check failed, once known.
    pub(super) failed_parents: Option<Vec<MonitorId>>,
}
