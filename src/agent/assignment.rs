//! A monitor as assigned to an agent.

use std::sync::Arc;
use std::time::Duration;

use crate::bus::contract::AssignedMonitor;
use crate::domain::{
    CheckMetadata, CustomerId, EgressPrincipal, LocationId, MonitorId, MonitorType, Revision, Timestamp,
};
use crate::probe::{ConcurrencyClass, Probe};
use crate::schedule::{LocationRotation, LocationSlotGrid, SlotGrid};

/// A first check waits at least this long.
const MIN_FIRST_CHECK_WAIT: Duration = Duration::from_mins(1);

/// A monitor as assigned to an agent.
#[derive(Clone)]
pub struct Assignment {
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// Account that owns it.
    pub customer_id: CustomerId,
    /// Whose egress policy its connections must follow.
    pub egress_principal: EgressPrincipal,
    /// Revision of the monitor.
    pub revision: Revision,
    /// Name of the monitor.
    pub monitor_name: Arc<str>,
    /// Code of its billing plan.
    pub billing_plancode: Arc<str>,
    /// Type of the monitor.
    pub monitor_type: MonitorType,
    /// Time between two planned runs.
    pub interval: Duration,
    /// Start of the grid after 00:00 UTC, instead of the hashed slot (fields.md 3 `monitor_offset`).
    pub schedule_offset: Option<Duration>,
    /// Which of its runs are checked at this location, and when.
    pub location_rotation: LocationRotation,
    /// Time limit of one attempt.
    pub attempt_timeout: Duration,
    /// Whether a failure is retried at once.
    pub retries_failure: bool,
    /// Location of the checks.
    pub location_id: LocationId,
    /// Probe that runs.
    pub probe: Arc<dyn Probe>,
    /// Its concurrency class.
    pub concurrency_class: ConcurrencyClass,
    /// Whether checks outside of its schedule are permitted.
    pub allows_unscheduled_checks: bool,
    /// Planned time of its last run that was recorded before this process started: the runs from there to now are
    /// recorded as missed. `None` for a new monitor and for one that was disabled meanwhile.
    pub last_planned_at: Option<Timestamp>,
    /// Start of its last full page check here, if known.
    pub last_full_page_at: Option<Timestamp>,
}

impl Assignment {
    /// Creates the assignment of `assigned` at `location_id`, to be checked by a probe with its class.
    #[must_use]
    pub fn new(
        assigned: &AssignedMonitor,
        location_id: LocationId,
        (probe, concurrency_class): (Arc<dyn Probe>, ConcurrencyClass),
    ) -> Self {
        let monitor = &assigned.monitor;
        let schedule = &monitor.document.settings().schedule;
        Self {
            monitor_id: monitor.id,
            customer_id: monitor.customer,
            egress_principal: monitor.egress_principal(),
            revision: monitor.revision,
            monitor_name: monitor.name().into(),
            billing_plancode: monitor.document.billing_plancode().into(),
            monitor_type: monitor.monitor_type(),
            interval: monitor.interval(),
            schedule_offset: monitor.schedule_offset(),
            location_rotation: assigned.location_rotation,
            attempt_timeout: probe.time_limit(monitor.timeout()),
            retries_failure: schedule.retry_on_failure,
            location_id,
            probe,
            concurrency_class,
            allows_unscheduled_checks: schedule.allow_on_demand_tests,
            last_planned_at: assigned.last_planned_at,
            last_full_page_at: assigned.last_full_page_at,
        }
    }

    /// Returns its slots at this location.
    #[must_use]
    pub fn location_slot_grid(&self) -> LocationSlotGrid {
        LocationSlotGrid::new(
            SlotGrid::new(self.monitor_id, self.interval, self.schedule_offset),
            self.location_rotation,
        )
    }

    /// Returns when a first check of `planned_at` that still waits is given up: planned runs have checked it by then.
    pub(super) fn first_check_expires_at(&self, planned_at: Timestamp) -> Timestamp {
        planned_at + self.interval.max(MIN_FIRST_CHECK_WAIT)
    }

    /// Returns the metadata of its records.
    pub(super) fn check_metadata(&self) -> CheckMetadata {
        CheckMetadata {
            monitor_id: self.monitor_id,
            monitor_name: Arc::clone(&self.monitor_name),
            revision: self.revision,
            monitor_type: self.monitor_type,
            location_id: self.location_id,
        }
    }
}
