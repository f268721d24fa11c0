//! What a service level agreement says, read from its record, and the times that count by it.

use std::collections::HashMap;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::catalog::moment::read_window;
use crate::domain::{LocationId, MonitorId, Record, Sample, Timestamp};
use crate::evaluate::sla::{Goal, Scope, Spans};
use crate::schedule::{Calendar, Rests, When};

/// What was agreed for a monitor.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) monitor: MonitorId,
    pub(super) availability: Option<Goal>,
    pub(super) uptime: Option<Goal>,
    /// Mean seconds of a check.
    pub(super) response_time: Option<f64>,
    /// Whether the time of the full page counts, where there is one.
    full_page: bool,
    /// Periods of the week, and whether each is left out rather than that which alone counts.
    periods: Vec<(bool, When)>,
    /// Times that do not count, at one location or everywhere.
    exclusions: Vec<(When, Option<LocationId>)>,
}

impl Agreement {
    /// `None` for a record that is attached to no monitor.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let goal = |field: &str| record.fields.get(field).and_then(Value::as_f64);
        let list = |field: &str| record.fields.get(field).and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            id: record.id,
            name: record.text("name").to_owned(),
            monitor: MonitorId(record.assoc?),
            availability: goal("availability").and_then(Goal::of),
            uptime: goal("uptime").and_then(Goal::of),
            response_time: goal("response_time"),
            full_page: record.fields.get("use_fullpage_time") == Some(&Value::Bool(true)),
            periods: list("operating_periods").filter_map(period).collect(),
            exclusions: list("exclusions").filter_map(exclusion).collect(),
        })
    }

    /// `check`, with the time that counts as its own.
    pub(super) fn timed(&self, check: Sample) -> Sample {
        let page = check.page_us.filter(|_| self.full_page).unwrap_or_default();
        // Of two attempts, the page is that of the second one alone.
        Sample { total_us: check.total_us.max(page), ..check }
    }

    /// What counts in `from..thru`: operating periods, without exclusions and blackouts of the monitor.
    pub(super) fn scope(&self, calendar: &Calendar, from: Timestamp, thru: Timestamp) -> Scope {
        let zone = calendar.zone();
        let of = |when: &When| all(when, zone, from, thru);
        let periods = |excluded: bool| -> Vec<_> {
            self.periods
                .iter()
                .filter(|(exclude, _)| *exclude == excluded)
                .flat_map(|(_, when)| of(when))
                .collect()
        };
        let only = self.periods.iter().any(|(exclude, _)| !exclude);
        let operating = if only { Spans::of(periods(false)) } else { Spans::of(vec![(from, thru)]) };
        let mut out = periods(true);
        let mut at_location: HashMap<LocationId, Vec<_>> = HashMap::new();
        for (when, location) in &self.exclusions {
            match location {
                Some(location) => at_location.entry(*location).or_default().extend(of(when)),
                None => out.extend(of(when)),
            }
        }
        for rests in [Rests::Monitor(self.monitor), Rests::Alert(self.monitor)] {
            out.extend(calendar.rests(rests, from, thru));
        }
        Scope {
            counts: operating.within(from, thru).without(&Spans::of(out)),
            excluded_at: at_location.into_iter().map(|(at, spans)| (at, Spans::of(spans))).collect(),
        }
    }
}

fn all(when: &When, zone: &TimeZone, from: Timestamp, thru: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    when.occurrences(zone, from).take_while(|(start, _)| *start < thru).collect()
}

fn period(period: &Value) -> Option<(bool, When)> {
    let day = |field: &str| {
        let day = period.get(field)?.as_u64().filter(|day| (1..=7).contains(day))?;
        u8::try_from(day).ok()
    };
    let time = |field: &str| Time::strptime("%H:%M", period.get(field)?.as_str()?).ok();
    let when = When::Weekly {
        start_day: day("from_day")?,
        start: time("from_time")?,
        end_day: day("thru_day")?,
        end: time("thru_time")?,
    };
    Some((period.get("exclude") == Some(&Value::Bool(true)), when))
}

fn exclusion(exclusion: &Value) -> Option<(When, Option<LocationId>)> {
    let moment = |field: &str| read_window(exclusion.get(field)?.as_str()?);
    let when = When::Once { from: moment("from_date")?, thru: moment("thru_date")? };
    Some((when, exclusion.get("location_id").and_then(Value::as_i64).map(LocationId)))
}
