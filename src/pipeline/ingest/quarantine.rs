//! Keeps what cannot be stored or processed as a file with its error, counts it, and records an event in its account.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::MonitorCache;
use crate::clock::Clock;
use crate::domain::{CheckResult, CustomerId, MonitorId, Timestamp};
use crate::store::{ConfigChange, ConfigStore, NewConfigRecord};
use crate::sync::Mutex;
use crate::syntax::json_object::into_object;
use crate::telemetry::Metrics;

/// Most files in the folder; beyond it, only the log and the counter have the rest.
const MAX_FILES: usize = 1000;
/// Time between two events about the same monitor.
const REPORT_INTERVAL: Duration = Duration::from_hours(1);

/// What is quarantined.
pub(super) struct QuarantinedItem {
    /// `result`, `monitor` or `change`, as in the metric.
    pub(super) kind: &'static str,
    /// Its id, for the name of the file.
    pub(super) id: String,
    /// Its monitor.
    pub(super) monitor_id: Option<MonitorId>,
    /// Why it is quarantined.
    pub(super) error: String,
    /// Its content.
    pub(super) body: Value,
}

impl QuarantinedItem {
    pub(super) fn from_result(result: &CheckResult, error: String) -> Self {
        // A value that JSON cannot hold is one of the reasons for which a result may be here.
        let body =
            serde_json::to_value(result).unwrap_or_else(|error| json!({ "unreadable": error.to_string() }));
        let id = result.check_id.to_string();
        Self { kind: "result", id, monitor_id: Some(result.monitor_id), error, body }
    }
}

/// Dependencies of the recorder.
pub struct QuarantineRecorderDependencies {
    /// Folder of the files, created with the first one.
    pub folder: PathBuf,
    /// Stores the events.
    pub config_store: Arc<dyn ConfigStore>,
    /// Knows the account of a monitor.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// Keeps and reports what is quarantined.
pub struct QuarantineRecorder {
    metrics: Arc<Metrics>,
    /// `None` for a recorder that only counts and logs.
    dependencies: Option<QuarantineRecorderDependencies>,
    /// When each monitor was reported last.
    reported_at: Mutex<HashMap<Option<MonitorId>, Timestamp>>,
}

impl QuarantineRecorder {
    /// Creates the recorder.
    #[must_use]
    pub fn new(metrics: Arc<Metrics>, dependencies: QuarantineRecorderDependencies) -> Self {
        Self { metrics, dependencies: Some(dependencies), reported_at: Mutex::default() }
    }

    /// Creates a recorder that only counts and logs.
    #[must_use]
    pub fn only_counting(metrics: Arc<Metrics>) -> Self {
        Self { metrics, dependencies: None, reported_at: Mutex::default() }
    }

    /// Counts and logs `item`, writes its file, and reports it in an event.
    pub(super) async fn record(&self, item: QuarantinedItem) {
        self.metrics.record_quarantine(item.kind);
        let mut file_name = String::new();
        if let Some(dependencies) = &self.dependencies {
            match write_file(dependencies, &item).await {
                Ok(path) => file_name = path.display().to_string(),
                Err(error) => {
                    tracing::error!(file = %dependencies.folder.display(), error, "failed to keep what was quarantined");
                }
            }
        }
        tracing::error!(
            monitor_id = item.monitor_id.map(|id| id.0),
            file = file_name,
            error = item.error,
            "quarantined since it cannot be stored or processed; the rest goes on: {} {}",
            item.kind,
            item.id
        );
        if let Some(dependencies) = &self.dependencies {
            self.report(dependencies, &item, &file_name).await;
        }
    }

    /// Records an event in the account of the monitor, at most one each hour for the same monitor.
    async fn report(
        &self,
        dependencies: &QuarantineRecorderDependencies,
        item: &QuarantinedItem,
        file_name: &str,
    ) {
        let now = dependencies.clock.now();
        {
            let mut reported_at = self.reported_at.lock();
            let last = reported_at.get(&item.monitor_id);
            if last.is_some_and(|at| *at <= now && now.since(*at) < REPORT_INTERVAL) {
                return;
            }
            reported_at.insert(item.monitor_id, now);
        }
        let monitor = item.monitor_id.and_then(|id| dependencies.monitor_cache.get(id));
        let customer = monitor.as_ref().map_or(CustomerId::OPERATOR, |monitor| monitor.customer);
        let name = monitor.as_ref().map_or("", |monitor| monitor.name());
        let (event_type, what) = match item.kind {
            "monitor" => ("monitor_quarantined", "The monitor is quarantined until it is changed"),
            "result" => ("result_quarantined", "A result could not be stored"),
            _ => ("result_quarantined", "A change of the alert state could not be stored"),
        };
        let description =
            format!("{what}: `{name}`: {}. It is kept in the file `{file_name}` of the server", item.error);
        let fields = json!({ "event": event_type, "description": description, "quantity": 1 });
        let event = NewConfigRecord::own_event(customer, now, into_object(fields));
        let changes = vec![ConfigChange::CreateRecord(event)];
        if let Err(error) = dependencies.config_store.write_changes(changes, Vec::new()).await {
            tracing::warn!(error = %error, "failed to record the event of what was quarantined");
        }
    }
}

/// Writes the file of `item`; returns its path.
async fn write_file(
    dependencies: &QuarantineRecorderDependencies,
    item: &QuarantinedItem,
) -> Result<PathBuf, String> {
    let folder = dependencies.folder.clone();
    let now = dependencies.clock.now();
    let file_name = format!("{}-{}-{}.json", item.kind, item.id, now.as_micros());
    let body = json!({ "error": item.error, "quarantined_at": now, item.kind: item.body });
    let task = tokio::task::spawn_blocking(move || write_bounded(&folder, &file_name, &body));
    task.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// Writes a file that only this user can read, unless the folder is full.
fn write_bounded(folder: &Path, file_name: &str, body: &Value) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    if std::fs::read_dir(folder)?.count() >= MAX_FILES {
        let reason = format!("it has {MAX_FILES} files; look at them and remove them");
        return Err(std::io::Error::other(reason));
    }
    let path = folder.join(file_name);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    writeln!(file, "{body:#}")?;
    file.sync_all()?;
    Ok(path)
}
