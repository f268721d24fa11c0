//! The source that `results`, `report` and `monitors` read from: a running server or a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;

use super::api_client::{ApiClient, ListResponse, ServerArgs};
use super::output::UsageError;
use super::settings::config_file_from_flag_or_env;
use super::store::load_settings_with;
use crate::clock::{Clock, SystemClock};
use crate::domain::{CheckResult, Location, MonitorId, MonitorType, Paginated, RollupQuery, Timestamp};
use crate::schema::Monitor;
use crate::service::RollupRow;
use crate::store::{
    DATABASE_FILE, PaginatedResults, Pagination, ReadOnlyStore, ResultFilter, StoreLocation, StoreOptions,
    open_read_only_store,
};
use crate::syntax::closest_match;

/// Options of the commands that read.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SourceArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Read from the database in the data folder DIR, whether a server runs or not; writes nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["server", "token_file", "ca_file"])]
    data: Option<PathBuf>,
    /// Read from the database that this settings file names; `--data` is its data folder then
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "token_file", "ca_file"])]
    config: Option<PathBuf>,
    /// Read from this database: `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`
    #[arg(long, value_name = "URL", conflicts_with_all = ["server", "token_file", "ca_file"])]
    url: Option<String>,
}

/// An open source.
pub(super) enum ReadSource {
    Server(Box<ApiClient>),
    Database(Arc<dyn ReadOnlyStore>),
}

/// A monitor as shown in lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
pub(super) struct MonitorListRow {
    pub(super) id: MonitorId,
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) monitor_type: MonitorType,
    /// In minutes (interface.md 2.1).
    #[serde(rename = "interval")]
    pub(super) interval_minutes: u64,
    /// In seconds; when set, it counts instead of `interval_minutes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) interval_seconds: Option<u64>,
    pub(super) enabled: bool,
    /// End of the pause, when paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) paused_until: Option<Timestamp>,
}

impl MonitorListRow {
    /// Returns the time between two runs.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs(self.interval_seconds.unwrap_or(60 * self.interval_minutes))
    }
}

impl From<&Monitor> for MonitorListRow {
    fn from(monitor: &Monitor) -> Self {
        Self {
            id: monitor.id,
            name: monitor.name().to_owned(),
            monitor_type: monitor.monitor_type(),
            interval_minutes: monitor.document.settings().schedule.interval_minutes.into(),
            interval_seconds: monitor.document.settings().interval_seconds.map(u64::from),
            enabled: monitor.enabled(),
            paused_until: monitor.paused_until(SystemClock.now()),
        }
    }
}

impl SourceArgs {
    /// Opens the source that the options name.
    pub(super) async fn open(&self) -> anyhow::Result<ReadSource> {
        let (location, options) = match (&self.data, &self.config, &self.url) {
            (None, None, None) => {
                let client = self.server.connect().await?.offering_database();
                return Ok(ReadSource::Server(Box::new(client)));
            }
            (Some(folder), None, None) => (database_in(folder)?, StoreOptions::default()),
            (data, config, url) => {
                let url = url.as_deref().map(|url| ("--url", url));
                let settings = load_settings_with(config.clone(), data.as_ref(), url)?;
                (settings.store_location(), settings.store.options())
            }
        };
        let store = open_read_only_store(&location, options.for_command()).await;
        Ok(ReadSource::Database(store.with_context(|| format!("cannot read the database `{location}`"))?))
    }
}

/// Returns the location of the database in a data folder.
///
/// # Errors
/// Fails when there is none. Then the hint says how to read the database that the settings of the environment name, if
/// they name one.
fn database_in(folder: &Path) -> anyhow::Result<StoreLocation> {
    let path = folder.join(DATABASE_FILE);
    if path.exists() {
        return Ok(StoreLocation::Sqlite(path));
    }
    // Settings that cannot be loaded name no database.
    let settings = load_settings_with(None, None, None).ok();
    let hint = match settings.and_then(|settings| settings.store.location) {
        Some(other) => {
            let option = match config_file_from_flag_or_env(None) {
                Some(file) => format!("--config {}", file.display()),
                None => "--url \"$VIGIE_STORE_URL\"".to_owned(),
            };
            format!("the settings name `{other}`; read it with `{option}`")
        }
        None => "if the database is elsewhere, name its settings with `--config FILE`".to_owned(),
    };
    Err(UsageError::with_hint(format!("there is no database `{}`", path.display()), Some(hint)))
}

