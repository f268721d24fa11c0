//! What a location judges of a `hostagent` monitor: the newest values, and those of the runs before.

use std::time::Duration;

use super::host_service::HostService;
use crate::catalog::record_settings::settings_from_record;
use crate::domain::{
    ConfigRecord, HostHistoryQuery, HostHistoryRow, HostId, HostReport, HostSpan, LocationId, MonitorId,
    PushStatus, PushedState, ReportedState, ReportedStateError, SeriesReadings, Timestamp,
};
use crate::schema::Monitor;
use crate::schema::host_reference::find_host_id;
use crate::schema::typed::host_agent::{HostAgentSettings, ReportSource};
use crate::schema::typed::record::HostSettings;
use crate::store::StoreError;
use crate::syntax::prometheus::selector::MetricSelector;
use crate::syntax::prometheus::series_name::SeriesName;

/// A host is overdue after this many intervals without a report.
const OVERDUE_INTERVALS: u32 = 2;
/// Most series of a reply; further ones are not judged by a threshold that means all series of a metric.
const MAX_SERIES: usize = 200;

impl HostService {
    /// Returns what is known of the monitor now.
    ///
    /// # Errors
    /// [`ReportedStateError::NotConfigured`] when the monitor lacks its host or token,
    /// [`ReportedStateError::Unavailable`] when the store fails.
    pub async fn reported_state(&self, monitor_id: MonitorId) -> Result<ReportedState, ReportedStateError> {
        let unknown = || ReportedStateError::NotConfigured("the monitor does not exist any more".to_owned());
        let monitor = self.dependencies.monitor_cache.get(monitor_id).ok_or_else(unknown)?;
        let settings: HostAgentSettings<'_> = monitor
            .document
            .deserialize()
            .map_err(|error| ReportedStateError::NotConfigured(error.to_string()))?;
        match settings.report {
            ReportSource::Push => self.pushed_state(&monitor, settings.grace).await,
            ReportSource::Agent => {
                let host = self.host_of(&monitor, &settings).await?;
                self.agent_state(&monitor, &settings, &host).await
            }
            ReportSource::Scrape => {
                let host = self.host_of(&monitor, &settings).await?;
                let host: HostSettings<'_> = read(&host)?;
                let url = host.metrics_url.ok_or_else(|| {
                    let message = format!("the host `{}` has no `metrics_url`", host.name);
                    ReportedStateError::NotConfigured(message)
                })?;
                Ok(ReportedState {
                    was_reported: true,
                    address: host.address.map(str::to_owned),
                    metrics_url: Some(url.to_owned()),
                    ..ReportedState::default()
                })
            }
        }
    }

    /// As [`Self::reported_state`], for an agent of `location` on another host: only for monitors of accounts that may use
    /// the location.
    ///
    /// # Errors
    /// As [`Self::reported_state`].
    pub async fn reported_state_for_location(
        &self,
        location: LocationId,
        monitor_id: MonitorId,
    ) -> Result<ReportedState, ReportedStateError> {
        let unknown =
            || ReportedStateError::NotConfigured("the monitor is not checked at this location".to_owned());
        let monitor = self.dependencies.monitor_cache.get(monitor_id).ok_or_else(unknown)?;
        let account = self.dependencies.account_cache.account(monitor.customer).await;
        let account = account.map_err(|error| unavailable(&error))?;
        if !account.locations.contains_key(&location.0) {
            return Err(unknown());
        }
        self.reported_state(monitor_id).await
    }

    async fn host_of(
        &self,
        monitor: &Monitor,
        settings: &HostAgentSettings<'_>,
    ) -> Result<ConfigRecord, ReportedStateError> {
        let reference = settings.host_id.unwrap_or_default();
        let account = self.dependencies.account_cache.account(monitor.customer).await;
        let account = account.map_err(|error| unavailable(&error))?;
        let missing = || {
            let message = format!("`host_id`: the account has no host with the id or name `{reference}`");
            ReportedStateError::NotConfigured(message)
        };
        let id = find_host_id(&account.hosts, reference).ok_or_else(missing)?;
        let host = self.find_of(monitor.customer, HostId(id)).await.map_err(|error| unavailable(&error))?;
        host.ok_or_else(missing)
    }

    async fn agent_state(
        &self,
        monitor: &Monitor,
        settings: &HostAgentSettings<'_>,
        host: &ConfigRecord,
    ) -> Result<ReportedState, ReportedStateError> {
        let host_settings: HostSettings<'_> = read(host)?;
        let host_id = HostId(host.id);
        let now = self.dependencies.clock.now();
        let interval = Duration::from_secs(u64::from(host_settings.report_interval_s));
        let newest = self.dependencies.host_store.host_state(host_id).await;
        let newest = newest.map_err(|error| unavailable(&error))?;
        // A host that was just made has the time of two intervals for its first report.
        let last_at = newest.as_ref().map_or(host.created_at, |report| report.measured_at);
        let overdue_after = interval * OVERDUE_INTERVALS;
        let mut state = ReportedState {
            silent_us: micros(now.since(last_at)),
            overdue_after_us: micros(overdue_after),
            was_reported: newest.is_some(),
            address: host_settings.address.map(str::to_owned),
            ..ReportedState::default()
        };
        if let Some(newest) = newest {
            let history = self.history_of_runs(monitor, settings, &newest, overdue_after).await;
            state.series = history.map_err(|error| unavailable(&error))?;
            state.agent_version = newest.agent_version;
        }
        Ok(state)
    }

