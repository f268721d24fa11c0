//! Read access to monitors and results for the pages and the API.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::account_choices::{AccountChoices, AccountLabels};
use super::board_cache::BoardCache;
use super::caller::Caller;
use super::custom_property_filter::CustomPropertyFilters;
use super::error_budget_cache::ErrorBudgetCache;
use super::events::{EventMarker, event_markers};
use super::known_locations::{KnownLocations, LocationAudience, RemoteLocationName};
use super::monitor_metrics::MetricsCache;
use super::overall_health::{HealthLookup, OverallHealth, OverallHealthSource};
use super::property_counts::property_counts;
use super::rollup_cache::RollupCache;
use super::saved_views::{SavedView, saved_view, saved_views};
use super::status_board::{PaginatedStatusRows, StatusBoard};
use super::status_groups::{StatusGroup, status_groups};
use super::status_query::{StatusQuery, matching, window};
use super::status_row::StatusRow;
use crate::alerting::{MonitorHealth, MonitorsOfRecipient};
use crate::catalog::{AccountCache, MonitorCache};
use crate::domain::{
    CapturedFile, CheckId, CheckResult, CustomerId, Location, MonitorId, Paginated, RecipientId, Rollup,
    RollupQuery, RollupStep, Timestamp,
};
use crate::schema::Monitor;
use crate::store::{
    AlertStore, ConfigStore, HostStore, MonitorLocationState, NewestResultQuery, PaginatedResults,
    Pagination, ResultFilter, ResultStore, StoreError,
};
use crate::telemetry::PropertyCount;

