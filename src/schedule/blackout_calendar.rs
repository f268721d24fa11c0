//! Blackout windows: one-time, or weekly in the account's time zone, across its daylight saving changes
//! (interface.md 2.4, behaviour.md 6 "Blackout kinds").
//!
//! A change of the clocks never removes a window and never makes it shorter than on the wall clock: a start that the
//! clock skips is the moment of the change, and an end that it skips moves later by as much as the clock went ahead. In
//! an hour that occurs twice, a start is the first occurrence and an end the second.

use std::collections::HashMap;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, ToSpan as _};

use crate::domain::{MonitorId, RecipientId, Timestamp};

/// What a blackout suppresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlackoutTarget {
    /// Runs of a monitor.
    Monitor(MonitorId),
    /// Availability alerts of a monitor.
    Alert(MonitorId),
    /// Notifications to a recipient.
    Recipient(RecipientId),
}

/// When a blackout applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeWindow {
    /// From the first time up to but excluding the second; local to the account.
    Once {
        /// Start.
        start: DateTime,
        /// End.
        end: DateTime,
    },
    /// Each week from a day and time to a day and time, 1 is Sunday. An end before the start is in the next week.
    Weekly {
        /// Day of the start, 1 to 7.
        start_day: u8,
        /// Time of the start.
        start: Time,
        /// Day of the end, 1 to 7.
        end_day: u8,
        /// Time of the end; the same day and time as the start is a whole week.
        end: Time,
    },
}

/// One blackout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackoutWindow {
    /// Id.
    pub id: i64,
    /// What the blackout suppresses.
    pub target: BlackoutTarget,
    /// When it applies.
    pub time_window: TimeWindow,
}

/// The blackouts of an account.
#[derive(Clone, Debug)]
pub struct BlackoutCalendar {
    time_zone: TimeZone,
    windows_by_target: HashMap<BlackoutTarget, Vec<BlackoutWindow>>,
}

impl BlackoutCalendar {
    /// Creates the calendar of an account in `time_zone`.
    #[must_use]
    pub fn new(time_zone: TimeZone, windows: Vec<BlackoutWindow>) -> Self {
        let mut by_target: HashMap<BlackoutTarget, Vec<BlackoutWindow>> = HashMap::new();
        for window in windows {
            by_target.entry(window.target).or_default().push(window);
        }
        Self { time_zone, windows_by_target: by_target }
    }

