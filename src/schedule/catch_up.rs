//! What to do with slots that have come due, however late that is noticed.

use std::time::Duration;

use super::Slots;
use super::slots::share;
use crate::model::{MonitorId, Timestamp, id::mix};

/// A run that starts less than this after its planned time is on time for all purposes; more means that the
/// process was suspended or stopped, or that the wall clock was stepped forward.
pub const ORDINARY_LATENESS: Duration = Duration::from_secs(1);

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
    /// When to start it: its planned time, or later when that has passed.
    pub start_at: Timestamp,
}

/// What becomes of the slots from `due` to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatchUp {
    /// Slots whose whole interval has passed, as one series.
    pub missed: Option<MissedSlots>,
    /// The newest slot that came due, or `due` itself when it lies ahead.
    pub next: NextRun,
}

impl CatchUp {
    /// Decides for monitor `id`, whose oldest slot not yet accounted for is `due`.
    ///
    /// Ordinary lateness starts at once. After a pause the newest slot still runs within its interval, at a
    /// time that follows from the monitor's hash: between a quarter and three quarters of what is left of
    /// the interval, or of twice its lateness where that is less. All monitors together then start at no
    /// more than about three times their ordinary rate, and a short hiccup delays nobody for long.
    #[must_use]
    pub fn decide(slots: &Slots, due: Timestamp, now: Timestamp, id: MonitorId) -> Self {
        let newest = slots.last_at_or_before(now);
        if newest <= due {
            return Self {
                missed: None,
                next: NextRun { planned_at: due, start_at: late_start(slots, due, now, id) },
            };
        }
        let missed = MissedSlots {
            first: due,
            last: slots.last_at_or_before(newest - Duration::from_micros(1)),
            count: slots.slots_between(due, newest),
        };
        let next = NextRun { planned_at: newest, start_at: late_start(slots, newest, now, id) };
        Self { missed: Some(missed).filter(|missed| missed.count > 0), next }
    }
}

fn late_start(slots: &Slots, planned: Timestamp, now: Timestamp, id: MonitorId) -> Timestamp {
    let late = now.since(planned);
    if late < ORDINARY_LATENESS {
        return planned.max(now);
    }
    let left = (planned + slots.interval()).since(now);
    let window = i64::try_from(left.min(late * 2).as_micros()).unwrap_or(i64::MAX);
    let wait = window / 4 + share(mix(LATE_SEED, id.0), window / 2);
    now + Duration::from_micros(wait.unsigned_abs())
}

/// Sets the hash of late starts apart from that of slots: monitors of one slot must not stay together.
const LATE_SEED: u64 = 0x6c61_7465;
