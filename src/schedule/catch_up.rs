//! Decides what to do with due slots, however late they are noticed.

use std::time::Duration;

use super::location_slot_grid::LocationSlotGrid;
use super::slot_grid::scale_hash;
use crate::domain::id::mix_hash;
use crate::domain::{MonitorId, Timestamp};

/// A run that starts less than this after its planned time counts as on time. A longer delay means that the process was
/// suspended or stopped, or that the wall clock was stepped forward.
pub const LATENESS_TOLERANCE: Duration = Duration::from_secs(1);

/// Consecutive slots that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedSlots {
    /// Planned time of the oldest of them.
    pub first: Timestamp,
    /// Planned time of the newest of them.
    pub last: Timestamp,
    /// Number of slots, at least 1.
    pub count: u64,
}

/// The next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRun {
    /// Its planned time.
    pub planned_at: Timestamp,
    /// When to start it: at its start at this location, or later when that has passed.
    pub start_at: Timestamp,
}

/// What happens to the slots that are due and not yet handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatchUp {
    /// Slots whose whole interval has passed, as one series.
    pub missed: Option<MissedSlots>,
    /// The newest due slot whose interval has not passed, or else the next future slot.
    pub next_run: NextRun,
}

impl CatchUp {
    /// Decides for a monitor with the slots of `location_grid`; `oldest_open_slot` is the oldest not handled yet.
    ///
    /// A run with ordinary lateness starts at once. After a stall the newest slot still runs within its interval, at a
    /// time derived from the monitor's hash: between a quarter and three quarters of the rest of the interval, or of
    /// twice its lateness if that is less. So all monitors together start at no more than about three times their
    /// ordinary rate, and a short hiccup delays no run for long.
    #[must_use]
    pub fn decide(
        location_grid: impl Into<LocationSlotGrid>,
        oldest_open_slot: Timestamp,
        now: Timestamp,
        monitor_id: MonitorId,
    ) -> Self {
        let location_grid = location_grid.into();
        let newest_started = location_grid.last_slot_started(now).max(oldest_open_slot);
        // Under rotation the next slot of this location is more than an interval away.
        let (last_missed, next_slot) = match now < location_grid.start_deadline(newest_started) {
            true if newest_started == oldest_open_slot => (None, oldest_open_slot),
            true => (Some(location_grid.previous_slot(newest_started)), newest_started),
            false => (Some(newest_started), location_grid.next_slot_after(newest_started)),
        };
        let missed = last_missed.map(|last_missed| MissedSlots {
            first: oldest_open_slot,
            last: last_missed,
            count: location_grid.count_slots_between(oldest_open_slot, next_slot),
        });
        Self {
            missed,
            next_run: NextRun {
                planned_at: next_slot,
                start_at: delayed_start(&location_grid, next_slot, now, monitor_id),
            },
        }
    }
}

/// Returns when to start the run: as planned or now, or later after a stall (see [`CatchUp::decide`]).
fn delayed_start(
    location_grid: &LocationSlotGrid,
    planned_at: Timestamp,
    now: Timestamp,
    monitor_id: MonitorId,
) -> Timestamp {
    let start = location_grid.location_start_at(planned_at);
    let lateness = now.since(start);
    if lateness < LATENESS_TOLERANCE {
        return start.max(now);
    }
    let remaining = location_grid.start_deadline(planned_at).since(now);
    let delay_window_us = i64::try_from(remaining.min(lateness * 2).as_micros()).unwrap_or(i64::MAX);
    let delay_us =
        delay_window_us / 4 + scale_hash(mix_hash(DELAYED_START_SEED, monitor_id.0), delay_window_us / 2);
    now + Duration::from_micros(delay_us.unsigned_abs())
}

/// Makes the hash of delayed starts differ from that of slots, so that monitors of one slot start at different times.
const DELAYED_START_SEED: u64 = 0x6c61_7465;
