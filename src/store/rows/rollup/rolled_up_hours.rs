//! Which hours must be rolled up again when a result changes.

use crate::store::contract::RollupSpan;

use super::span::{span_start, width_us};

/// Monitor id of the pending rollups of all monitors; see [`LOCATION_OF_ALL_MONITORS`].
pub(in crate::store) const ALL_MONITORS: i64 = i64::MIN;
pub(in crate::store) const LOCATION_OF_ALL_MONITORS: i64 = 0;

/// Most hours that one series of missed runs marks: a year and a month.
const MAX_MARKED_HOURS: i64 = 24 * 396;

/// The hours that are rolled up.
#[derive(Clone, Copy)]
pub(in crate::store) struct RolledUpHours {
    /// Hours that start before are rolled up already.
    pub(in crate::store) rolled_until: i64,
    /// Hours that start before miss removed results, so they cannot be computed again.
    pub(in crate::store) complete_from: i64,
}

impl RolledUpHours {
    /// Returns the hours from that of `first` to that of `last` which are rolled up and can be computed again.
    pub(in crate::store) fn stale_hours(self, first: i64, last: i64) -> impl Iterator<Item = i64> {
        let width = width_us(RollupSpan::Hour);
        let earliest_hour =
            self.complete_from.max(self.rolled_until.saturating_sub(MAX_MARKED_HOURS * width));
        let hour_of = |time| span_start(RollupSpan::Hour, time);
        let first_hour = hour_of(first).max(hour_of(earliest_hour));
        let hours = std::iter::successors(Some(first_hour), move |hour| Some(hour + width));
        hours
            .take_while(move |&hour| first < self.rolled_until && hour <= last && hour < self.rolled_until)
            .filter(move |&hour| hour >= earliest_hour)
    }
}
