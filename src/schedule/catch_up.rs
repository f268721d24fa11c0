//! Decides what to do with due slots, however late they are noticed.

use std::time::Duration;

use super::location_slots::LocationSlotGrid;
use super::slots::scale_hash;
use crate::domain::id::mix;
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
    pub fn decide(grid: impl Into<LocationSlotGrid>, due: Timestamp, now: Timestamp, id: MonitorId) -> Self {
        let grid = grid.into();
        let newest = grid.last_slot_started(now).max(due);
        // Under rotation the next slot of this location is more than an interval away.
        let (last, next) = match now < grid.start_deadline(newest) {
            true if newest == due => (None, due),
            true => (Some(grid.previous_slot(newest)), newest),
            false => (Some(newest), grid.next_slot_after(newest)),
        };
        let missed =
            last.map(|last| MissedSlots { first: due, last, count: grid.count_slots_between(due, next) });
        Self { missed, next_run: NextRun { planned_at: next, start_at: delayed_start(&grid, next, now, id) } }
    }
}

fn delayed_start(grid: &LocationSlotGrid, planned: Timestamp, now: Timestamp, id: MonitorId) -> Timestamp {
    let start = grid.location_start_at(planned);
    let late = now.since(start);
    if late < LATENESS_TOLERANCE {
        return start.max(now);
    }
    let left = grid.start_deadline(planned).since(now);
    let window = i64::try_from(left.min(late * 2).as_micros()).unwrap_or(i64::MAX);
    let wait = window / 4 + scale_hash(mix(DELAYED_START_SEED, id.0), window / 2);
    now + Duration::from_micros(wait.unsigned_abs())
}

/// Makes the hash of delayed starts differ from that of slots, so that monitors of one slot start at different times.
const DELAYED_START_SEED: u64 = 0x6c61_7465;
