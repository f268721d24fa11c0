//! A service level agreement, read from its record, and the time ranges that count for it.

use std::collections::HashMap;

use jiff::tz::TimeZone;

use crate::catalog::record_settings::{ok_or_log_skipped, settings_or_skip};
use crate::domain::{ConfigRecord, LocationId, MonitorId, Sample, Timestamp};
use crate::evaluate::sla::{SlaObjective, SlaScope, TimeRanges};
use crate::schedule::{BlackoutCalendar, BlackoutTarget, TimeWindow};
use crate::schema::typed::record::{OperatingPeriodSettings, SlaExclusionSettings, SlaSettings};

/// The agreement of a monitor.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) monitor_id: MonitorId,
    /// Goal for the share of checks that pass.
    pub(super) availability: Option<SlaObjective>,
    /// Goal for the share of runs that pass at one location or more.
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
    pub(super) fn from_record(record: &ConfigRecord) -> Option<Self> {
        let settings: SlaSettings<'_> = settings_or_skip(record)?;
        let parse_period = |period: &OperatingPeriodSettings<'_>| {
            Some((period.exclude, ok_or_log_skipped(record, period.time_window())?))
        };
        let parse_exclusion = |exclusion: &SlaExclusionSettings<'_>| {
            Some((ok_or_log_skipped(record, exclusion.time_window())?, exclusion.location_id.map(LocationId)))
        };
        Some(Self {
            id: record.id,
            name: settings.name.to_owned(),
            monitor_id: MonitorId(record.parent_id?),
            availability: settings.availability.and_then(SlaObjective::from_percent),
            uptime: settings.uptime.and_then(SlaObjective::from_percent),
            response_time: settings.response_time,
            uses_full_page_time: settings.use_fullpage_time,
            operating_periods: settings.operating_periods.iter().filter_map(parse_period).collect(),
            exclusions: settings.exclusions.iter().filter_map(parse_exclusion).collect(),
        })
    }

    /// Returns `sample` with the duration that counts.
    pub(super) fn with_counted_duration(&self, sample: Sample) -> Sample {
        let full_page_us = sample.full_page_us.filter(|_| self.uses_full_page_time).unwrap_or_default();
        // The full page time covers only the last attempt, `duration_us` both: the longer one counts.
        Sample { duration_us: sample.duration_us.max(full_page_us), ..sample }
    }

    /// Returns the counted times of `from..until`: operating periods, without exclusions and blackouts of the monitor.
    pub(super) fn counted_times(
        &self,
        calendar: &BlackoutCalendar,
        from: Timestamp,
        until: Timestamp,
    ) -> SlaScope {
        let zone = calendar.time_zone();
        let occurrence_ranges = |window: &TimeWindow| occurrences_within(window, zone, from, until);
        let period_ranges = |excluded: bool| -> Vec<_> {
            self.operating_periods
                .iter()
                .filter(|(exclude, _)| *exclude == excluded)
                .flat_map(|(_, window)| occurrence_ranges(window))
                .collect()
        };
        let has_included_periods = self.operating_periods.iter().any(|(exclude, _)| !exclude);
        let operating_ranges = if has_included_periods {
            TimeRanges::from_ranges(period_ranges(false))
        } else {
            TimeRanges::from_ranges(vec![(from, until)])
        };
        let mut excluded_ranges = period_ranges(true);
        let mut excluded_by_location: HashMap<LocationId, Vec<_>> = HashMap::new();
        for (window, location) in &self.exclusions {
            match location {
                Some(location) => {
                    excluded_by_location.entry(*location).or_default().extend(occurrence_ranges(window));
                }
                None => excluded_ranges.extend(occurrence_ranges(window)),
            }
        }
        let ranges_with_blackouts =
            operating_ranges.clip(from, until).subtract(&TimeRanges::from_ranges(excluded_ranges));
        let targets = [BlackoutTarget::Monitor(self.monitor_id), BlackoutTarget::Alert(self.monitor_id)];
        let blackouts = targets.into_iter().flat_map(|target| calendar.ranges_between(target, from, until));
        SlaScope {
            included_ranges: ranges_with_blackouts.subtract(&TimeRanges::from_ranges(blackouts.collect())),
            ranges_with_blackouts,
            excluded_by_location: excluded_by_location
                .into_iter()
                .map(|(location, ranges)| (location, TimeRanges::from_ranges(ranges)))
                .collect(),
        }
    }
}

fn occurrences_within(
    window: &TimeWindow,
    zone: &TimeZone,
    from: Timestamp,
    until: Timestamp,
) -> Vec<(Timestamp, Timestamp)> {
    window.occurrences(zone, from).take_while(|(start, _)| *start < until).collect()
}
