//! Blackout windows: once, or each week in the account's time zone, over its daylight saving changes
//! (interface.md 2.4, behaviour.md 6 "Blackout kinds").
//!
//! A window is never lost to a change of the clocks and never shorter than the clock on the wall shows it:
//! a start that the clock skips is the moment of the change, an end that it skips comes as much later as the
//! clock went ahead; of an hour that comes twice, a start is the first and an end the second.

use std::collections::HashMap;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, ToSpan as _};

use crate::domain::{MonitorId, RecipientId, Timestamp};

/// What rests in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlackoutTarget {
    /// Runs of a monitor.
    Monitor(MonitorId),
    /// Availability alerts of a monitor.
    Alert(MonitorId),
    /// A recipient.
    Notifier(RecipientId),
}

/// When it rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeWindow {
    /// From the first moment up to the second, which is not in it any more; local to the account.
    Once {
        /// Start.
        from: DateTime,
        /// End.
        until: DateTime,
    },
    /// Each week from a day and time to a day and time, 1 is Sunday; the end may lie before the start and is
    /// then in the next week.
    Weekly {
        /// Day of the start, 1 to 7.
        start_day: u8,
        /// Its time.
        start: Time,
        /// Day of the end, 1 to 7.
        end_day: u8,
        /// Its time; the same day and time as the start is a whole week.
        end: Time,
    },
}

/// One blackout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackoutWindow {
    /// Its number.
    pub id: i64,
    /// What rests.
    pub target: BlackoutTarget,
    /// When.
    pub window: TimeWindow,
}

/// The blackouts of an account.
#[derive(Clone, Debug)]
pub struct BlackoutCalendar {
    zone: TimeZone,
    windows: HashMap<BlackoutTarget, Vec<BlackoutWindow>>,
}

impl BlackoutCalendar {
    /// The blackouts of an account in `zone`.
    #[must_use]
    pub fn new(zone: TimeZone, windows: Vec<BlackoutWindow>) -> Self {
        let mut by_subject: HashMap<BlackoutTarget, Vec<BlackoutWindow>> = HashMap::new();
        for window in windows {
            by_subject.entry(window.target).or_default().push(window);
        }
        Self { zone, windows: by_subject }
    }

    /// The blackouts of `subject`, past ones too.
    #[must_use]
    pub fn windows_for(&self, subject: BlackoutTarget) -> &[BlackoutWindow] {
        self.windows.get(&subject).map(Vec::as_slice).unwrap_or_default()
    }

    /// The blackout in which `subject` rests at `at`.
    #[must_use]
    pub fn active_window(&self, subject: BlackoutTarget, at: Timestamp) -> Option<&BlackoutWindow> {
        let now = |window: &&BlackoutWindow| {
            window.window.occurrences(&self.zone, at).next().is_some_and(|(from, _)| from <= at)
        };
        self.windows.get(&subject)?.iter().find(now)
    }

    /// The next `most` occurrences of `window` that end after `after`, as start and end.
    #[must_use]
    pub fn occurrences(
        &self,
        window: &BlackoutWindow,
        after: Timestamp,
        max: usize,
    ) -> Vec<(Timestamp, Timestamp)> {
        window.window.occurrences(&self.zone, after).take(max).collect()
    }

    /// Every time from `from` up to `thru` in which `subject` rests, as start and end; by start, and not
    /// clipped, so that they may overlap and reach out of the range.
    #[must_use]
    pub fn ranges_between(
        &self,
        subject: BlackoutTarget,
        from: Timestamp,
        thru: Timestamp,
    ) -> Vec<(Timestamp, Timestamp)> {
        let windows = self.windows.get(&subject).into_iter().flatten();
        let mut all: Vec<_> = windows
            .flat_map(|window| {
                window.window.occurrences(&self.zone, from).take_while(move |(start, _)| *start < thru)
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// The account's time zone.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

impl TimeWindow {
    /// Start and end of each time that it comes in `zone` and ends after `after`, in their order; without an
    /// end for what comes each week, but for that of the calendar (year 9999).
    pub fn occurrences<'a>(
        &self,
        zone: &'a TimeZone,
        after: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + use<'a> {
        let (first, step) = match *self {
            Self::Once { from, until: thru } => (Some((from, thru)), None),
            Self::Weekly { start_day, start, end_day, end } => {
                (first_weekly_occurrence(zone, after, (start_day, start), (end_day, end)), Some(1.week()))
            }
        };
        std::iter::successors(first, move |&(from, thru)| {
            let step: Span = step?;
            Some((from.checked_add(step).ok()?, thru.checked_add(step).ok()?))
        })
        .filter_map(|(from, thru)| to_timestamps(zone, from, thru))
        .skip_while(move |(_, thru)| *thru <= after)
    }
}

/// The local start and end of an occurrence that is near to `after`, and not later than the first that ends
/// after it.
fn first_weekly_occurrence(
    zone: &TimeZone,
    after: Timestamp,
    (start_day, start): (u8, Time),
    (end_day, end): (u8, Time),
) -> Option<(DateTime, DateTime)> {
    let mut days = (i64::from(end_day) - i64::from(start_day)).rem_euclid(7);
    if days == 0 && end <= start {
        days = 7;
    }
    // One that lasts a week and ends just after `after` began a week and a change of the clocks ago.
    let early: Date = zone.to_datetime(to_jiff(after)).date().saturating_sub(9.days());
    let ahead = (i64::from(start_day) - 1 - i64::from(early.weekday().to_sunday_zero_offset())).rem_euclid(7);
    let date = early.checked_add(ahead.days()).ok()?;
    Some((date.to_datetime(start), date.checked_add(days.days()).ok()?.to_datetime(end)))
}

/// Start and end of the window from `from` up to `thru` by the clock on the wall; `None` when it has no length.
fn to_timestamps(zone: &TimeZone, from: DateTime, thru: DateTime) -> Option<(Timestamp, Timestamp)> {
    if from >= thru {
        return None;
    }
    let (start, end) = (resolve_start(zone, from)?, resolve_end(zone, thru)?);
    if start < end {
        return Some((start, end));
    }
    let length = i64::try_from(thru.duration_since(from).as_micros()).ok()?;
    Some((start, Timestamp::from_micros(start.as_micros().checked_add(length)?)))
}

/// The moment at which a window begins that begins at `local`.
fn resolve_start(zone: &TimeZone, local: DateTime) -> Option<Timestamp> {
    let moment = zone.to_ambiguous_timestamp(local);
    let skipped = matches!(moment.offset(), AmbiguousOffset::Gap { .. });
    let early = moment.earlier().ok()?;
    let start =
        if skipped { zone.following(early).next().map_or(early, |change| change.timestamp()) } else { early };
    Some(Timestamp::from_micros(start.as_microsecond()))
}

/// The moment at which a window ends that ends at `local`.
fn resolve_end(zone: &TimeZone, local: DateTime) -> Option<Timestamp> {
    let moment = zone.to_ambiguous_timestamp(local);
    let comes_twice = matches!(moment.offset(), AmbiguousOffset::Fold { .. });
    let (early, late) = (moment.earlier().ok()?, moment.later().ok()?);
    // The clock shows nothing before `local` again where it goes back just to it.
    let is_begin = || zone.following(early).next().is_some_and(|change| change.timestamp() == late);
    let end = if comes_twice && is_begin() { early } else { late };
    Some(Timestamp::from_micros(end.as_microsecond()))
}

/// The same moment; the nearest one that the calendar has.
fn to_jiff(at: Timestamp) -> jiff::Timestamp {
    let end = if at.as_micros() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(end)
}
