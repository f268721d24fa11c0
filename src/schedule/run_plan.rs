//! Where and when each run of a monitor is checked: a pure function of its version and the planned time, so
//! that every location and the control plane come to the same answer without asking each other (behaviour.md 5).

use std::time::Duration;

use super::location_slots::LocationRotation;
use super::location_slots::{rotation_start, run_number, stagger_delay};
use super::slots::Slots;
use crate::domain::{LocationId, Timestamp};

/// A monitor's runs over its locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Planned times of its runs, common to all locations.
    pub slots: Slots,
    /// Its pool, the home location first; never empty, no location twice.
    pub pool: Vec<LocationId>,
    /// How many of them check one run, 1 to all.
    pub locations_per_run: usize,
    /// Whether each run takes the next `per_run` of the pool, cycling.
    pub rotates: bool,
    /// Whether location i of n starts i × interval ÷ n after the planned time (Round Robin).
    pub staggered: bool,
    /// The longest that a check may take from its start: that of one attempt, twice with a retry.
    pub max_check_duration: Duration,
}

/// Grace after the last deadline of a run, in which answers may still come (behaviour.md 5 "settled").
const SETTLE_GRACE: Duration = Duration::from_mins(1);

impl RunPlan {
    /// The part that `location` has in the runs; `None` when it never checks one.
    #[must_use]
    pub fn location_rotation(&self, location: LocationId) -> Option<LocationRotation> {
        LocationRotation::new(
            self.position(location)?,
            self.pool.len(),
            self.locations_per_run(),
            self.rotates,
            self.staggered,
        )
    }

    /// The locations that check the run planned at `planned_at`, in their order.
    #[must_use]
    pub fn expected_locations(&self, planned_at: Timestamp) -> Vec<LocationId> {
        let first = self.rotation_start(planned_at);
        self.pool
            .iter()
            .cycle()
            .skip(first)
            .take(self.locations_per_run().min(self.pool.len()))
            .copied()
            .collect()
    }

    /// When `location` starts its check of the run planned at `planned_at`; `None` when it has no part in it.
    #[must_use]
    pub fn start_at(&self, planned_at: Timestamp, location: LocationId) -> Option<Timestamp> {
        let position = self.position(location)?;
        let turn = (position + self.pool.len() - self.rotation_start(planned_at)) % self.pool.len();
        (turn < self.locations_per_run()).then(|| planned_at + self.stagger_delay(turn))
    }

    /// When the run planned at `planned_at` is settled even if not all have answered: at the next planned time,
    /// but never before the last deadline of its checks, nor more than a minute after that.
    #[must_use]
    pub fn closes_at(&self, planned_at: Timestamp) -> Timestamp {
        let last = self.locations_per_run().saturating_sub(1);
        let deadline = planned_at + self.stagger_delay(last) + self.max_check_duration;
        self.slots.next_after(planned_at).clamp(deadline, deadline + SETTLE_GRACE)
    }

    /// How much later than planned the location at `turn` starts.
    fn stagger_delay(&self, turn: usize) -> Duration {
        if !self.staggered {
            return Duration::ZERO;
        }
        stagger_delay(self.slots.interval(), turn as u64, self.locations_per_run() as u64)
    }

    fn position(&self, location: LocationId) -> Option<usize> {
        self.pool.iter().position(|other| *other == location)
    }

    fn locations_per_run(&self) -> usize {
        self.locations_per_run.clamp(1, self.pool.len().max(1))
    }

    /// Place in the pool of the first location of a run.
    fn rotation_start(&self, planned_at: Timestamp) -> usize {
        if !self.rotates || self.pool.is_empty() {
            return 0;
        }
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let (pool, per_run) = (whole(self.pool.len()), whole(self.locations_per_run()));
        usize::try_from(rotation_start(run_number(&self.slots, planned_at), pool, per_run)).unwrap_or(0)
    }
}
