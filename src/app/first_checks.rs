//! Starts first checks: one of a monitor at each of its locations, after it was created or what it checks was changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::bus::contract::{FirstCheckOrder, LocationBus};
use crate::clock::Clock;
use crate::domain::{LocationId, Timestamp};
use crate::probe::find_descriptor;
use crate::schedule::{FirstCheck, FirstCheckQueue, NextFirstCheck, SlotGrid};
use crate::schema::Monitor;
use crate::sync::Mutex;
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// Longest that a location may take to reply: until then a first check would start.
const ORDER_TIMEOUT: Duration = Duration::from_mins(1);

/// The first checks that wait for their turn. Those that wait when the process ends are not made up for: the planned
/// runs follow.
#[derive(Default)]
pub(super) struct FirstChecks {
    queue: Mutex<FirstCheckQueue>,
    /// Wakes the task when checks were added.
    added: Notify,
}

impl FirstChecks {
    /// Adds those of `monitors` that run now, at each of `locations`; only those where a monitor is planned start one.
    pub(super) fn request(&self, monitors: &[Monitor], locations: &Arc<[LocationId]>, now: Timestamp) {
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

/// The task that starts the first checks.
pub struct FirstCheckTask {
    pub(super) first_checks: Arc<FirstChecks>,
    pub(super) bus: Arc<dyn LocationBus>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: CancellationToken,
    pub(super) heartbeat: TaskHeartbeat,
}

impl FirstCheckTask {
    async fn start_all(&self) {
        loop {
            let now = self.clock.now();
            let next = self.first_checks.queue.lock().take_next(now);
            match next {
                NextFirstCheck::Due(check) => {
                    self.heartbeat.beat();
                    let will_start = self.request_start(check).await;
                    self.first_checks.queue.lock().end_turn(check.customer_id, will_start, self.clock.now());
                }
                NextFirstCheck::DueAt(next_at) => {
                    let wait = next_at.since(now);
                    self.heartbeat.mark_idle_for(wait);
                    tokio::select! {
                        () = self.clock.sleep(wait) => {}
                        () = self.first_checks.added.notified() => {}
                        () = self.stop.cancelled() => return,
                    }
                }
                NextFirstCheck::None => {
                    self.heartbeat.mark_idle();
                    tokio::select! {
                        () = self.first_checks.added.notified() => {}
                        () = self.stop.cancelled() => return,
                    }
                }
            }
        }
    }

    /// Orders `check` at its location; returns whether it will start.
    async fn request_start(&self, check: FirstCheck) -> bool {
        let FirstCheck { monitor_id, location_id, planned_at, .. } = check;
        let order = FirstCheckOrder { monitor_id, planned_at, timeout: ORDER_TIMEOUT };
        // The location may apply many changes first.
        self.heartbeat.watch(self.bus.first_check(location_id, order)).await.unwrap_or(false)
    }
}

impl SupervisedTask for FirstCheckTask {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            self.start_all().await;
        })
    }
}
