//! For how long a monitor had an open outage.

use std::time::Duration;

use super::monitor_reader::MonitorReader;
use crate::domain::{EpisodeFilter, MonitorId, Pagination, Timestamp};
use crate::store::StoreError;

/// Most outages that are read for a page.
const MAX_OUTAGES: u32 = 5_000;

/// When a monitor had an open outage, over some time up to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutageTimes {
    /// Start and end of each, not clipped; the end of an open one is now.
    ranges: Vec<(Timestamp, Timestamp)>,
    /// From when on all outages are known.
    known_from: Timestamp,
    now: Timestamp,
}

/// Outages within a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutageSum {
    /// How many were open in it.
    pub count: usize,
    /// For how long one was open.
    pub down: Duration,
    /// Share of the time without an open outage in percent, rounded down to thousandths; `None` for an empty span.
    pub up_percent: Option<f64>,
}

impl OutageTimes {
    /// Sums the outages since `from`, or since `created_at` if that is later; `None` when not all are known.
    #[must_use]
    pub fn since(&self, from: Timestamp, created_at: Option<Timestamp>) -> Option<OutageSum> {
        if from < self.known_from {
            return None;
        }
        // It was there when its first outage began, whatever its record says: results may be older than that.
        let first_outage = self.ranges.iter().map(|(start, _)| *start).min();
        let existed_at =
            created_at.map(|created_at| first_outage.map_or(created_at, |first| first.min(created_at)));
        let from = from.max(existed_at.unwrap_or(from));
        let clip = |(start, end): &(Timestamp, Timestamp)| {
            let (start, end) = ((*start).max(from), (*end).min(self.now));
            (start < end).then(|| end.since(start))
        };
        let lengths: Vec<Duration> = self.ranges.iter().filter_map(clip).collect();
        let down: Duration = lengths.iter().sum();
        let (down_us, all_us) = (down.as_micros(), self.now.since(from).as_micros());
        // Rounded down: 100 % means that there was no outage.
        let up_percent =
            (all_us > 0).then(|| (all_us.saturating_sub(down_us) * 100_000 / all_us) as f64 / 1_000.0);
        Some(OutageSum { count: lengths.len(), down, up_percent })
    }
}

impl MonitorReader {
    /// Reads when `monitor` had an open outage since `from`.
    pub async fn outage_times(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        now: Timestamp,
    ) -> Result<OutageTimes, StoreError> {
        let mut times = OutageTimes { ranges: Vec::new(), known_from: from, now };
        let Some(store) = self.alert_store() else { return Ok(times) };
        let filter = EpisodeFilter {
            monitor: Some(monitor),
            from: Some(from),
            until: Some(now),
            ..EpisodeFilter::default()
        };
        let found = store.episodes(filter, Pagination { limit: MAX_OUTAGES, offset: 0 }).await?;
        // Newest first: those that are left out began before the last one.
        if found.total > found.items.len() as u64 {
            times.known_from = found.items.last().map_or(now, |oldest| oldest.started_at);
        }
        let to_range = |(start, end): (Timestamp, Option<Timestamp>)| (start, end.unwrap_or(now));
        times.ranges =
            found.items.iter().map(|outage| to_range((outage.started_at, outage.ended_at))).collect();
        Ok(times)
    }

    /// Returns when the open outage of `monitor` began; `None` without one.
    pub async fn open_outage_started_at(&self, monitor: MonitorId) -> Result<Option<Timestamp>, StoreError> {
        let Some(store) = self.alert_store() else { return Ok(None) };
        let filter =
            EpisodeFilter { monitor: Some(monitor), is_open: Some(true), ..EpisodeFilter::default() };
        let found = store.episodes(filter, Pagination { limit: 1, offset: 0 }).await?;
        Ok(found.items.first().map(|outage| outage.started_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_795_176_000 + seconds)
    }

    #[test]
    fn outages_are_clipped_to_the_span_and_never_round_to_none() {
        let times = OutageTimes {
            ranges: vec![(at(900), at(1_000)), (at(300), at(310)), (at(-50), at(50))],
            known_from: at(-100),
            now: at(1_000),
        };
        let sum = |from: i64, created_at: Option<i64>| times.since(at(from), created_at.map(at));
        let of = |count, seconds, percent| {
            Some(OutageSum { count, down: Duration::from_secs(seconds), up_percent: Some(percent) })
        };
        assert_eq!(sum(0, None), of(3, 160, 84.0));
        assert_eq!(sum(305, None), of(2, 105, 84.892));
        assert_eq!(sum(0, Some(500)), sum(0, None), "it existed when its first outage began");
        let late = OutageTimes { ranges: vec![(at(900), at(1_000))], ..times.clone() };
        let late = late.since(at(0), Some(at(500)));
        assert_eq!(late, of(1, 100, 80.0), "no time before it existed counts");
        assert_eq!(sum(-200, None), None, "not all outages are known");
        let nothing = OutageSum { count: 0, down: Duration::ZERO, up_percent: None };
        assert_eq!(sum(1_000, None), Some(nothing));
        let short = OutageTimes { ranges: vec![(at(0), at(1))], known_from: at(0), now: at(10_000_000) };
        assert_eq!(short.since(at(0), None).unwrap().up_percent, Some(99.999));
    }
}
