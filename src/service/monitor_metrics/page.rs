//! The page with the metrics of monitors.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::budgets::{KnownBudgets, known_budgets};
use super::figures::figures_of;
use super::page_part::PagePart;
use super::samples::{PropertyLabel, idle_reason, location_names, monitor_sample};
use crate::catalog::AccountSnapshot;
use crate::domain::{CustomerId, MonitorId, Timestamp};
use crate::export::{LocationSample, MonitorExposition};
use crate::service::monitor_reader::MonitorReader;
use crate::service::status_board::StatusBoard;
use crate::service::status_query::StatusQuery;
use crate::service::status_row::StatusRow;
use crate::store::{MonitorLocationState, StoreError};
use crate::telemetry::{Metrics, ResultFigures};

/// Most monitors whose states are read at once.
const CHUNK_MONITORS: usize = 1_000;

/// What a page of metrics is to have.
pub struct MonitorMetricsRequest {
    /// The monitors, those of `customer` if that is set.
    pub board: Arc<StatusBoard>,
    /// The account; `None` for all.
    pub customer: Option<CustomerId>,
    /// Which of them. With a location, only series of that location.
    pub query: StatusQuery,
    /// Which part of these.
    pub part: PagePart,
    /// Most series of a monitor, without those of histograms.
    pub max_series: u32,
    /// Labels of custom properties, each with the name of its property.
    pub properties: Vec<(String, String)>,
    /// The time of the page.
    pub now: Timestamp,
}

/// A page of metrics, whose text is made part by part.
pub struct MonitorMetricsPage(MonitorExposition);

impl MonitorMetricsRequest {
    /// Returns the monitors of the page.
    #[must_use]
    pub fn rows(&self, reader: &MonitorReader) -> Vec<Arc<StatusRow>> {
        let mut rows = reader.matching_rows(&self.board, &self.query, self.now);
        rows.retain(|row| self.part.contains(row.monitor.id));
        rows
    }
}

impl MonitorMetricsPage {
    /// Loads the values of `rows`, which are of `request`; `metrics` has their histograms, if there are any.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn load(
        reader: &Arc<MonitorReader>,
        metrics: &Arc<Metrics>,
        request: &MonitorMetricsRequest,
        rows: Vec<Arc<StatusRow>>,
    ) -> Result<Self, StoreError> {
        let states = states_of(reader, &rows, request).await?;
        let last_figures = metrics.last_figures();
        last_figures.forget_removed(reader.monitor_count(), |id| reader.monitor(id).is_some());
        forget_removed_histograms(reader, metrics);
        let figures = figures_of(last_figures, reader.result_store(), &states).await?;
        let budgets = known_budgets(reader, request.customer, request.now).await?;
        let outages = reader.monitors_with_outage();
        let accounts = accounts_of(reader, &rows, &request.properties).await?;
        let names = location_names(&reader.locations());
        let (metrics, properties, max_series) =
            (Arc::clone(metrics), request.properties.clone(), request.max_series);
        // With 100,000 monitors it takes long enough to delay the checks that share this thread.
        let page = tokio::task::spawn_blocking(move || {
            let KnownBudgets { mut by_monitor, missing } = budgets;
            let values = location_samples(states, figures, &metrics);
            let samples = rows.iter().map(|row| {
                let id = row.monitor.id;
                let mut sample = monitor_sample(row, samples_of(&values, id), &properties, &accounts);
                sample.has_open_outage = outages.as_ref().map(|outages| outages.contains(&id));
                sample.budgets = by_monitor.remove(&id).unwrap_or_default().into();
                sample
            });
            Self(MonitorExposition::new(samples.collect(), max_series, &names, missing))
        });
        // Fails only when the runtime shuts down.
        page.await.map_err(|_| StoreError::Closed)
    }

    /// Returns the next part of the text, in whole lines; `None` after its end.
    pub fn next_part(&mut self) -> Option<String> {
        self.0.next_part()
    }
}

/// Returns the states of those of `rows` that have values now: of a monitor at one location, the board has it.
async fn states_of(
    reader: &MonitorReader,
    rows: &[Arc<StatusRow>],
    request: &MonitorMetricsRequest,
) -> Result<Vec<MonitorLocationState>, StoreError> {
    let with_values = rows.iter().filter(|row| idle_reason(row.status).is_none());
    let (single, several): (Vec<_>, Vec<_>) = with_values.partition(|row| row.locations.len() <= 1);
    let mut states: Vec<MonitorLocationState> =
        single.into_iter().filter_map(|row| row.state.clone()).collect();
    for chunk in several.chunks(CHUNK_MONITORS) {
        states.extend(reader.states_for(chunk.iter().map(|row| row.monitor.id).collect()).await?);
    }
    let is_wanted = |state: &MonitorLocationState| {
        request.query.location.is_none_or(|wanted| wanted == state.location_id)
    };
    states.retain(is_wanted);
    states.sort_unstable_by_key(|state| (state.monitor_id, state.location_id));
    Ok(states)
}

/// Returns the accounts of `rows`, for the values of `properties`.
async fn accounts_of(
    reader: &MonitorReader,
    rows: &[Arc<StatusRow>],
    properties: &[PropertyLabel],
) -> Result<HashMap<CustomerId, Arc<AccountSnapshot>>, StoreError> {
    let mut accounts = HashMap::new();
    let Some(account_cache) = reader.account_cache().filter(|_| !properties.is_empty()) else {
        return Ok(accounts);
    };
    for row in rows {
        let customer = row.monitor.customer;
        if let Entry::Vacant(entry) = accounts.entry(customer) {
            entry.insert(account_cache.account(customer).await?);
        }
    }
    Ok(accounts)
}

/// Returns the values of `states`, whose last results have `figures`, in the order of `states`.
fn location_samples(
    states: Vec<MonitorLocationState>,
    figures: Vec<Arc<ResultFigures>>,
    metrics: &Metrics,
) -> Vec<(MonitorId, LocationSample)> {
    let sample = |(state, figures): (MonitorLocationState, Arc<ResultFigures>)| {
        let histograms = metrics.monitor_histograms();
        let histogram = histograms.and_then(|all| all.get(state.monitor_id, state.location_id));
        let sample = LocationSample {
            location: state.location_id,
            outcome: state.outcome,
            status: state.status,
            duration_us: state.duration_us,
            figures,
            histogram: histogram.map(Box::new),
        };
        (state.monitor_id, sample)
    };
    // Not in the memory of the states, of which these take half.
    let mut samples = Vec::with_capacity(states.len());
    samples.extend(states.into_iter().zip(figures).map(sample));
    samples
}

/// Returns the values of `monitor` among `samples`, which are in the order of monitors.
fn samples_of(samples: &[(MonitorId, LocationSample)], monitor: MonitorId) -> Vec<LocationSample> {
    let start = samples.partition_point(|(of, _)| *of < monitor);
    let own = samples.iter().skip(start).take_while(|(of, _)| *of == monitor);
    own.map(|(_, sample)| sample.clone()).collect()
}

/// Removes the histograms of removed monitors, once there are many.
fn forget_removed_histograms(reader: &MonitorReader, metrics: &Metrics) {
    let Some(histograms) = metrics.monitor_histograms() else { return };
    if histograms.len() > 2 * reader.monitor_count() + 1_000 {
        histograms.retain(|monitor| reader.monitor(monitor).is_some());
    }
}
