//! The pipeline of a server without its API: runner, ingestor and store. Counts the results before and after storing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};

use super::run_counter::{RunCounter, RunTotals};
use super::targets::LoadTargets;
use crate::agent::{AdmissionLimits, Assignment, AssignmentChange, ExecutionContext, RunnerHandle};
use crate::bus::contract::{BusFuture, ResultSink};
use crate::cli::output::{InvalidInput, UsageError};
use crate::clock::SystemClock;
use crate::domain::{CheckResult, CustomerId, EgressPrincipal, MonitorId, MonitorType, Revision};
use crate::net::{self, Net};
use crate::pipeline::{IngestSettings, Ingestor};
use crate::schedule::LocationRotation;
use crate::schema::MonitorDocument;
use crate::schema::reader::InputFormat;
use crate::schema::validate::validate_new;
use crate::schema::validation_context::ValidationContext;
use crate::settings::Settings;
use crate::store::{DATABASE_FILE, Ingest, IngestBatch, SqliteSettings, SqliteStore, StoreFuture};
use crate::syntax::node::Node;
use crate::telemetry::Metrics;
use crate::{agent, probe};

/// Monitors that are passed to the runner in one call.
const CHANGES_PER_CALL: usize = 10_000;

/// The database of a load run: in the given folder, or in a temporary one that is removed on drop.
pub(super) struct LoadStore {
    store: Arc<CountingIngest>,
    temporary_folder: Option<PathBuf>,
}

/// Counts the results that the store acknowledged.
struct CountingIngest {
    store: SqliteStore,
    stored_count: AtomicU64,
}

impl Ingest for CountingIngest {
    fn commit_shared(&self, batch: Arc<IngestBatch>) -> StoreFuture<'_, ()> {
        let result_count = batch.results.len() as u64;
        Box::pin(async move {
            self.store.commit_shared(batch).await?;
            self.stored_count.fetch_add(result_count, Ordering::Relaxed);
            Ok(())
        })
    }
}

impl LoadStore {
    /// Opens a database in `folder`, or in a new temporary folder, with a page cache of `cache_bytes`.
    pub(super) fn open(folder: Option<&Path>, cache_bytes: u64) -> anyhow::Result<Self> {
        let temporary_folder = match folder {
            Some(_) => None,
            None => Some(std::env::temp_dir().join(format!("vigie-load-{}", std::process::id()))),
        };
        let folder = folder.or(temporary_folder.as_deref()).unwrap_or(Path::new("."));
        let path = folder.join(DATABASE_FILE);
        if path.exists() {
            let hint = "name a folder without a database: the figures are those of an empty one".to_owned();
            return Err(UsageError::with_hint(
                format!("there is a database at `{}`", path.display()),
                Some(hint),
            ));
        }
        let sqlite_settings = SqliteSettings { cache_bytes, ..SqliteSettings::default() };
        let store = SqliteStore::open(&path, &sqlite_settings)?;
        Ok(Self {
            store: Arc::new(CountingIngest { store, stored_count: AtomicU64::new(0) }),
            temporary_folder,
        })
    }
}