impl ReadSource {
    /// Returns results, newest first.
    pub(super) async fn results(
        &mut self,
        filter: ResultFilter,
        pagination: Pagination,
    ) -> anyhow::Result<PaginatedResults> {
        match self {
            Self::Database(store) => Ok(store.results(filter, pagination).await?),
            Self::Server(client) => {
                let list: ListResponse<CheckResult> =
                    client.get("results", &results_query(&filter, pagination)).await?;
                Ok(PaginatedResults { total: list.total_count(), results: list.results })
            }
        }
    }

    /// Returns statistics by minute, hour or day, oldest first.
    pub(super) async fn rollups(
        &mut self,
        query: RollupQuery,
        pagination: Pagination,
    ) -> anyhow::Result<Paginated<RollupRow>> {
        match self {
            Self::Database(store) => {
                let found = store.rollup_points(query, pagination).await?;
                let found = found.ok_or_else(|| anyhow::anyhow!("the monitor does not exist any more"))?;
                let items = found.items.into_iter().map(RollupRow::from_rollup).collect();
                Ok(Paginated { total: found.total, items })
            }
            Self::Server(client) => {
                let list: ListResponse<RollupRow> =
                    client.get("rollups", &rollups_query(&query, pagination)).await?;
                Ok(Paginated { total: list.total_count(), items: list.results })
            }
        }
    }

    /// Returns the monitors with all of these values of custom properties, by id. A database has no filter by property.
    pub(super) async fn monitors(&mut self, properties: &[String]) -> anyhow::Result<Vec<MonitorListRow>> {
        let mut rows: Vec<MonitorListRow> = match self {
            Self::Database(store) => store.monitors().await?.iter().map(MonitorListRow::from).collect(),
            Self::Server(client) => {
                let query: Vec<_> = properties.iter().map(|text| ("property", text.clone())).collect();
                client.get::<ListResponse<MonitorListRow>>("monitors", &query).await?.results
            }
        };
        rows.sort_by_key(|row| row.id);
        Ok(rows)
    }

    /// Returns the locations with their names; none from a database, which contains only ids.
    pub(super) async fn locations(&mut self) -> anyhow::Result<Vec<Location>> {
        match self {
            Self::Database(_) => Ok(Vec::new()),
            Self::Server(client) => Ok(client.get::<ListResponse<Location>>("locations", &[]).await?.results),
        }
    }

    /// Returns the monitor with the id or name `id_or_name`.
    pub(super) async fn find_monitor(&mut self, id_or_name: &str) -> anyhow::Result<MonitorListRow> {
        let rows = self.monitors(&[]).await?;
        let id = id_or_name.parse().map(MonitorId).ok();
        if let Some(row) = rows.iter().find(|row| Some(row.id) == id || row.name == id_or_name) {
            return Ok(row.clone());
        }
        let hint = closest_match(id_or_name, rows.iter().map(|row| row.name.as_str())).map_or_else(
            || "`vigie monitors` lists them".to_owned(),
            |closest| format!("did you mean `{closest}`?"),
        );
        Err(UsageError::with_hint(format!("no monitor has the id or name `{id_or_name}`"), Some(hint)))
    }
}

/// Returns the query of `filter` and `pagination` for `GET /results` (behaviour.md 1).
fn results_query(filter: &ResultFilter, pagination: Pagination) -> Vec<(&'static str, String)> {
    let mut query = vec![("limit", pagination.limit.to_string()), ("offset", pagination.offset.to_string())];
    let mut add_param = |name, value: Option<String>| query.extend(value.map(|value| (name, value)));
    add_param("monitor_id", comma_list(&filter.monitors));
    add_param("location_id", filter.location.map(|id| id.to_string()));
    add_param("from", filter.from.map(|time| time.to_string()));
    add_param("thru", filter.until.map(|time| time.to_string()));
    add_param("outcome", comma_list(&filter.outcomes));
    query
}

/// Returns the parameters of `GET /rollups` for `query` and `pagination` (behaviour.md 1).
fn rollups_query(query: &RollupQuery, pagination: Pagination) -> Vec<(&'static str, String)> {
    let mut params = vec![
        ("monitor_id", query.monitor_id.to_string()),
        ("step", query.step.name().to_owned()),
        ("from", query.from.to_string()),
        ("thru", query.until.to_string()),
        ("limit", pagination.limit.to_string()),
        ("offset", pagination.offset.to_string()),
    ];
    params.extend(query.location.map(|id| ("location_id", id.to_string())));
    params
}

fn comma_list<T: ToString>(values: &[T]) -> Option<String> {
    (!values.is_empty()).then(|| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}