    /// Returns the series that the thresholds are about, with their values at the last runs.
    async fn history_of_runs(
        &self,
        monitor: &Monitor,
        settings: &HostAgentSettings<'_>,
        newest: &HostReport,
        max_age: Duration,
    ) -> Result<Vec<SeriesReadings>, StoreError> {
        let selectors: Vec<MetricSelector> =
            settings.thresholds.iter().filter_map(|one| MetricSelector::parse(one.metric).ok()).collect();
        let is_selected = |series: &str| {
            SeriesName::parse(series)
                .is_ok_and(|series| selectors.iter().any(|selector| selector.matches_series(&series)))
        };
        let selected = newest.values.iter().filter(|value| is_selected(&value.series));
        let mut series: Vec<SeriesReadings> = selected
            .take(MAX_SERIES)
            .map(|value| SeriesReadings { series: value.series.clone(), values: vec![value.value] })
            .collect();
        let run_count = settings.thresholds.iter().map(|threshold| threshold.run_count).max().unwrap_or(1);
        if run_count > 1 && !series.is_empty() {
            let run_interval = monitor.interval();
            let from = newest.measured_at - run_interval * run_count - max_age;
            let query = HostHistoryQuery {
                host_id: newest.host_id,
                span: HostSpan::Report,
                from,
                until: newest.measured_at,
            };
            let rows = self.dependencies.host_store.host_history(query).await?;
            add_earlier_values(&mut series, &rows, newest.measured_at, (run_interval, run_count), max_age);
        }
        Ok(series)
    }

    async fn pushed_state(
        &self,
        monitor: &Monitor,
        grace_s: u64,
    ) -> Result<ReportedState, ReportedStateError> {
        let stored = self.dependencies.push_store.push_state(monitor.id).await;
        let stored = stored.map_err(|error| unavailable(&error))?;
        let now = self.dependencies.clock.now();
        let no_token = || {
            let message = "no push token was made yet: POST /api/v3/monitors/{id}/push-token";
            ReportedStateError::NotConfigured(message.to_owned())
        };
        let state = stored.ok_or_else(no_token)?;
        let awaited_since = state.token_created_at.unwrap_or(now);
        let last_at = state.last.as_ref().map_or(awaited_since, |push| push.received_at);
        let push = state.last.as_ref().map(|push| PushedState {
            is_down: push.status == PushStatus::Down,
            message: push.message.clone(),
            duration_us: push.duration_us,
            exit_code: push.exit_code,
            output: push.output.clone(),
            running_us: None,
        });
        let running_us = state.started_at.map(|started_at| micros(now.since(started_at)));
        let push = match (push, running_us) {
            (None, None) => None,
            (push, running_us) => Some(PushedState { running_us, ..push.unwrap_or_default() }),
        };
        Ok(ReportedState {
            silent_us: micros(now.since(last_at)),
            overdue_after_us: micros(monitor.interval() + Duration::from_secs(grace_s)),
            was_reported: state.last.is_some(),
            push,
            ..ReportedState::default()
        })
    }
}

/// Adds the values at the runs before: of each the newest row before it that is not older than `max_age` then. A series
/// ends at the first run without one.
fn add_earlier_values(
    series: &mut [SeriesReadings],
    rows: &[HostHistoryRow],
    newest_at: Timestamp,
    (run_interval, run_count): (Duration, u32),
    max_age: Duration,
) {
    for run in 1..run_count {
        let at = newest_at - run_interval * run;
        let row = rows.iter().rev().find(|row| row.start <= at).filter(|row| at.since(row.start) <= max_age);
        let Some(row) = row else { return };
        for readings in series.iter_mut().filter(|one| one.values.len() == run as usize) {
            let value = row.values.iter().find(|value| value.series == readings.series);
            readings.values.extend(value.map(|value| value.mean));
        }
    }
}

fn read(host: &ConfigRecord) -> Result<HostSettings<'_>, ReportedStateError> {
    settings_from_record(host).map_err(|error| ReportedStateError::NotConfigured(error.to_string()))
}

fn unavailable(error: &StoreError) -> ReportedStateError {
    ReportedStateError::Unavailable(format!("the database does not work: {error}"))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SeriesStatistics;

    #[test]
    fn the_values_of_earlier_runs_end_at_a_gap() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let minute = Duration::from_mins(1);
        let row = |minutes: u32, value: f64| HostHistoryRow {
            start: now - minute * minutes,
            values: vec![SeriesStatistics {
                series: "load1".to_owned(),
                min: value,
                mean: value,
                max: value,
            }],
        };
        let mut series = vec![SeriesReadings { series: "load1".to_owned(), values: vec![9.0] }];
        let rows = [row(20, 1.0), row(11, 2.0), row(5, 3.0), row(1, 4.0)];
        add_earlier_values(&mut series, &rows, now, (minute * 5, 5), minute * 2);
        // At 5 minutes the row of then, at 10 the one a minute before; at 15 there is none within two minutes.
        assert_eq!(series[0].values, [9.0, 3.0, 2.0]);
    }
}
