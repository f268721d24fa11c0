//! One monitor as an agent runs it.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::{CheckMetadata, CustomerId, LocationId, MonitorId, MonitorType, Revision, Timestamp};
use crate::probe::{Probe, Weight};
use crate::schedule::{LocationRotation, LocationSlots, Slots};

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
    pub share: LocationRotation,
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
    pub fn grid(&self) -> LocationSlots {
        LocationSlots::new(Slots::new(self.monitor_id, self.interval, self.offset), self.share)
    }

    /// What its records are of.
    pub(super) fn check_of(&self) -> CheckMetadata {
        CheckMetadata {
            monitor_id: self.monitor_id,
            monitor_name: Arc::clone(&self.name),
            revision: self.revision,
            monitor_type: self.kind,
            location_id: self.location,
        }
    }
}
