//! Rollups: statistics per hour, computed from results, and per day, computed from the hours.
//!
//! Hours that have ended are first marked as due, in the transaction that advances `rolled_until`. From then on, each
//! late result for them marks its own rollup as pending. So no result is lost between reading an hour and writing its
//! rollups, and a process killed in between continues later.

pub(super) mod pending_rollups;
pub(super) mod points;
mod result_stats;
pub(super) mod roll_up;
pub(super) mod stored;
