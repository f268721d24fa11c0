//! Loads the last stored pages, which the first results of this process are compared with: all those of a batch at
//! once.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::{CheckResult, LocationId, MonitorId, SecurityFinding, Timestamp};
use crate::evaluate::page_comparison::PageBaseline;
use crate::store::{NewestResultQuery, ResultStore, StoreError};

use super::engine::AlertEngine;
use super::location_results::passing_page_fingerprint;

impl AlertEngine {
    /// Loads the baselines that `results` are the first ones to need.
    pub(super) async fn load_baselines(&mut self, results: &[CheckResult]) {
        let (mut page_keys, mut object_keys, mut scan_keys) = (Vec::new(), Vec::new(), Vec::new());
        for result in results.iter().filter(|result| result.trigger.is_schedule()) {
            let Some(entry) = self.monitors.get_mut(&result.monitor_id).filter(|entry| entry.is_active)
            else {
                continue;
            };
            let (key, location) = ((result.monitor_id, result.location_id), result.location_id);
            let needs_last_page =
                !entry.last_pages.iter().any(|(known_location, _)| *known_location == location)
                    && passing_page_fingerprint(result).is_some();
            let needs_object_baseline = result.details.page_load.is_some()
                && !entry.object_baselines.iter().any(|(known_location, _)| *known_location == location);
            let needs_last_scan = result.facts.security.is_some()
                && !entry.last_scans.iter().any(|(known_location, _)| *known_location == location);
            if needs_last_scan {
                scan_keys.push((key, result.planned_at));
            }
            if !needs_last_page && !needs_object_baseline {
                continue;
            }
            let account = self.account_snapshots.get(entry.monitor.customer);
            let Some((account, account_version)) = account else { continue };
            let rules = entry.rules(account, account_version, self.settings);
            if needs_last_page && rules.policy.notify_on_content_change {
                page_keys.push(key);
            }
            if needs_object_baseline && rules.object_comparison.is_some() {
                object_keys.push(key);
            }
        }
        let result_store = self.dependencies.result_store.as_ref();
        let last_passing_results = read_last_passing_results(result_store, &page_keys).await;
        let full_page_results = read_last_full_page_results(result_store, &object_keys).await;
        for ((monitor_id, location), planned_at) in scan_keys {
            let findings = read_last_findings(result_store, (monitor_id, location), planned_at).await;
            if let Some(entry) = self.monitors.get_mut(&monitor_id)
                && !entry.last_scans.iter().any(|(known_location, _)| *known_location == location)
            {
                entry.last_scans.push((location, findings));
            }
        }
        for (monitor_id, location) in page_keys {
            let baseline =
                last_passing_results.get(&(monitor_id, location)).and_then(passing_page_fingerprint);
            if let Some(entry) = self.monitors.get_mut(&monitor_id)
                && !entry.last_pages.iter().any(|(known_location, _)| *known_location == location)
            {
                entry.last_pages.push((location, baseline));
            }
        }
        for (monitor_id, location) in object_keys {
            let full_page = full_page_results.get(&(monitor_id, location));
            let full_page = full_page.and_then(|result| result.details.page_load.as_deref());
            let baseline = full_page.and_then(|page| PageBaseline::from_page(page, None));
            if let Some(entry) = self.monitors.get_mut(&monitor_id)
                && !entry.object_baselines.iter().any(|(known_location, _)| *known_location == location)
            {
                entry.object_baselines.push((location, baseline));
            }
        }
    }
}

type ResultsByMonitorAndLocation = HashMap<(MonitorId, LocationId), CheckResult>;

/// Reads the last passing result of each monitor and location.
async fn read_last_passing_results(
    result_store: &dyn ResultStore,
    keys: &[(MonitorId, LocationId)],
) -> ResultsByMonitorAndLocation {
    let query = |&(monitor_id, location_id): &_| NewestResultQuery {
        monitor_id,
        location_id,
        only_passed: true,
        until: None,
    };
    read_newest(result_store, keys.iter().map(query).collect()).await
}

/// Checks without a scan that are skipped on the way back to the last scan, such as those that did not reach their
/// target.
const MAX_SKIPPED_CHECKS: usize = 50;

/// Reads the findings of the last security scan of a monitor at a location before `until`.
async fn read_last_findings(
    result_store: &dyn ResultStore,
    (monitor_id, location_id): (MonitorId, LocationId),
    until: Timestamp,
) -> Option<Vec<SecurityFinding>> {
    let mut until = Some(until);
    for _ in 0..MAX_SKIPPED_CHECKS {
        let query = NewestResultQuery { monitor_id, location_id, only_passed: false, until };
        let result = read_newest(result_store, vec![query]).await.into_values().next()?;
        if let Some(scan) = result.facts.security {
            return Some(scan.findings);
        }
        until = Some(result.planned_at);
    }
    None
}

/// Reads the last result with a full page of each monitor and location.
async fn read_last_full_page_results(
    result_store: &dyn ResultStore,
    keys: &[(MonitorId, LocationId)],
) -> ResultsByMonitorAndLocation {
    if keys.is_empty() {
        return HashMap::new();
    }
    let monitor_ids = keys.iter().map(|(monitor_id, _)| *monitor_id).collect();
    let states = log_read_error(result_store.location_states_for(monitor_ids).await).unwrap_or_default();
    let states = states.iter().filter(|state| keys.contains(&(state.monitor_id, state.location_id)));
    let queries = states.filter_map(|state| {
        // The newest run planned before the full page check started is the run of that check.
        let until = Some(state.last_full_page_at? + Duration::from_micros(1));
        let (monitor_id, location_id) = (state.monitor_id, state.location_id);
        Some(NewestResultQuery { monitor_id, location_id, only_passed: false, until })
    });
    read_newest(result_store, queries.collect()).await
}

/// Runs `queries`; the result is empty when the store cannot be read, which is logged.
async fn read_newest(
    result_store: &dyn ResultStore,
    queries: Vec<NewestResultQuery>,
) -> ResultsByMonitorAndLocation {
    if queries.is_empty() {
        return HashMap::new();
    }
    let results = log_read_error(result_store.newest_results(queries).await).unwrap_or_default();
    results.into_iter().flatten().map(|result| ((result.monitor_id, result.location_id), result)).collect()
}

/// Converts `result` to an option; logs an error.
fn log_read_error<T>(result: Result<T, StoreError>) -> Option<T> {
    if let Err(error) = &result {
        tracing::error!(
            error_kind = error.kind(),
            "failed to read the last pages; changes of them are not detected: {error}"
        );
    }
    result.ok()
}
