//! The slots of a monitor at one location: the runs in which it takes part, and when it starts its check of each.

use std::time::Duration;

use super::slots::Slots;
use crate::domain::Timestamp;

/// The part that a location has in the runs of a monitor (behaviour.md 5 "Rotation"). By default it checks each
/// run at its planned time; two parts of one pool are equal exactly when they have the same slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationRotation {
    /// Its place among the `pool` locations.
    position: u16,
    pool_size: u16,
    /// How many of them check one run, at most `pool`.
    locations_per_run: u16,
    /// Whether each run begins where the one before left off.
    rotates: bool,
    /// Whether the locations of a run start one after another.
    staggered: bool,
}

impl Default for LocationRotation {
    fn default() -> Self {
        Self { position: 0, pool_size: 1, locations_per_run: 1, rotates: false, staggered: false }
    }
}

impl LocationRotation {
    /// The part of the location at `position` of a pool of `pool`, of which `per_run` check a run; `None` when it
    /// never checks one. Pools of more than 65,535 have no parts.
    pub(super) fn new(
        position: usize,
        pool: usize,
        per_run: usize,
        rotates: bool,
        staggered: bool,
    ) -> Option<Self> {
        let rotates = rotates && per_run < pool;
        // Without rotation those behind the first `per_run` are never asked.
        let pool = if rotates { pool } else { per_run.min(pool) };
        let staggered = staggered && per_run > 1;
        if position >= pool {
            return None;
        }
        if !rotates && !staggered {
            return Some(Self::default());
        }
        let small = |number: usize| u16::try_from(number).ok();
        Some(Self {
            position: small(position)?,
            pool_size: small(pool)?,
            locations_per_run: small(per_run.min(pool))?,
            rotates,
            staggered,
        })
    }

    /// Which of the locations of run number `run` this one is, counted from 0; it takes part when that is less
    /// than `per_run`.
    fn rank_in_run(self, run: i64) -> i64 {
        let pool = i64::from(self.pool_size);
        let first =
            if self.rotates { rotation_start(run, pool, i64::from(self.locations_per_run)) } else { 0 };
        (i64::from(self.position) - first).rem_euclid(pool)
    }
}

/// The planned times that a monitor has at one location, in the runs of `slots`. Planned times are those of the
/// run; what a location adds to them is its [`LocationSlots::start_at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationSlots {
    slots: Slots,
    rotation: LocationRotation,
}

impl From<Slots> for LocationSlots {
    fn from(slots: Slots) -> Self {
        Self::new(slots, LocationRotation::default())
    }
}

impl From<&Slots> for LocationSlots {
    fn from(slots: &Slots) -> Self {
        Self::from(*slots)
    }
}

impl LocationSlots {
    /// The slots that a location with `part` has of `slots`.
    #[must_use]
    pub const fn new(slots: Slots, part: LocationRotation) -> Self {
        Self { slots, rotation: part }
    }

    /// The runs of the monitor.
    #[must_use]
    pub const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Whether some runs are left to other locations.
    #[must_use]
    pub const fn is_rotating(&self) -> bool {
        self.rotation.rotates
    }

    /// When this location starts its check of the run planned at `planned`, a slot of this grid.
    #[must_use]
    pub fn start_at(&self, planned: Timestamp) -> Timestamp {
        if !self.rotation.staggered {
            return planned;
        }
        let turn = self.rotation.rank_in_run(self.run_number(planned));
        planned
            + stagger_delay(
                self.slots.interval(),
                turn.unsigned_abs(),
                u64::from(self.rotation.locations_per_run),
            )
    }

    /// When it is too late to start the run planned at `planned`: an interval after its start.
    #[must_use]
    pub fn start_deadline(&self, planned: Timestamp) -> Timestamp {
        self.start_at(planned) + self.slots.interval()
    }

    /// The oldest slot after `planned`, which need not be a slot.
    #[must_use]
    pub fn next_after(&self, planned: Timestamp) -> Timestamp {
        let next = self.slots.next_after(planned);
        if !self.rotation.rotates {
            return next;
        }
        // Each run takes `per_run` of those who stand before this location.
        let runs =
            self.rotation.rank_in_run(self.run_number(next)) / i64::from(self.rotation.locations_per_run);
        next + self.slots.interval() * u32::try_from(runs).unwrap_or(0)
    }

    /// The newest slot whose start is not after `time`.
    #[must_use]
    pub fn last_started(&self, time: Timestamp) -> Timestamp {
        let newest = self.last_assigned(self.slots.last_at_or_before(time));
        if self.start_at(newest) <= time {
            return newest;
        }
        self.last_assigned(self.slots.last_at_or_before(newest - Duration::from_micros(1)))
    }

    /// The slot before `planned`, a slot of this grid.
    #[must_use]
    pub fn previous(&self, planned: Timestamp) -> Timestamp {
        self.last_assigned(self.slots.last_at_or_before(planned - Duration::from_micros(1)))
    }

    /// How many slots lie in `from..until`, by their planned times.
    #[must_use]
    pub fn slots_between(&self, from: Timestamp, until: Timestamp) -> u64 {
        if !self.rotation.rotates {
            return self.slots.slots_between(from, until);
        }
        let first = self.slots.first_at_or_after(from);
        if first >= until {
            return 0;
        }
        // Laid end to end, the runs take the pool round and round: this location is met once in each round.
        let (pool, per_run) =
            (i128::from(self.rotation.pool_size), i128::from(self.rotation.locations_per_run));
        let rounds = |run: i64| {
            let before = i128::from(run) * per_run - i128::from(self.rotation.position);
            (before + pool - 1).div_euclid(pool)
        };
        let end = self.run_number(self.slots.first_at_or_after(until));
        u64::try_from(rounds(end) - rounds(self.run_number(first))).unwrap_or(0)
    }

    /// `planned`, a planned time of a run, or the newest before it in which this location takes part.
    fn last_assigned(&self, planned: Timestamp) -> Timestamp {
        let turn = self.rotation.rank_in_run(self.run_number(planned));
        let (pool, per_run) =
            (i64::from(self.rotation.pool_size), i64::from(self.rotation.locations_per_run));
        if !self.rotation.rotates || turn < per_run {
            return planned;
        }
        let runs = (pool - turn + per_run - 1) / per_run;
        planned - self.slots.interval() * u32::try_from(runs).unwrap_or(0)
    }

    fn run_number(&self, planned: Timestamp) -> i64 {
        run_number(&self.slots, planned)
    }
}

/// The number of the run that is planned at `planned`, counted from the epoch.
pub(super) fn run_number(slots: &Slots, planned: Timestamp) -> i64 {
    planned.as_micros().div_euclid(slots.interval_micros())
}

/// Place in a pool of `pool` of the first location of run number `run` under rotation.
pub(super) fn rotation_start(run: i64, pool: i64, per_run: i64) -> i64 {
    (run.rem_euclid(pool) * per_run).rem_euclid(pool)
}

/// How much later than planned the location at `turn` of `per_run` starts (behaviour.md 5 "Round Robin").
pub(super) fn stagger_delay(interval: Duration, turn: u64, per_run: u64) -> Duration {
    let micros = interval.as_micros() * u128::from(turn) / u128::from(per_run.max(1));
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}
