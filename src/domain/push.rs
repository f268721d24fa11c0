//! Pushes: a job, or a client made for another monitoring service, reports its own state.

use super::id::{CustomerId, MonitorId};
use super::time::Timestamp;

/// What a push says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PushStatus {
    /// It works.
    Up,
    /// It failed.
    Down,
    /// A job has started; its end follows.
    Started,
}

impl PushStatus {
    /// Every status with its name in a request.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Up, "up"), (Self::Down, "down"), (Self::Started, "start")];

    /// Returns the name in a request.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }

    /// Returns the status with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, status_name)| *status_name == name).map(|(status, _)| *status)
    }
}

/// One push.
#[derive(Clone, Debug, PartialEq)]
pub struct Push {
    /// What it says.
    pub status: PushStatus,
    /// When it arrived.
    pub received_at: Timestamp,
    /// A short text of the sender; empty without one.
    pub message: String,
    /// A duration that the sender measured, in microseconds.
    pub duration_us: Option<u64>,
    /// Exit code of the job.
    pub exit_code: Option<i32>,
    /// Last lines that the job printed; empty without them.
    pub output: String,
}

/// The pushes of a monitor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushState {
    /// The last push that says whether it works.
    pub last: Option<Push>,
    /// When the running job started; `None` once its end was pushed.
    pub started_at: Option<Timestamp>,
    /// When the token was made, from when on pushes are awaited.
    pub token_created_at: Option<Timestamp>,
}

/// The monitor that a push token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushMonitor {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its account.
    pub customer_id: CustomerId,
}
