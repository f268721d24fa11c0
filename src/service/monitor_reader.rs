//! Read access to monitors and results for the pages and the API.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::custom_property_filter::CustomPropertyFilters;
use super::events::{EventMarker, event_markers};
use super::monitor_search::MonitorSearch;
use super::overall_health::{HealthLookup, OverallHealth, OverallHealthSource};
use super::property_counts::property_counts;
use super::status_board::{MonitorStatus, PaginatedStatusRows, StatusBoard, StatusQuery, StatusRow};
use crate::catalog::{AccountCache, MonitorCache};
use crate::domain::{
    CapturedFile, CheckId, CheckResult, CustomerId, Location, MonitorId, Paginated, Rollup, RollupQuery,
    Timestamp,
};
use crate::schema::Monitor;
use crate::store::{
    ConfigStore, MonitorLocationState, NewestResultQuery, PaginatedResults, Pagination, ResultFilter,
    ResultStore, StoreError,
};
use crate::sync::RwLock;
use crate::telemetry::PropertyCount;

/// How long a status board is cached.
const BOARD_CACHE_TTL: Duration = Duration::from_secs(1);

/// Reads the monitors in memory and their stored results.
pub struct MonitorReader {
    result_store: Arc<dyn ResultStore>,
    monitor_cache: Arc<MonitorCache>,
    locations: RwLock<Arc<[Location]>>,
    /// The last status board, and when it was read.
    cached_board: Mutex<Option<(Instant, Arc<StatusBoard>)>>,
    health_source: OverallHealthSource,
    /// Supplies the custom properties, once it is set.
    account_cache: OnceLock<Arc<AccountCache>>,
    /// Supplies the events, once it is set.
    config_store: OnceLock<Arc<dyn ConfigStore>>,
}

impl MonitorReader {
    /// Creates the reader of the monitors in `monitor_cache`, which run at `locations`.
    #[must_use]
    pub fn new(
        result_store: Arc<dyn ResultStore>,
        monitor_cache: Arc<MonitorCache>,
        locations: Vec<Location>,
    ) -> Self {
        Self {
            result_store,
            monitor_cache,
            locations: RwLock::new(locations.into()),
            cached_board: Mutex::new(None),
            health_source: OverallHealthSource::default(),
            account_cache: OnceLock::new(),
            config_store: OnceLock::new(),
        }
    }

    /// Sets what supplies the custom properties and the events of accounts; only the first call counts.
    pub fn set_account_data(&self, account_cache: Arc<AccountCache>, config_store: Arc<dyn ConfigStore>) {
        let _ = self.account_cache.set(account_cache);
        let _ = self.config_store.set(config_store);
    }

