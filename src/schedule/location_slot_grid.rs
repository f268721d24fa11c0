//! The slots of a monitor at one location: the runs that it checks, and when it starts each check.

use std::time::Duration;

use super::slot_grid::SlotGrid;
use crate::domain::Timestamp;

/// Which runs of a monitor a location checks, and when (behaviour.md 5 "Rotation"). By default it is each run, at its
/// planned time. Two values for one pool are equal exactly when they have the same slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationRotation {
    /// Position among the `pool_size` locations.
    pool_position: u16,
    pool_size: u16,
    /// Number of locations that check one run, at most `pool_size`.
    locations_per_run: u16,
    /// Whether each run starts with the location after the last one of the previous run.
    rotates: bool,
    /// Whether the locations of a run start one after another.
    staggered: bool,
}

impl Default for LocationRotation {
    fn default() -> Self {
        Self { pool_position: 0, pool_size: 1, locations_per_run: 1, rotates: false, staggered: false }
    }
}

impl LocationRotation {
    /// Creates the rotation of the location at `position` of a pool of which `locations_per_run` check a run.
    /// `None` when it never checks one, and for pools of more than 65,535.
    pub(super) fn new(
        position: usize,
        pool_size: usize,
        locations_per_run: usize,
        rotates: bool,
        staggered: bool,
    ) -> Option<Self> {
        let rotates = rotates && locations_per_run < pool_size;
        // Without rotation the locations after the first `locations_per_run` are never used.
        let pool_size = if rotates { pool_size } else { locations_per_run.min(pool_size) };
        let staggered = staggered && locations_per_run > 1;
        if position >= pool_size {
            return None;
        }
        if !rotates && !staggered {
            return Some(Self::default());
        }
        let to_u16 = |number: usize| u16::try_from(number).ok();
        Some(Self {
            pool_position: to_u16(position)?,
            pool_size: to_u16(pool_size)?,
            locations_per_run: to_u16(locations_per_run.min(pool_size))?,
            rotates,
            staggered,
        })
    }

    /// Creates the rotation from its parts: `positions` as [`Self::positions`] returns them. `None` when no pool has
    /// it.
    #[must_use]
    pub fn from_positions(
        [pool_position, pool_size, locations_per_run]: [u16; 3],
        rotates: bool,
        staggered: bool,
    ) -> Option<Self> {
        let is_valid = pool_position < pool_size && (1..=pool_size).contains(&locations_per_run);
        is_valid.then_some(Self { pool_position, pool_size, locations_per_run, rotates, staggered })
    }

    /// Returns the position in the pool, the size of the pool, and the number of locations that check one run.
    #[must_use]
    pub const fn positions(self) -> [u16; 3] {
        [self.pool_position, self.pool_size, self.locations_per_run]
    }

    /// Whether each run starts with the location after the last one of the previous run.
    #[must_use]
    pub const fn rotates(self) -> bool {
        self.rotates
    }

    /// Whether the locations of a run start one after another.
    #[must_use]
    pub const fn is_staggered(self) -> bool {
        self.staggered
    }

    /// Returns the rank of this location in run number `run_number`, from 0; it checks the run if the rank is less than
    /// `locations_per_run`.
    fn rank_in_run(self, run_number: i64) -> i64 {
        let pool_size = i64::from(self.pool_size);
        let first_position = if self.rotates {
            first_position_in_run(run_number, pool_size, i64::from(self.locations_per_run))
        } else {
            0
        };
        (i64::from(self.pool_position) - first_position).rem_euclid(pool_size)
    }
}

/// The planned times of the runs that one location checks. They do not include the delay of the location, which is
/// only part of [`LocationSlotGrid::location_start_at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationSlotGrid {
    monitor_grid: SlotGrid,
    rotation: LocationRotation,
}

impl From<SlotGrid> for LocationSlotGrid {
    fn from(slots: SlotGrid) -> Self {
        Self::new(slots, LocationRotation::default())
    }
}

impl From<&SlotGrid> for LocationSlotGrid {
    fn from(slots: &SlotGrid) -> Self {
        Self::from(*slots)
    }
}

impl LocationSlotGrid {
    /// Creates the slots of a location that checks the part `rotation` of `slots`.
    #[must_use]
    pub const fn new(slots: SlotGrid, rotation: LocationRotation) -> Self {
        Self { monitor_grid: slots, rotation }
    }

    /// Returns the slots of all runs of the monitor.
    #[must_use]
    pub const fn monitor_grid(&self) -> &SlotGrid {
        &self.monitor_grid
    }

    /// Whether other locations check some of the runs.
    #[must_use]
    pub const fn is_rotating(&self) -> bool {
        self.rotation.rotates
    }