    /// Returns the blackouts of `target`, past ones included.
    #[must_use]
    pub fn windows_for(&self, target: BlackoutTarget) -> &[BlackoutWindow] {
        self.windows_by_target.get(&target).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns all blackouts, in no order.
    pub fn windows(&self) -> impl Iterator<Item = &BlackoutWindow> {
        self.windows_by_target.values().flatten()
    }

    /// Returns the blackout of `target` that is active at `at`.
    #[must_use]
    pub fn active_window(&self, target: BlackoutTarget, at: Timestamp) -> Option<&BlackoutWindow> {
        let is_active = |window: &&BlackoutWindow| {
            window.time_window.occurrences(&self.time_zone, at).next().is_some_and(|(from, _)| from <= at)
        };
        self.windows_by_target.get(&target)?.iter().find(is_active)
    }

    /// Returns the next `max_count` occurrences of `window` that end after `after`, as start and end.
    #[must_use]
    pub fn occurrences(
        &self,
        window: &BlackoutWindow,
        after: Timestamp,
        max_count: usize,
    ) -> Vec<(Timestamp, Timestamp)> {
        window.time_window.occurrences(&self.time_zone, after).take(max_count).collect()
    }

    /// Returns every blackout of `target` in the range, as start and end. They are ordered by start and
    /// not clipped, so they may overlap and extend beyond the range.
    #[must_use]
    pub fn ranges_between(
        &self,
        target: BlackoutTarget,
        range_start: Timestamp,
        range_end: Timestamp,
    ) -> Vec<(Timestamp, Timestamp)> {
        let windows = self.windows_by_target.get(&target).into_iter().flatten();
        let mut all: Vec<_> = windows
            .flat_map(|window| {
                window
                    .time_window
                    .occurrences(&self.time_zone, range_start)
                    .take_while(move |(start, _)| *start < range_end)
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// Returns the account's time zone.
    #[must_use]
    pub fn time_zone(&self) -> &TimeZone {
        &self.time_zone
    }
}

impl TimeWindow {
    /// Returns start and end of each occurrence in `time_zone` that ends after `after`, in order. Weekly occurrences
    /// only end with the calendar (year 9999).
    pub fn occurrences<'a>(
        &self,
        time_zone: &'a TimeZone,
        after: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + use<'a> {
        let (first, repeat_interval) = match *self {
            Self::Once { start: from, end: until } => (Some((from, until)), None),
            Self::Weekly { start_day, start, end_day, end } => (
                first_weekly_occurrence(time_zone, after, (start_day, start), (end_day, end)),
                Some(1.week()),
            ),
        };
        std::iter::successors(first, move |&(from, until)| {
            let repeat_interval: Span = repeat_interval?;
            Some((from.checked_add(repeat_interval).ok()?, until.checked_add(repeat_interval).ok()?))
        })
        .filter_map(|(from, until)| to_timestamps(time_zone, from, until))
        .skip_while(move |(_, until)| *until <= after)
    }
}

/// Returns the local start and end of an occurrence near `after` that is not later than the first that ends after it.
fn first_weekly_occurrence(
    zone: &TimeZone,
    after: Timestamp,
    (start_day, start): (u8, Time),
    (end_day, end): (u8, Time),
) -> Option<(DateTime, DateTime)> {
    let mut length_days = (i64::from(end_day) - i64::from(start_day)).rem_euclid(7);
    if length_days == 0 && end <= start {
        length_days = 7;
    }
    // An occurrence of a week's length that ends just after `after` began a week and a change of the clocks ago.
    let search_start: Date = zone.to_datetime(to_jiff(after)).date().saturating_sub(9.days());
    let days_ahead =
        (i64::from(start_day) - 1 - i64::from(search_start.weekday().to_sunday_zero_offset())).rem_euclid(7);
    let date = search_start.checked_add(days_ahead.days()).ok()?;
    Some((date.to_datetime(start), date.checked_add(length_days.days()).ok()?.to_datetime(end)))
}

/// Converts a window on the wall clock to timestamps; `None` when it is empty.
fn to_timestamps(
    zone: &TimeZone,
    local_start: DateTime,
    local_end: DateTime,
) -> Option<(Timestamp, Timestamp)> {
    if local_start >= local_end {
        return None;
    }
    let (start, end) = (resolve_start(zone, local_start)?, resolve_end(zone, local_end)?);
    if start < end {
        return Some((start, end));
    }
    let length = i64::try_from(local_end.duration_since(local_start).as_micros()).ok()?;
    Some((start, Timestamp::from_micros(start.as_micros().checked_add(length)?)))
}

/// Returns the instant of a window start at local time `local_start`.
fn resolve_start(zone: &TimeZone, local_start: DateTime) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(local_start);
    let skipped = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
    let early = ambiguous.earlier().ok()?;
    let start =
        if skipped { zone.following(early).next().map_or(early, |change| change.timestamp()) } else { early };
    Some(Timestamp::from_micros(start.as_microsecond()))
}

/// Returns the instant of a window end at local time `local_end`.
fn resolve_end(zone: &TimeZone, local_end: DateTime) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(local_end);
    let is_repeated = matches!(ambiguous.offset(), AmbiguousOffset::Fold { .. });
    let (early, late) = (ambiguous.earlier().ok()?, ambiguous.later().ok()?);
    // The clock does not repeat any time before `local_end` if it goes back exactly to it.
    let repeats_only_after_end =
        || zone.following(early).next().is_some_and(|change| change.timestamp() == late);
    let end = if is_repeated && repeats_only_after_end() { early } else { late };
    Some(Timestamp::from_micros(end.as_microsecond()))
}

/// Converts a timestamp, clamped to the range of the calendar.
fn to_jiff(at: Timestamp) -> jiff::Timestamp {
    let limit = if at.as_micros() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(limit)
}