    /// Returns markers of the newest events of `customer` in `from..until`, oldest first.
    pub async fn event_markers(
        &self,
        customer: CustomerId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<EventMarker>, StoreError> {
        match self.config_store.get() {
            Some(store) => event_markers(&**store, customer, from, until).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the filter of the custom properties `texts`, each `name:value`, for the accounts of `board`. Without
    /// account data, there are no properties.
    pub async fn property_filters(
        &self,
        board: &StatusBoard,
        texts: &[String],
    ) -> Result<CustomPropertyFilters, StoreError> {
        let customers = board.rows.iter().map(|row| row.monitor.customer).collect();
        match self.account_cache.get() {
            Some(account_cache) => CustomPropertyFilters::resolve(account_cache, customers, texts).await,
            None if texts.is_empty() => Ok(CustomPropertyFilters::default()),
            None => Ok(CustomPropertyFilters::matching_no_monitor()),
        }
    }

    /// Returns how many monitors of all accounts have which state and which values of the custom properties `names`.
    pub async fn property_counts(
        &self,
        names: &[String],
        now: Timestamp,
    ) -> Result<Vec<PropertyCount>, StoreError> {
        match self.account_cache.get() {
            Some(account_cache) if !names.is_empty() => {
                property_counts(&*self.status_board(now).await?, account_cache, names).await
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the locations of this process.
    #[must_use]
    pub fn locations(&self) -> Arc<[Location]> {
        Arc::clone(&self.locations.read())
    }

    /// Sets the locations of this process.
    pub fn set_locations(&self, locations: Vec<Location>) {
        *self.locations.write() = locations.into();
    }

    /// Returns the store of the samples that SLA reports are computed from.
    pub(super) fn sample_store(&self) -> &dyn crate::store::SampleStore {
        &*self.result_store
    }

    /// Returns the store of the usage of accounts.
    pub(super) fn usage_store(&self) -> &dyn crate::store::UsageStore {
        &*self.result_store
    }

    /// Returns a monitor of any account.
    #[must_use]
    pub fn monitor(&self, id: MonitorId) -> Option<Monitor> {
        self.monitor_cache.get(id)
    }

    /// Sets the lookup of the health of monitors.
    pub fn set_health_lookup(&self, lookup: HealthLookup) {
        self.health_source.set_lookup(lookup);
    }

    /// Returns the overall health of `monitor`.
    #[must_use]
    pub fn overall_health(&self, monitor: &Monitor, now: Timestamp) -> OverallHealth {
        self.health_source.get(monitor, now)
    }

    /// Returns the status of every monitor at `now`, at most a second old.
    pub async fn status_board(&self, now: Timestamp) -> Result<Arc<StatusBoard>, StoreError> {
        let mut cached = self.cached_board.lock().await;
        if let Some((read_at, board)) = cached.as_ref()
            && read_at.elapsed() < BOARD_CACHE_TTL
        {
            return Ok(Arc::clone(board));
        }
        let (monitors, states) = (self.monitor_cache.all(), self.result_store.location_states().await?);
        // Sorting 100,000 monitors takes long enough to delay the checks that share this thread.
        let board = tokio::task::spawn_blocking(move || build_board(&monitors, states, now)).await;
        // Fails only when the runtime shuts down.
        let board = Arc::new(board.map_err(|_| StoreError::Closed)?);
        *cached = Some((Instant::now(), Arc::clone(&board)));
        Ok(board)
    }

    /// Returns all matching rows of `board`, without their last results; limit and offset do not count.
    #[must_use]
    pub fn matching_rows(&self, board: &StatusBoard, query: &StatusQuery) -> Vec<StatusRow> {
        matching(board, query).cloned().collect()
    }

    /// Returns the matching rows of `board`, with their last results.
    pub async fn status_rows(
        &self,
        board: &StatusBoard,
        query: &StatusQuery,
    ) -> Result<PaginatedStatusRows, StoreError> {
        let count = matching(board, query).count();
        let mut rows: Vec<_> = matching(board, query).skip(query.offset).take(query.limit).cloned().collect();
        let states: Vec<_> = rows.iter().filter_map(|row| row.state.clone()).collect();
        let mut last_results = self.result_store.results_for_states(states).await?.into_iter();
        for row in rows.iter_mut().filter(|row| row.state.is_some()) {
            row.last_result = last_results.next().flatten();
        }
        Ok(PaginatedStatusRows { total: count, rows })
    }

    /// Returns results, newest first.
    pub async fn results(
        &self,
        filter: ResultFilter,
        page: Pagination,
    ) -> Result<PaginatedResults, StoreError> {
        self.result_store.results(filter, page).await
    }

    /// Returns statistics by minute, hour or day, oldest first; `None` when the account has no such monitor.
    pub async fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> Result<Option<Paginated<Rollup>>, StoreError> {
        self.result_store.rollup_points(query, page).await
    }

    /// Returns a capture of a result, with its content.
    pub async fn capture(&self, id: CheckId, name: String) -> Result<Option<CapturedFile>, StoreError> {
        self.result_store.capture(id, name).await
    }

    /// Returns the states of these monitors, by monitor and location.
    pub async fn states_for(
        &self,
        monitors: Vec<MonitorId>,
    ) -> Result<Vec<MonitorLocationState>, StoreError> {
        self.result_store.location_states_for(monitors).await
    }

    /// Returns a result of `customer`, also of a removed monitor; `None` for results of other accounts.
    pub async fn result_for_customer(
        &self,
        customer: CustomerId,
        id: CheckId,
    ) -> Result<Option<CheckResult>, StoreError> {
        let Some(result) = self.result_store.result(id).await? else { return Ok(None) };
        let ownership_filter = ResultFilter {
            monitors: vec![result.monitor_id],
            location: Some(result.location_id),
            from: Some(result.planned_at),
            until: Some(result.planned_at + Duration::from_micros(1)),
            outcomes: Vec::new(),
            customer: Some(customer),
        };
        let found = self.result_store.results(ownership_filter, Pagination { limit: 0, offset: 0 }).await?;
        Ok((found.total > 0).then_some(result))
    }

    /// Returns the last result of the monitor and the location of `result` that passed, before it.
    pub async fn last_passed_before(&self, result: &CheckResult) -> Result<Option<CheckResult>, StoreError> {
        let query = NewestResultQuery {
            monitor_id: result.monitor_id,
            location_id: result.location_id,
            only_passed: true,
            until: Some(result.planned_at),
        };
        Ok(self.result_store.newest_results(vec![query]).await?.into_iter().flatten().next())
    }

    /// Returns one result with its details.
    pub async fn result(&self, id: CheckId) -> Result<Option<CheckResult>, StoreError> {
        self.result_store.result(id).await
    }
}

/// Returns the rows of `board` that match `query`.
fn matching<'a>(board: &'a StatusBoard, query: &'a StatusQuery) -> impl Iterator<Item = &'a StatusRow> {
    let search = MonitorSearch::new(&query.search_text);
    board.rows.iter().filter(move |row| {
        query.status.is_none_or(|status| row.status == status)
            && query.monitor_type.is_none_or(|kind| row.monitor.monitor_type() == kind)
            && query.properties.matches(&row.monitor)
            && search.matches(&row.monitor)
    })
}

fn build_board(monitors: &[Monitor], states: Vec<MonitorLocationState>, now: Timestamp) -> StatusBoard {
    let mut most_urgent: HashMap<MonitorId, MonitorLocationState> = HashMap::with_capacity(states.len());
    for state in states {
        let rank = |state: &MonitorLocationState| {
            (MonitorStatus::LastOutcome(state.outcome).severity_rank(), Reverse(state.planned_at))
        };
        match most_urgent.get(&state.monitor_id) {
            Some(current) if rank(current) <= rank(&state) => {}
            _ => drop(most_urgent.insert(state.monitor_id, state)),
        }
    }
    let to_row = |monitor: &Monitor| {
        let state = most_urgent.remove(&monitor.id);
        let status = match &state {
            _ if !monitor.enabled() => MonitorStatus::Disabled,
            _ if monitor.paused_until(now).is_some() => MonitorStatus::Paused,
            Some(state) => MonitorStatus::LastOutcome(state.outcome),
            None => MonitorStatus::NoResultYet,
        };
        StatusRow { monitor: monitor.clone(), state, status, last_result: None }
    };
    let mut rows: Vec<_> = monitors.iter().map(to_row).collect();
    rows.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    StatusBoard { rows }
}

fn sort_key(row: &StatusRow) -> (usize, &str, MonitorId) {
    (row.status.severity_rank(), row.monitor.name(), row.monitor.id)
}
