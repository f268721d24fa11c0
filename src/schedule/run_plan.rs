//! Where and when each run of a monitor is checked: a pure function of its revision and the planned time, so that every
//! location and the alert engine compute the same result without communicating (behaviour.md 5).

use std::time::Duration;

use super::location_slot_grid::LocationRotation;
use super::location_slot_grid::{first_position_in_run, run_number, stagger_delay};
use super::slot_grid::SlotGrid;
use crate::domain::{LocationId, Timestamp};

/// The runs of a monitor over its locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Planned times of its runs, common to all locations.
    pub slot_grid: SlotGrid,
    /// Its pool, the home location first; never empty, without duplicates.
    pub location_pool: Vec<LocationId>,
    /// Number of locations that check one run, from 1 to all.
    pub locations_per_run: usize,
    /// Whether each run uses the next `locations_per_run` of the pool, cycling.
    pub rotates_locations: bool,
    /// Whether location i of n starts i × interval ÷ n after the planned time (Round Robin).
    pub staggered: bool,
    /// The longest that a check may take from its start: the limit of one attempt, doubled with a retry.
    pub max_check_duration: Duration,
}

/// How long after the last deadline of a run results are awaited at most (behaviour.md 5 "settled").
const SETTLE_GRACE: Duration = Duration::from_mins(1);

impl RunPlan {
    /// Returns which runs `location_id` checks, and when; `None` when it never checks one.
    #[must_use]
    pub fn location_rotation(&self, location_id: LocationId) -> Option<LocationRotation> {
        LocationRotation::new(
            self.pool_position(location_id)?,
            self.location_pool.len(),
            self.locations_per_run(),
            self.rotates_locations,
            self.staggered,
        )
    }

    /// Returns the locations that check the run planned at `planned_at`, in their order.
    #[must_use]
    pub fn locations_of_run(&self, planned_at: Timestamp) -> Vec<LocationId> {
        let first = self.first_pool_position(planned_at);
        self.location_pool
            .iter()
            .cycle()
            .skip(first)
            .take(self.locations_per_run().min(self.location_pool.len()))
            .copied()
            .collect()
    }

    /// Returns when `location` starts its check of the run planned at `planned_at`; `None` when it does not check it.
    #[must_use]
    pub fn location_start_at(&self, planned_at: Timestamp, location: LocationId) -> Option<Timestamp> {
        let position = self.pool_position(location)?;
        let rank = (position + self.location_pool.len() - self.first_pool_position(planned_at))
            % self.location_pool.len();
        (rank < self.locations_per_run()).then(|| planned_at + self.stagger_delay(rank))
    }

    /// Returns when the run planned at `planned_at` is settled even if results are missing: at the next planned time,
    /// but never before the last deadline of its checks, nor more than a minute after that.
    #[must_use]
    pub fn closes_at(&self, planned_at: Timestamp) -> Timestamp {
        let last = self.locations_per_run().saturating_sub(1);
        let deadline = planned_at + self.stagger_delay(last) + self.max_check_duration;
        self.slot_grid.next_slot_after(planned_at).clamp(deadline, deadline + SETTLE_GRACE)
    }

    /// Returns how much later than planned the location of rank `rank` starts.
    fn stagger_delay(&self, rank: usize) -> Duration {
        if !self.staggered {
            return Duration::ZERO;
        }
        stagger_delay(self.slot_grid.interval(), rank as u64, self.locations_per_run() as u64)
    }

    fn pool_position(&self, location: LocationId) -> Option<usize> {
        self.location_pool.iter().position(|other| *other == location)
    }

    fn locations_per_run(&self) -> usize {
        self.locations_per_run.clamp(1, self.location_pool.len().max(1))
    }

    /// Returns the position in the pool of the first location of a run.
    fn first_pool_position(&self, planned_at: Timestamp) -> usize {
        if !self.rotates_locations || self.location_pool.is_empty() {
            return 0;
        }
        let to_i64 = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let (pool_size, locations_per_run) =
            (to_i64(self.location_pool.len()), to_i64(self.locations_per_run()));
        usize::try_from(first_position_in_run(
            run_number(&self.slot_grid, planned_at),
            pool_size,
            locations_per_run,
        ))
        .unwrap_or(0)
    }
}
