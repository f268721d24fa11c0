//! A service level agreement, read from its record, and the time ranges that count for it.

use std::collections::HashMap;

use jiff::tz::TimeZone;

use crate::catalog::record_settings::{log_and_skip, settings_or_skip};
use crate::domain::{LocationId, MonitorId, Record, Sample, Timestamp};
use crate::evaluate::sla::{SlaObjective, SlaScope, TimeRanges};
use crate::schedule::{BlackoutCalendar, BlackoutTarget, TimeWindow};
use crate::schema::typed::record::{OperatingPeriodSettings, SlaExclusionSettings, SlaSettings};

/// The agreement of a monitor.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) monitor_id: MonitorId,
    pub(super) availability: Option<SlaObjective>,
    pub(super) uptime: Option<SlaObjective>,
    /// Goal of the mean response time, in seconds.
    pub(super) response_time: Option<f64>,
    /// Whether the full page time counts as the response time, if a sample has one.
    uses_full_page_time: bool,
    /// Weekly periods, each with whether it is excluded. If there are included ones, only they count.
    operating_periods: Vec<(bool, TimeWindow)>,
    /// Excluded times, at one location or everywhere.
    exclusions: Vec<(TimeWindow, Option<LocationId>)>,
}

impl Agreement {
    /// Reads the agreement; `None` for a record that is not attached to a monitor.
    pub(super) fn from_record(record: &Record) -> Option<Self> {
        let settings: SlaSettings<'_> = settings_or_skip(record)?;
        let period = |period: &OperatingPeriodSettings<'_>| {
            Some((period.exclude, log_and_skip(record, period.time_window())?))
        };
        let exclusion = |exclusion: &SlaExclusionSettings<'_>| {
            Some((log_and_skip(record, exclusion.time_window())?, exclusion.location_id.map(LocationId)))
        };
        Some(Self {
            id: record.id,
            name: settings.name.to_owned(),
            monitor_id: MonitorId(record.parent_id?),
            availability: settings.availability.and_then(SlaObjective::from_percent),
            uptime: settings.uptime.and_then(SlaObjective::from_percent),
            response_time: settings.response_time,
            uses_full_page_time: settings.use_fullpage_time,
            operating_periods: settings.operating_periods.iter().filter_map(period).collect(),
            exclusions: settings.exclusions.iter().filter_map(exclusion).collect(),
        })
    }

    /// Returns `check` with the duration that counts.
    pub(super) fn with_counted_duration(&self, check: Sample) -> Sample {
        let page = check.full_page_us.filter(|_| self.uses_full_page_time).unwrap_or_default();
        // The full page time covers only the last attempt, `total_us` both: the longer one counts.
        Sample { total_us: check.total_us.max(page), ..check }
    }

    /// Returns the counted times of `from..thru`: operating periods, without exclusions and blackouts of the monitor.
    pub(super) fn counted_times(
        &self,
        calendar: &BlackoutCalendar,
        from: Timestamp,
        thru: Timestamp,
    ) -> SlaScope {
        let zone = calendar.time_zone();
        let ranges_of = |when: &TimeWindow| occurrences_within(when, zone, from, thru);
        let periods = |excluded: bool| -> Vec<_> {
            self.operating_periods
                .iter()
                .filter(|(exclude, _)| *exclude == excluded)
                .flat_map(|(_, when)| ranges_of(when))
                .collect()
        };
        let only = self.operating_periods.iter().any(|(exclude, _)| !exclude);
        let operating = if only {
            TimeRanges::from_ranges(periods(false))
        } else {
            TimeRanges::from_ranges(vec![(from, thru)])
        };
        let mut excluded_ranges = periods(true);
        let mut at_location: HashMap<LocationId, Vec<_>> = HashMap::new();
        for (when, location) in &self.exclusions {
            match location {
                Some(location) => at_location.entry(*location).or_default().extend(ranges_of(when)),
                None => excluded_ranges.extend(ranges_of(when)),
            }
        }
        for target in [BlackoutTarget::Monitor(self.monitor_id), BlackoutTarget::Alert(self.monitor_id)] {
            excluded_ranges.extend(calendar.ranges_between(target, from, thru));
        }
        SlaScope {
            included: operating.clip(from, thru).subtract(&TimeRanges::from_ranges(excluded_ranges)),
            excluded_by_location: at_location
                .into_iter()
                .map(|(at, spans)| (at, TimeRanges::from_ranges(spans)))
                .collect(),
        }
    }
}

fn occurrences_within(
    when: &TimeWindow,
    zone: &TimeZone,
    from: Timestamp,
    thru: Timestamp,
) -> Vec<(Timestamp, Timestamp)> {
    when.occurrences(zone, from).take_while(|(start, _)| *start < thru).collect()
}
