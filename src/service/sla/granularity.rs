//! The periods of a report: hours, days and months in the account's time zone.

use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Unit, Zoned, ZonedRound};

use crate::domain::Timestamp;

/// Length of the periods of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// By hour.
    Hour,
    /// By day.
    #[default]
    Day,
    /// By month.
    Month,
}

/// Most periods of a report.
pub(super) const MAX_PERIODS: usize = 1000;

impl Granularity {
    /// Every granularity with its name.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Hour, "hour"), (Self::Day, "day"), (Self::Month, "month")];

    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(granularity, _)| *granularity == self).map_or("", |(_, name)| name)
    }

    /// Parses a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, candidate)| *candidate == name).map(|(granularity, _)| *granularity)
    }

    /// Returns the default start of a report: the start of the day, month or year.
    pub(in crate::service) fn default_start(self, zone: &TimeZone, now: Timestamp) -> Timestamp {
        let now = to_zoned(zone, now);
        let start = match self {
            Self::Hour => now.start_of_day(),
            Self::Day => now.first_of_month().and_then(|first| first.start_of_day()),
            Self::Month => now.first_of_year().and_then(|first| first.start_of_day()),
        };
        from_zoned(&start.unwrap_or(now))
    }

    /// Returns the starts of the periods of `from..until`, the first being `from`. Stops after [`MAX_PERIODS`] + 1
    /// starts.
    pub(super) fn period_starts(self, zone: &TimeZone, from: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        let mut starts = vec![from];
        let mut period = to_zoned(zone, from);
        while let Some(next) = self.next_start(&period) {
            let next_start = from_zoned(&next);
            if next_start >= until || starts.len() > MAX_PERIODS {
                break;
            }
            starts.push(next_start);
            period = next;
        }
        starts
    }

    /// Returns the first start of a period after `time`.
    fn next_start(self, time: &Zoned) -> Option<Zoned> {
        let start_of_day = |to: Zoned| to.start_of_day().ok();
        let next = match self {
            Self::Hour => {
                let truncate_to_hour = ZonedRound::new().smallest(Unit::Hour).mode(jiff::RoundMode::Trunc);
                time.round(truncate_to_hour).ok()?.checked_add(1.hour()).ok()
            }
            Self::Day => start_of_day(time.tomorrow().ok()?),
            Self::Month => start_of_day(time.first_of_month().ok()?.checked_add(1.month()).ok()?),
        };
        next.filter(|next| next.timestamp() > time.timestamp())
    }

    /// Returns the name of the period that starts at `start`.
    pub(super) fn period_name(self, zone: &TimeZone, start: Timestamp) -> String {
        let format = match self {
            Self::Hour => "%Y-%m-%d %H:%M",
            Self::Day => "%Y-%m-%d",
            Self::Month => "%Y-%m",
        };
        to_zoned(zone, start).strftime(format).to_string()
    }
}

fn to_zoned(zone: &TimeZone, at: Timestamp) -> Zoned {
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default().to_zoned(zone.clone())
}

fn from_zoned(at: &Zoned) -> Timestamp {
    Timestamp::from_micros(at.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(granularity: Granularity, zone: &str, from: &str, thru: &str) -> Vec<String> {
        let at = |text| Timestamp::parse(text).unwrap();
        let zone = TimeZone::get(zone).unwrap();
        granularity.period_starts(&zone, at(from), at(thru)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn days_are_in_the_time_zone_of_the_account_and_may_have_23_or_25_hours() {
        assert_eq!(
            starts(Granularity::Day, "Europe/Berlin", "2026-03-27T23:00:00Z", "2026-03-30T12:00:00Z"),
            ["2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]
        );
        let hours = |from, thru| starts(Granularity::Hour, "Europe/Berlin", from, thru).len();
        assert_eq!(hours("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"), 23);
        assert_eq!(hours("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"), 25);
    }

    #[test]
    fn the_first_period_starts_with_the_report() {
        assert_eq!(
            starts(Granularity::Month, "UTC", "2026-01-15T00:00:00Z", "2026-03-01T00:00:00Z"),
            ["2026-01-15T00:00:00Z", "2026-02-01T00:00:00Z"]
        );
        assert_eq!(
            starts(Granularity::Hour, "Asia/Kathmandu", "2026-01-15T00:00:00Z", "2026-01-15T01:20:00Z"),
            ["2026-01-15T00:00:00Z", "2026-01-15T00:15:00Z", "2026-01-15T01:15:00Z"]
        );
        assert_eq!(starts(Granularity::Day, "UTC", "2026-01-15T00:00:00Z", "2026-01-15T00:00:01Z").len(), 1);
    }

    #[test]
    fn the_number_of_periods_is_limited() {
        assert_eq!(
            starts(Granularity::Hour, "UTC", "2000-01-01T00:00:00Z", "2026-01-01T00:00:00Z").len(),
            MAX_PERIODS + 1
        );
    }
}
