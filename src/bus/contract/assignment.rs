//! What a location is to check. It starts with a snapshot, and then applies batches in the order of their revisions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::domain::{CustomerId, MonitorId, Revision, Timestamp};
use crate::schedule::{BlackoutCalendar, LocationMembers, LocationRotation};
use crate::schema::Monitor;

/// Position in the sequence of changes of one location. The first is [`AssignmentRevision::EMPTY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssignmentRevision(pub u64);

impl AssignmentRevision {
    /// The revision at which nothing is assigned yet, of a location that has just connected.
    pub const EMPTY: Self = Self(0);

    /// Returns the next revision.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl fmt::Display for AssignmentRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A monitor to be checked at a location. The location builds its probe.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignedMonitor {
    /// The validated monitor with its secrets: its revision, account, origin and fields.
    pub monitor: Monitor,
    /// Which of its runs are checked at the location, and when.
    pub location_rotation: LocationRotation,
    /// Days before a certificate expires at which its account is warned; `None` when the account cannot be read: then
    /// the settings of the location apply.
    pub certificate_warning_days: Option<u32>,
    /// Planned time of its last run that was recorded before the location started: the runs from there to now are
    /// recorded as missed. `None` for a new monitor and for one that was disabled meanwhile.
    pub last_planned_at: Option<Timestamp>,
    /// Start of its last full page check there, if known.
    pub last_full_page_at: Option<Timestamp>,
}

impl AssignedMonitor {
    /// Creates the assignment of a monitor whose earlier runs are not known.
    #[must_use]
    pub fn new(monitor: Monitor, certificate_warning_days: Option<u32>) -> Self {
        Self {
            monitor,
            location_rotation: LocationRotation::default(),
            certificate_warning_days,
            last_planned_at: None,
            last_full_page_at: None,
        }
    }

    /// Returns the longest that one check may take: its attempts one after the other.
    #[must_use]
    pub fn max_check_duration(&self) -> Duration {
        let attempts = 1 + u32::from(self.monitor.document.settings().schedule.retry_on_failure);
        self.monitor.max_attempt_duration() * attempts
    }
}

/// What a location needs of an account.
#[derive(Clone, Debug)]
pub struct AssignedAccount {
    /// Id of the account.
    pub customer_id: CustomerId,
    /// Its blackouts, looked up before each check.
    pub blackout_calendar: Arc<BlackoutCalendar>,
}

/// A certificate that checks may use.
#[derive(Clone)]
pub struct AssignedCertificate {
    /// Id, to which the fields of monitors refer.
    pub id: i64,
    /// Account that owns it.
    pub customer_id: CustomerId,
    /// Name, for messages.
    pub name: String,
    /// Whether it is a client certificate with its key, rather than an authority.
    pub is_client: bool,
    /// Certificates, and the key of a client certificate, as PEM.
    pub pem: Arc<Zeroizing<Vec<u8>>>,
}

/// Leaves the key out.
impl fmt::Debug for AssignedCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssignedCertificate")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// One change of what a location checks.
#[derive(Clone, Debug)]
pub enum AssignmentUpdate {
    /// Plans a monitor, or updates it to a new revision. A running check of the old revision is not interrupted.
    Assign(AssignedMonitor),
    /// Removes a monitor from the plan.
    Unassign {
        /// Id of the monitor.
        monitor_id: MonitorId,
        /// Whether its running check is cancelled too; its result is delivered in any case.
        cancel_running: bool,
    },
    /// Sets the current data of an account.
    SetAccount(AssignedAccount),
    /// Replaces all certificates of accounts.
    SetCertificates(Arc<[AssignedCertificate]>),
    /// Sets the agents that share the monitors of the location. Only for locations with agents on other hosts.
    SetMembers(LocationMembers),
}

/// Changes that lead from one revision to another.
#[derive(Clone, Debug)]
pub struct AssignmentBatch {
    /// The revision that it changes.
    pub previous_revision: AssignmentRevision,
    /// The revision after it.
    pub revision: AssignmentRevision,
    /// The changes, in their order.
    pub updates: Vec<AssignmentUpdate>,
}

/// Everything that a location is to check at a revision.
#[derive(Clone, Debug)]
pub struct AssignmentSnapshot {
    /// The revision that it shows.
    pub revision: AssignmentRevision,
    /// What is assigned. Monitors that it does not name are not planned.
    pub updates: Vec<AssignmentUpdate>,
}

/// A monitor that a location cannot check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAssignment {
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// The refused revision.
    pub revision: Revision,
    /// What went wrong.
    pub error: String,
}

/// Why a location did not apply a batch or snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// The location lacks revisions before the batch, and needs a snapshot.
    #[error("the location has revision {applied}, but the changes follow revision {required}")]
    MissedRevisions {
        /// The revision that it has.
        applied: AssignmentRevision,
        /// The revision that the batch changes.
        required: AssignmentRevision,
    },
    /// The agent is shutting down.
    #[error("the agent of the location is shutting down")]
    Stopped,
}
