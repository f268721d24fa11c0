//! Days and times of records, and the time windows that they define.

use jiff::civil::{DateTime, Time};

use super::invalid_settings::InvalidFieldValue;
use super::record::blackout::BlackoutSettings;
use super::record::sla::{OperatingPeriodSettings, SlaExclusionSettings};
use crate::schedule::TimeWindow;

/// Parses the local time of a time window, `YYYY-MM-DD HH:MM:SS`.
#[must_use]
pub fn parse_local_time(text: &str) -> Option<DateTime> {
    DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok()
}

impl BlackoutSettings<'_> {
    /// Returns the time window of the blackout.
    ///
    /// # Errors
    /// A missing or invalid day or time.
    pub fn time_window(&self) -> Result<TimeWindow, InvalidFieldValue> {
        if !self.recurs_weekly {
            let (from, thru) = (
                local_time_field("from_date", self.from_date)?,
                local_time_field("thru_date", self.thru_date)?,
            );
            return Ok(TimeWindow::Once { start: from, end: thru });
        }
        Ok(TimeWindow::Weekly {
            start_day: weekday_field("start_day", self.start_day)?,
            start: time_of_day_field("start_time", self.start_time)?,
            end_day: weekday_field("end_day", self.end_day)?,
            end: time_of_day_field("end_time", self.end_time)?,
        })
    }

    /// Whether it is a one-time blackout that is over at `now`, a local time of its account.
    #[must_use]
    pub fn is_past(&self, now: DateTime) -> bool {
        !self.recurs_weekly && self.thru_date.and_then(parse_local_time).is_some_and(|thru| thru <= now)
    }
}

impl OperatingPeriodSettings<'_> {
    /// Returns the time window of the period.
    ///
    /// # Errors
    /// An invalid day or time.
    pub fn time_window(&self) -> Result<TimeWindow, InvalidFieldValue> {
        Ok(TimeWindow::Weekly {
            start_day: weekday_field("from_day", Some(self.from_day))?,
            start: time_of_day_field("from_time", Some(self.from_time))?,
            end_day: weekday_field("thru_day", Some(self.thru_day))?,
            end: time_of_day_field("thru_time", Some(self.thru_time))?,
        })
    }
}

impl SlaExclusionSettings<'_> {
    /// Returns the time window of the exclusion.
    ///
    /// # Errors
    /// An invalid time.
    pub fn time_window(&self) -> Result<TimeWindow, InvalidFieldValue> {
        let from = local_time_field("from_date", Some(self.from_date))?;
        Ok(TimeWindow::Once { start: from, end: local_time_field("thru_date", Some(self.thru_date))? })
    }
}

fn local_time_field(field: &str, text: Option<&str>) -> Result<DateTime, InvalidFieldValue> {
    let expected = "it must be a time such as `2026-01-31 12:00:00`";
    text.and_then(parse_local_time).ok_or_else(|| InvalidFieldValue::new(field, text, expected))
}

fn time_of_day_field(field: &str, text: Option<&str>) -> Result<Time, InvalidFieldValue> {
    let time = text.and_then(|text| Time::strptime("%H:%M", text).ok());
    time.ok_or_else(|| InvalidFieldValue::new(field, text, "it must be a time of day such as `12:00`"))
}

fn weekday_field(field: &str, day: Option<u8>) -> Result<u8, InvalidFieldValue> {
    let text = day.map(|day| day.to_string());
    let expected = "it must be a whole number from 1 to 7";
    day.filter(|day| (1..=7).contains(day))
        .ok_or_else(|| InvalidFieldValue::new(field, text.as_deref(), expected))
}