/// Reads the monitors in memory and their stored results.
pub struct MonitorReader {
    result_store: Arc<dyn ResultStore>,
    monitor_cache: Arc<MonitorCache>,
    locations: KnownLocations,
    board_cache: BoardCache,
    rollup_cache: RollupCache,
    health_source: OverallHealthSource,
    /// Supplies the custom properties, once it is set.
    account_cache: OnceLock<Arc<AccountCache>>,
    /// Supplies events, agreements and the audit trail, once it is set.
    config_store: OnceLock<Arc<dyn ConfigStore>>,
    /// Supplies outages, once it is set.
    alert_store: OnceLock<Arc<dyn AlertStore>>,
    /// Supplies what hosts reported, once it is set.
    host_store: OnceLock<Arc<dyn HostStore>>,
    error_budget_cache: ErrorBudgetCache,
    metrics_cache: MetricsCache,
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
            board_cache: BoardCache::new(Arc::clone(&result_store), Arc::clone(&monitor_cache)),
            result_store,
            monitor_cache,
            locations: KnownLocations::new(locations),
            rollup_cache: RollupCache::default(),
            health_source: OverallHealthSource::default(),
            account_cache: OnceLock::new(),
            config_store: OnceLock::new(),
            alert_store: OnceLock::new(),
            host_store: OnceLock::new(),
            error_budget_cache: ErrorBudgetCache::default(),
            metrics_cache: MetricsCache::default(),
        }
    }

    /// Sets what supplies the custom properties, the events and the outages of accounts; only the first call counts.
    pub fn set_account_data(
        &self,
        account_cache: Arc<AccountCache>,
        config_store: Arc<dyn ConfigStore>,
        alert_store: Arc<dyn AlertStore>,
    ) {
        let _ = self.account_cache.set(account_cache);
        let _ = self.config_store.set(config_store);
        let _ = self.alert_store.set(alert_store);
    }

    /// Sets what supplies the reports of hosts; only the first call counts.
    pub fn set_host_store(&self, host_store: Arc<dyn HostStore>) {
        let _ = self.host_store.set(host_store);
    }

    /// Returns the store of reports of hosts; `None` where there are none.
    pub(super) fn host_store(&self) -> Option<&dyn HostStore> {
        self.host_store.get().map(|store| &**store)
    }

    /// Returns what supplies account data; `None` where there are no accounts.
    pub(super) fn account_cache(&self) -> Option<&AccountCache> {
        self.account_cache.get().map(|cache| &**cache)
    }

    /// Returns the store of records and of the audit trail; `None` where there are no accounts.
    pub(super) fn config_store(&self) -> Option<&dyn ConfigStore> {
        self.config_store.get().map(|store| &**store)
    }

    /// Returns the store of outages; `None` where there are no accounts.
    pub(super) fn alert_store(&self) -> Option<&dyn AlertStore> {
        self.alert_store.get().map(|store| &**store)
    }

    /// Returns the store of results.
    pub(super) fn result_store(&self) -> &dyn ResultStore {
        &*self.result_store
    }

    /// Returns the monitors with an open outage; `None` where nobody knows.
    pub(super) fn monitors_with_outage(&self) -> Option<HashSet<MonitorId>> {
        self.health_source.down_monitors().map(|monitors| monitors.into_iter().collect())
    }

    /// Returns what the last pages of metrics were made of.
    pub(super) const fn metrics_cache(&self) -> &MetricsCache {
        &self.metrics_cache
    }

    /// Returns the error budgets that were computed lately.
    pub(super) const fn error_budget_cache(&self) -> &ErrorBudgetCache {
        &self.error_budget_cache
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
        match self.account_cache.get() {
            _ if texts.is_empty() => Ok(CustomPropertyFilters::default()),
            Some(account_cache) => {
                CustomPropertyFilters::resolve(account_cache, board.customers(), texts).await
            }
            None => Ok(CustomPropertyFilters::matching_no_monitor()),
        }
    }

    /// Returns how the account `customer` is called, and its time zone; `None` without account data.
    pub async fn account_labels(&self, customer: CustomerId) -> Result<Option<AccountLabels>, StoreError> {
        let Some(account_cache) = self.account_cache.get() else { return Ok(None) };
        let account = account_cache.account(customer).await?;
        let time_zone = account.time_zone.iana_name().map(str::to_owned);
        Ok(Some(AccountLabels { name: account.name.clone(), time_zone }))
    }

    /// Returns what of the account `customer` a person can choose; nothing without account data.
    pub async fn account_choices(&self, customer: CustomerId) -> Result<AccountChoices, StoreError> {
        match self.account_cache.get() {
            Some(account_cache) => Ok(AccountChoices::new(&*account_cache.account(customer).await?)),
            None => Ok(AccountChoices::default()),
        }
    }

    /// Returns the views of the list that `caller` may see, by name; none without account data.
    pub async fn saved_views(&self, caller: &Caller) -> Result<Vec<SavedView>, StoreError> {
        match self.config_store.get() {
            Some(config_store) => saved_views(&**config_store, caller).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the view of the list with this id or name; `None` for one that `caller` may not see.
    pub async fn saved_view(
        &self,
        caller: &Caller,
        id_or_name: &str,
    ) -> Result<Option<SavedView>, StoreError> {
        match self.config_store.get() {
            Some(config_store) => saved_view(&**config_store, caller, id_or_name).await,
            None => Ok(None),
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

    /// Returns the locations of this process, and those with agents on other hosts, whose names pages show.
    #[must_use]
    pub fn locations(&self) -> Arc<[Location]> {
        self.locations.all()
    }

    /// Returns those of [`Self::locations`] that `audience` may choose.
    #[must_use]
    pub fn locations_for(&self, audience: LocationAudience) -> Arc<[Location]> {
        self.locations.for_audience(audience)
    }

    /// Sets the locations with agents on other hosts.
    pub fn set_remote_locations(&self, locations: Vec<RemoteLocationName>) {
        self.locations.set_remote(locations);
    }

    /// Sets the locations of this process.
    pub fn set_locations(&self, locations: Vec<Location>) {
        self.locations.set_local(locations);
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

    /// Returns the number of monitors.
    pub(super) fn monitor_count(&self) -> usize {
        self.monitor_cache.len()
    }

    /// Sets the lookup of the health of monitors.
    pub fn set_health_lookup(&self, lookup: Arc<dyn HealthLookup>) {
        self.health_source.set_lookup(lookup);
    }

    /// Returns the overall health of `monitor`.
    #[must_use]
    pub fn overall_health(&self, monitor: &Monitor, now: Timestamp) -> OverallHealth {
        self.health_source.get(monitor, now)
    }

    /// Returns the status of every monitor at `now`. Changes of monitors are included, results up to two seconds ago.
    pub async fn status_board(&self, now: Timestamp) -> Result<Arc<StatusBoard>, StoreError> {
        self.board_cache.get(now).await
    }

    /// Returns all matching rows of `board` in their order, without their last results; limit and offset do not count.
    #[must_use]
    pub fn matching_rows(
        &self,
        board: &StatusBoard,
        query: &StatusQuery,
        now: Timestamp,
    ) -> Vec<Arc<StatusRow>> {
        let down = self.down_monitors(query, now);
        let query = StatusQuery { limit: usize::MAX, offset: 0, ..query.clone() };
        window(board, matching(board, &query, &down), &query).1.into_iter().cloned().collect()
    }

    /// Returns the matching rows of `board` by their values of the custom property `name`, with the values of accounts for
    /// which `is_known` holds.
    pub async fn status_groups(
        &self,
        board: &StatusBoard,
        query: &StatusQuery,
        name: &str,
        is_known: impl Fn(CustomerId) -> bool,
        now: Timestamp,
    ) -> Result<Vec<StatusGroup>, StoreError> {
        let rows = self.matching_rows(board, query, now);
        match self.account_cache.get() {
            Some(account_cache) => status_groups(rows.iter(), account_cache, name, is_known).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns, for each account of `board` for which `is_known` holds, the monitors about which its recipient `recipient`
    /// can be told.
    pub async fn monitors_of_recipient(
        &self,
        board: &StatusBoard,
        recipient: RecipientId,
        is_known: impl Fn(CustomerId) -> bool,
    ) -> Result<HashMap<CustomerId, MonitorsOfRecipient>, StoreError> {
        let mut monitors = HashMap::new();
        let Some(account_cache) = self.account_cache.get() else { return Ok(monitors) };
        for customer in board.customers().iter().copied().filter(|customer| is_known(*customer)) {
            let account = account_cache.account(customer).await?;
            monitors.insert(customer, MonitorsOfRecipient::new(&account.contacts, recipient));
        }
        Ok(monitors)
    }

    /// Returns the monitors with an open outage that run; none when `query` does not ask for them.
    fn down_monitors(&self, query: &StatusQuery, now: Timestamp) -> HashSet<MonitorId> {
        if !query.only_down {
            return HashSet::new();
        }
        let is_down = |id: &MonitorId| {
            let health = self.monitor(*id).map(|monitor| self.overall_health(&monitor, now));
            health == Some(OverallHealth::Active(MonitorHealth::Down))
        };
        self.health_source.down_monitors().into_iter().flatten().filter(is_down).collect()
    }

    /// Returns the matching rows of `board`, with their last results.
    pub async fn status_rows(
        &self,
        board: &StatusBoard,
        query: &StatusQuery,
        now: Timestamp,
    ) -> Result<PaginatedStatusRows, StoreError> {
        let (total, mut rows) = {
            let down = self.down_monitors(query, now);
            let (total, rows) = window(board, matching(board, query, &down), query);
            (total, rows.into_iter().map(|row| StatusRow::clone(row)).collect::<Vec<_>>())
        };
        let states: Vec<_> = rows.iter().filter_map(|row| row.state.clone()).collect();
        let mut last_results = self.result_store.results_for_states(states).await?.into_iter();
        for row in rows.iter_mut().filter(|row| row.state.is_some()) {
            row.last_result = last_results.next().flatten().map(Box::new);
        }
        Ok(PaginatedStatusRows { total, rows })
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

    /// Returns the statistics of a monitor since `from` for people, by location, oldest first; at most a minute old.
    pub async fn rollups_for_pages(
        &self,
        monitor: MonitorId,
        step: RollupStep,
        from: Timestamp,
        now: Timestamp,
    ) -> Result<Arc<[Rollup]>, StoreError> {
        self.rollup_cache.get(&*self.result_store, monitor, step, (from, now)).await
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

    /// Returns the account of a monitor, also of a removed one.
    pub async fn customer_for_monitor(&self, id: MonitorId) -> Result<Option<CustomerId>, StoreError> {
        match (self.monitor(id), self.config_store.get()) {
            (Some(monitor), _) => Ok(Some(monitor.customer)),
            (None, Some(config_store)) => config_store.customer_for_monitor(id).await,
            (None, None) => Ok(None),
        }
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