    /// Returns when this location starts its check of the run planned at `planned`, a slot of this grid.
    #[must_use]
    pub fn location_start_at(&self, planned: Timestamp) -> Timestamp {
        if !self.rotation.staggered {
            return planned;
        }
        let rank = self.rotation.rank_in_run(self.run_number(planned));
        planned
            + stagger_delay(
                self.monitor_grid.interval(),
                rank.unsigned_abs(),
                u64::from(self.rotation.locations_per_run),
            )
    }

    /// Returns when it is too late to start the run planned at `planned`: an interval after its start.
    #[must_use]
    pub fn start_deadline(&self, planned: Timestamp) -> Timestamp {
        self.location_start_at(planned) + self.monitor_grid.interval()
    }

    /// Returns the first slot of this location after `planned`, which need not be a slot.
    #[must_use]
    pub fn next_slot_after(&self, planned: Timestamp) -> Timestamp {
        let next = self.monitor_grid.next_slot_after(planned);
        if !self.rotation.rotates {
            return next;
        }
        // Each run brings this location nearer to its turn by `locations_per_run` positions.
        let runs_ahead =
            self.rotation.rank_in_run(self.run_number(next)) / i64::from(self.rotation.locations_per_run);
        next + self.monitor_grid.interval() * u32::try_from(runs_ahead).unwrap_or(0)
    }

    /// Returns the last slot whose start at this location is not after `time`.
    #[must_use]
    pub fn last_slot_started(&self, time: Timestamp) -> Timestamp {
        let newest = self.last_assigned_slot(self.monitor_grid.last_slot_at_or_before(time));
        if self.location_start_at(newest) <= time {
            return newest;
        }
        self.last_assigned_slot(self.monitor_grid.last_slot_at_or_before(newest - Duration::from_micros(1)))
    }

    /// Returns the slot before `planned`, a slot of this grid.
    #[must_use]
    pub fn previous_slot(&self, planned: Timestamp) -> Timestamp {
        self.last_assigned_slot(self.monitor_grid.last_slot_at_or_before(planned - Duration::from_micros(1)))
    }

    /// Returns the number of slots planned in `from..until`.
    #[must_use]
    pub fn count_slots_between(&self, from: Timestamp, until: Timestamp) -> u64 {
        if !self.rotation.rotates {
            return self.monitor_grid.count_slots_between(from, until);
        }
        let first = self.monitor_grid.first_slot_at_or_after(from);
        if first >= until {
            return 0;
        }
        // Consecutive runs cycle through the pool: this location occurs once in each round.
        let (pool_size, locations_per_run) =
            (i128::from(self.rotation.pool_size), i128::from(self.rotation.locations_per_run));
        let checks_before_run = |run: i64| {
            let before = i128::from(run) * locations_per_run - i128::from(self.rotation.pool_position);
            (before + pool_size - 1).div_euclid(pool_size)
        };
        let end = self.run_number(self.monitor_grid.first_slot_at_or_after(until));
        u64::try_from(checks_before_run(end) - checks_before_run(self.run_number(first))).unwrap_or(0)
    }

    /// Returns the last run, planned at or before `planned`, that this location checks; `planned` is that of a run.
    fn last_assigned_slot(&self, planned: Timestamp) -> Timestamp {
        let rank = self.rotation.rank_in_run(self.run_number(planned));
        let (pool_size, locations_per_run) =
            (i64::from(self.rotation.pool_size), i64::from(self.rotation.locations_per_run));
        if !self.rotation.rotates || rank < locations_per_run {
            return planned;
        }
        let runs_back = (pool_size - rank + locations_per_run - 1) / locations_per_run;
        planned - self.monitor_grid.interval() * u32::try_from(runs_back).unwrap_or(0)
    }

    fn run_number(&self, planned: Timestamp) -> i64 {
        run_number(&self.monitor_grid, planned)
    }
}

/// Returns the number of the run that is planned at `planned`, counted from the epoch.
pub(super) fn run_number(slots: &SlotGrid, planned: Timestamp) -> i64 {
    planned.as_micros().div_euclid(slots.interval_micros())
}

/// Returns the position of the first location of run number `run_number` under rotation, in a pool of `pool_size`
/// locations.
pub(super) fn first_position_in_run(run_number: i64, pool_size: i64, locations_per_run: i64) -> i64 {
    (run_number.rem_euclid(pool_size) * locations_per_run).rem_euclid(pool_size)
}

/// Returns how much later than planned the location of rank `rank` out of `locations_per_run` starts (behaviour.md 5
/// "Round Robin").
pub(super) fn stagger_delay(interval: Duration, rank: u64, locations_per_run: u64) -> Duration {
    let micros = interval.as_micros() * u128::from(rank) / u128::from(locations_per_run.max(1));
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}
