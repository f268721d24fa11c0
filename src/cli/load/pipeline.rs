//! The pipeline of a server without its API: runner, ingestor and store, counted at both ends.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};

use super::run_counter::{RunCounter, RunCounts};
use super::targets::LoadTargets;
use crate::agent::{
    AdmissionLimits, Assignment, AssignmentChange, ExecutionContext, ResultSink, RunnerHandle,
};
use crate::cli::output::{InvalidInput, UsageError};
use crate::clock::SystemClock;
use crate::domain::{CheckResult, CustomerId, MonitorId, MonitorType, Revision};
use crate::net::{self, Net};
use crate::pipeline::{IngestSettings, Ingestor};
use crate::schedule::LocationRotation;
use crate::schema::MonitorDocument;
use crate::schema::reader::InputFormat;
use crate::schema::validate::create;
use crate::schema::validation_context::ValidationContext;
use crate::settings::Settings;
use crate::store::{Commit, Ingest, SqliteSettings, SqliteStore, StoreFuture};
use crate::syntax::node::Node;
use crate::telemetry::Metrics;
use crate::{agent, probe};

/// Monitors that are handed to the runner at once.
const CHANGES_PER_CALL: usize = 10_000;

/// The database of a run: in the folder that was named, or in one that goes with this.
pub(super) struct LoadStore {
    store: Arc<CountingIngest>,
    temporary: Option<PathBuf>,
}

/// Counts the results that the store acknowledged.
struct CountingIngest {
    store: SqliteStore,
    stored: AtomicU64,
}

impl Ingest for CountingIngest {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, ()> {
        let results = commit.results.len() as u64;
        Box::pin(async move {
            self.store.commit(commit).await?;
            self.stored.fetch_add(results, Ordering::Relaxed);
            Ok(())
        })
    }
}

impl LoadStore {
    /// Opens a database in `folder`, or in a new folder for temporary files, with `cache_bytes` of its pages in
    /// memory.
    pub(super) fn open(folder: Option<&Path>, cache_bytes: u64) -> anyhow::Result<Self> {
        let temporary = match folder {
            Some(_) => None,
            None => Some(std::env::temp_dir().join(format!("vigie-load-{}", std::process::id()))),
        };
        let folder = folder.or(temporary.as_deref()).unwrap_or(Path::new("."));
        let path = folder.join(crate::cli::source::DATABASE_FILE);
        if path.exists() {
            let hint = "name a folder without a database: the figures are those of an empty one".to_owned();
            return Err(UsageError::with_hint(
                format!("there is a database at `{}`", path.display()),
                Some(hint),
            ));
        }
        let sqlite = SqliteSettings { cache_bytes, ..SqliteSettings::default() };
        let store = SqliteStore::open(&path, &sqlite)?;
        Ok(Self { store: Arc::new(CountingIngest { store, stored: AtomicU64::new(0) }), temporary })
    }
}

