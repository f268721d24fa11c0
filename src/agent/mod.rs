//! Attempts, local retry, limits and the runner. Knows no store, no bus and no API: monitors come in and
//! results go out through the doors here.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::{
    CheckOf, CheckResult, CustomerId, LocationId, MonitorId, MonitorType, Revision, Timestamp,
};
use crate::probe::{Probe, Weight};
use crate::schedule::{Grid, Part, Slots};

mod agenda;
mod attempt;
mod backlog;
mod check;
mod connectivity;
mod gate;
mod handle;
mod pulse;
mod runner;

pub use attempt::{FullPages, Place, attempt};
pub use check::{check, silenced};
pub use connectivity::Connectivity;
pub use gate::Limits;
pub use handle::{Change, OrderError, RunnerHandle, Snapshot, Stopped};
pub use pulse::Pulse;
pub use runner::start;

/// One monitor as an agent runs it.
#[derive(Clone)]
pub struct Assignment {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Whose it is.
    pub customer: CustomerId,
    /// Its version.
    pub revision: Revision,
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub kind: MonitorType,
    /// Time between two planned runs.
    pub interval: Duration,
    /// Start of the grid after 00:00 UTC, instead of the hash slot (fields.md 3 `monitor_offset`).
    pub offset: Option<Duration>,
    /// Which of its runs are checked here, and when.
    pub part: Part,
    /// Bound of one attempt as a whole.
    pub timeout: Duration,
    /// Whether a failure is tried again at once.
    pub retry: bool,
    /// Where it runs.
    pub location: LocationId,
    /// What is run.
    pub probe: Arc<dyn Probe>,
    /// Its weight class.
    pub weight: Weight,
    /// Planned time of its last run that was recorded, before this process started: the runs from there to
    /// now are recorded as missed. `None` for a new monitor and for one that was disabled meanwhile.
    pub last_planned_at: Option<Timestamp>,
    /// Start of its last full page check here, as far as it is known.
    pub full_page_at: Option<Timestamp>,
}

impl Assignment {
    /// Its slots at this location.
    #[must_use]
    pub fn grid(&self) -> Grid {
        Grid::new(Slots::new(self.monitor_id, self.interval, self.offset), self.part)
    }

    /// What its records are of.
    fn checked(&self) -> CheckOf {
        CheckOf {
            monitor_id: self.monitor_id,
            monitor_name: Arc::clone(&self.name),
            revision: self.revision,
            kind: self.kind,
            location_id: self.location,
        }
    }
}

/// Knows the Monitor blackouts (behaviour.md 6). Asked before every planned check, so it answers from memory.
pub trait Silence: Send + Sync + 'static {
    /// Why no check of the monitor is made at `at`; `None` when one is.
    fn rests(&self, assignment: &Assignment, at: Timestamp) -> Option<String>;
}

/// Where results go. `deliver` waits while the receiver is full; what it took is the receiver's to keep.
pub trait ResultSink: Send + Sync + 'static {
    /// Hands over one result.
    fn deliver(&self, result: CheckResult) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
