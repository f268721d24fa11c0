//! What asks for first checks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::domain::{LocationId, Timestamp};
use crate::probe::find_descriptor;
use crate::schedule::{FirstCheckQueue, SlotGrid};
use crate::schema::Monitor;
use crate::sync::Mutex;

/// The first checks that wait for their turn. Those that wait when the process ends are not made up for: the planned
/// runs follow.
#[derive(Default)]
pub(in crate::app) struct FirstChecks {
    pub(super) queue: Mutex<FirstCheckQueue>,
    /// Wakes the task when checks were added.
    pub(super) added: Notify,
}

impl FirstChecks {
    /// Adds those of `monitors` that run now, at each of `locations`; only those where a monitor is planned start one.
    pub(in crate::app) fn request(
        &self,
        monitors: &[Monitor],
        locations: &Arc<[LocationId]>,
        now: Timestamp,
    ) {
        let mut is_added = false;
        for monitor in monitors.iter().filter(|monitor| may_have_first_check(monitor, now)) {
            let planned_at = first_check_time(monitor, now);
            self.queue.lock().push(monitor.customer, monitor.id, Arc::clone(locations), planned_at, now);
            is_added = true;
        }
        if is_added {
            self.added.notify_one();
        }
    }
}

/// Whether `monitor` is active at `now`, permits checks outside of its schedule, and this build can check it.
fn may_have_first_check(monitor: &Monitor, now: Timestamp) -> bool {
    monitor.is_active(now)
        && monitor.document.settings().schedule.allow_on_demand_tests
        && find_descriptor(monitor.monitor_type()).is_some()
}

/// Returns `now`, or a microsecond later if a run of `monitor` is planned for then: the time tells two runs apart.
fn first_check_time(monitor: &Monitor, now: Timestamp) -> Timestamp {
    let slots = SlotGrid::new(monitor.id, monitor.interval(), monitor.schedule_offset());
    if slots.last_slot_at_or_before(now) == now { now + Duration::from_micros(1) } else { now }
}