impl Drop for LoadStore {
    fn drop(&mut self) {
        if let Some(folder) = &self.temporary_folder {
            // If it fails, the leftovers are in the folder for temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// A running pipeline of runner, ingestor and store.
pub(super) struct LoadPipeline {
    runner: RunnerHandle,
    ingestor: Arc<Ingestor>,
    store: Arc<CountingIngest>,
    /// Counts of the results.
    pub(super) run_counter: Arc<RunCounter>,
}

/// Counts a result before it goes to the ingestor.
struct CountingSink {
    run_counter: Arc<RunCounter>,
    ingestor: Arc<Ingestor>,
}

impl ResultSink for CountingSink {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        self.run_counter.record(&result);
        Box::pin(self.ingestor.submit(result))
    }
}

impl LoadPipeline {
    /// Starts the pipeline without monitors.
    pub(super) fn start(settings: &Settings, store: &LoadStore) -> anyhow::Result<Self> {
        net::warm_up_crypto();
        let net = Net::new(&settings.net).context("the network of this location cannot be set up")?;
        let execution_context = ExecutionContext::new(Arc::new(net), Arc::new(SystemClock));
        let metrics = Arc::new(Metrics::new());
        let run_counter = Arc::new(RunCounter::new()?);
        let ingest: Arc<dyn Ingest> = store.store.clone();
        let ingestor =
            Arc::new(Ingestor::start(ingest, Arc::clone(&metrics), Vec::new(), IngestSettings::default()));
        let sink = CountingSink { run_counter: Arc::clone(&run_counter), ingestor: Arc::clone(&ingestor) };
        let runner =
            agent::start_runner(admission_limits(settings), execution_context, Arc::new(sink), metrics);
        Ok(Self { runner, ingestor, store: Arc::clone(&store.store), run_counter })
    }

    /// Plans `assignments`; returns when all of them are planned.
    pub(super) async fn plan_assignments(&self, assignments: Vec<Arc<Assignment>>) -> anyhow::Result<()> {
        let mut assignments = assignments.into_iter();
        loop {
            let changes: Vec<AssignmentChange> =
                assignments.by_ref().take(CHANGES_PER_CALL).map(AssignmentChange::Upsert).collect();
            if changes.is_empty() {
                return Ok(());
            }
            self.runner.apply_changes(changes).await?;
        }
    }

    /// Results that the store has acknowledged so far.
    pub(super) fn stored_count(&self) -> u64 {
        self.store.stored_count.load(Ordering::Relaxed)
    }

    /// Waits for running checks, stores every result, and returns the counts.
    pub(super) async fn drain_and_stop(self, timeout: Duration) -> anyhow::Result<RunTotals> {
        self.runner.shutdown(timeout).await;
        match self.ingestor.drain(timeout).await {
            0 => Ok(self.run_counter.totals()),
            unstored_count => Err(anyhow!(
                "the store did not accept {unstored_count} results within {} s",
                timeout.as_secs()
            )),
        }
    }
}

/// Returns the limits of the settings without the limit per target, since all monitors share a few addresses here.
fn admission_limits(settings: &Settings) -> AdmissionLimits {
    let concurrency = settings.concurrency;
    AdmissionLimits {
        max_running: concurrency.total,
        max_light: concurrency.light,
        max_heavy: concurrency.heavy,
        max_per_target: concurrency.total,
        max_waiting: concurrency.queue_capacity,
    }
}

/// Monitors as a server holds them: assignments, and their documents.
#[derive(Default)]
pub(super) struct LoadMonitors {
    pub(super) assignments: Vec<Arc<Assignment>>,
    pub(super) documents: Vec<MonitorDocument>,
}

/// Builds `monitor_count` monitors of `monitor_type` for `targets`, each with its own document and probe.
pub(super) fn build_monitors(
    targets: &LoadTargets,
    monitor_type: MonitorType,
    monitor_count: u32,
    interval_seconds: u32,
    settings: &Settings,
) -> anyhow::Result<LoadMonitors> {
    let validation_context = ValidationContext {
        dns_name_count: Some(settings.probe.dns_query_names.len()),
        ..ValidationContext::default()
    };
    let mut monitors = LoadMonitors::default();
    for index in 0..monitor_count {
        let fields = targets.monitor_fields(monitor_type, index as usize).unwrap_or_default();
        let yaml = serde_json::Value::Object(fields).to_string();
        let document =
            validate_new(monitor_type, InputFormat::File, &Node::from_yaml(&yaml)?, &validation_context)
                .map_err(InvalidInput)?
                .document;
        let (probe, concurrency_class) = probe::build_probe(&document, &settings.probe);
        monitors.assignments.push(Arc::new(Assignment {
            monitor_id: MonitorId(i64::from(index) + 1),
            customer_id: CustomerId::OPERATOR,
            egress_principal: EgressPrincipal::Operator,
            revision: Revision(1),
            monitor_name: document.name().into(),
            billing_plancode: document.billing_plancode().into(),
            monitor_type,
            interval: Duration::from_secs(u64::from(interval_seconds)),
            schedule_offset: None,
            location_rotation: LocationRotation::default(),
            attempt_timeout: Duration::from_secs(document.settings().schedule.timeout_seconds.into()),
            retries_failure: document.settings().schedule.retry_on_failure,
            location_id: settings.location.id,
            probe,
            concurrency_class,
            allows_unscheduled_checks: true,
            last_planned_at: None,
            last_full_page_at: None,
        }));
        monitors.documents.push(document);
    }
    Ok(monitors)
}
