//! What to do with slots that have come due, however late that is noticed.

use std::time::Duration;

use super::location_slots::LocationSlots;
use super::slots::scale_hash;
use crate::domain::id::mix;
use crate::domain::{MonitorId, Timestamp};

/// A run that starts less than this after its planned time is on time for all purposes; more means that the
/// process was suspended or stopped, or that the wall clock was stepped forward.
pub const LATENESS_TOLERANCE: Duration = Duration::from_secs(1);

/// Consecutive slots that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedSlots {
    /// The oldest of them.
    pub first: Timestamp,
    /// The newest of them.
    pub last: Timestamp,
    /// How many, at least 1.
    pub count: u64,
}

/// The run that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRun {
    /// Its planned time.
    pub planned_at: Timestamp,
    /// When to start it: its own start, or later when that has passed.
    pub start_at: Timestamp,
}

/// What becomes of the slots from `due` to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatchUp {
    /// Slots whose whole interval has passed, as one series.
    pub missed: Option<MissedSlots>,
    /// The newest slot that came due and whose interval lasts, or the first that lies ahead.
    pub next_run: NextRun,
}

impl CatchUp {
    /// Decides for monitor `id` on `grid`, whose oldest slot not yet accounted for is `due`.
    ///
    /// Ordinary lateness starts at once. After a pause the newest slot still runs within its interval, at a
    /// time that follows from the monitor's hash: between a quarter and three quarters of what is left of
    /// the interval, or of twice its lateness where that is less. All monitors together then start at no
    /// more than about three times their ordinary rate, and a short hiccup delays nobody for long.
    #[must_use]
    pub fn decide(grid: impl Into<LocationSlots>, due: Timestamp, now: Timestamp, id: MonitorId) -> Self {
        let grid = grid.into();
        let newest = grid.last_started(now).max(due);
        // Under rotation it is more than an interval to the next slot of this location.
        let (last, next) = match now < grid.start_deadline(newest) {
            true if newest == due => (None, due),
            true => (Some(grid.previous(newest)), newest),
            false => (Some(newest), grid.next_after(newest)),
        };
        let missed = last.map(|last| MissedSlots { first: due, last, count: grid.slots_between(due, next) });
        Self { missed, next_run: NextRun { planned_at: next, start_at: late_start(&grid, next, now, id) } }
    }
}

fn late_start(grid: &LocationSlots, planned: Timestamp, now: Timestamp, id: MonitorId) -> Timestamp {
    let start = grid.start_at(planned);
    let late = now.since(start);
    if late < LATENESS_TOLERANCE {
        return start.max(now);
    }
    let left = grid.start_deadline(planned).since(now);
    let window = i64::try_from(left.min(late * 2).as_micros()).unwrap_or(i64::MAX);
    let wait = window / 4 + scale_hash(mix(LATE_SEED, id.0), window / 2);
    now + Duration::from_micros(wait.unsigned_abs())
}

/// Sets the hash of late starts apart from that of slots: monitors of one slot must not stay together.
const LATE_SEED: u64 = 0x6c61_7465;