impl Drop for LoadStore {
    fn drop(&mut self) {
        if let Some(folder) = &self.temporary {
            // What stays behind is in the folder for temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Runner, ingestor and store at work.
pub(super) struct LoadPipeline {
    runner: RunnerHandle,
    ingestor: Arc<Ingestor>,
    store: Arc<CountingIngest>,
    /// What is counted of the results.
    pub(super) counter: Arc<RunCounter>,
}

/// Counts a result on its way to the ingestor.
struct CountingSink {
    counter: Arc<RunCounter>,
    ingestor: Arc<Ingestor>,
}

impl ResultSink for CountingSink {
    fn deliver(&self, result: CheckResult) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.counter.record(&result);
        Box::pin(self.ingestor.submit(result))
    }
}

impl LoadPipeline {
    /// Starts everything, without a monitor.
    pub(super) fn start(settings: &Settings, store: &LoadStore) -> anyhow::Result<Self> {
        net::warm_up();
        let net = Net::new(&settings.net).context("the network of this location cannot be set up")?;
        let cx = ExecutionContext::new(Arc::new(net), Arc::new(SystemClock));
        let metrics = Arc::new(Metrics::new());
        let counter = Arc::new(RunCounter::new()?);
        let taking: Arc<dyn Ingest> = store.store.clone();
        let ingestor =
            Arc::new(Ingestor::start(taking, Arc::clone(&metrics), Vec::new(), IngestSettings::default()));
        let sink = CountingSink { counter: Arc::clone(&counter), ingestor: Arc::clone(&ingestor) };
        let runner = agent::start_runner(admission_limits(settings), cx, Arc::new(sink), metrics);
        Ok(Self { runner, ingestor, store: Arc::clone(&store.store), counter })
    }

    /// Plans `assignments`; returns once all of them are.
    pub(super) async fn plan(&self, assignments: Vec<Arc<Assignment>>) -> anyhow::Result<()> {
        let mut assignments = assignments.into_iter();
        loop {
            let changes: Vec<AssignmentChange> =
                assignments.by_ref().take(CHANGES_PER_CALL).map(AssignmentChange::Put).collect();
            if changes.is_empty() {
                return Ok(());
            }
            self.runner.apply(changes).await?;
        }
    }

    /// Results that the store acknowledged so far.
    pub(super) fn stored_results(&self) -> u64 {
        self.store.stored.load(Ordering::Relaxed)
    }

    /// Lets running checks end and keeps every result; answers what was counted.
    pub(super) async fn stop(self, within: Duration) -> anyhow::Result<RunCounts> {
        self.runner.shutdown(within).await;
        match self.ingestor.drain(within).await {
            0 => Ok(self.counter.counts()),
            lost => Err(anyhow!("the store did not take {lost} results within {} s", within.as_secs())),
        }
    }
}

/// The limits of the settings, but for the one per target: all monitors watch a few addresses here.
fn admission_limits(settings: &Settings) -> AdmissionLimits {
    let engine = settings.concurrency;
    AdmissionLimits {
        total: engine.total,
        light: engine.light,
        heavy: engine.heavy,
        per_target: engine.total,
        queue: engine.queue_capacity,
    }
}

/// Monitors as a server holds them: what is planned, and the documents behind it.
#[derive(Default)]
pub(super) struct LoadMonitors {
    pub(super) assignments: Vec<Arc<Assignment>>,
    pub(super) documents: Vec<MonitorDocument>,
}

/// `count` monitors of `kind` that watch `targets`, each with a document and a probe of its own.
pub(super) fn build_monitors(
    targets: &LoadTargets,
    kind: MonitorType,
    count: u32,
    interval: u32,
    settings: &Settings,
) -> anyhow::Result<LoadMonitors> {
    let context =
        ValidationContext { dns_names: Some(settings.probe.dns_names.len()), ..ValidationContext::default() };
    let mut monitors = LoadMonitors::default();
    for index in 0..count {
        let fields = targets.monitor_fields(kind, index as usize).unwrap_or_default();
        let text = serde_json::Value::Object(fields).to_string();
        let document = create(kind, InputFormat::File, &Node::from_yaml(&text)?, &context)
            .map_err(InvalidInput)?
            .document;
        let (probe, weight) = probe::build(&document, &settings.probe);
        monitors.assignments.push(Arc::new(Assignment {
            monitor_id: MonitorId(i64::from(index) + 1),
            customer: CustomerId(1),
            revision: Revision(1),
            name: document.name().into(),
            kind,
            interval: Duration::from_secs(u64::from(interval)),
            offset: None,
            share: LocationRotation::default(),
            timeout: Duration::from_secs(document.settings().schedule.timeout.into()),
            retry: document.settings().schedule.retry_on_failure,
            location: settings.location.id,
            probe,
            weight,
            last_planned_at: None,
            full_page_at: None,
        }));
        monitors.documents.push(document);
    }
    Ok(monitors)
}
