//! All metrics of the process: names, help texts, and how events are recorded.

mod series_from_start;
mod stored_results;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::agent_metrics::{AgentCollector, AgentLookup, AgentSource};
use super::bounded_names::BoundedNames;
use super::labels::{
    BuildInfoLabels, CheckResultLabels, CommitErrorLabels, ConcurrencyClassLabels, DeliveryLabels,
    EventLabels, FailureLabels, HousekeepingJobLabels, ItemKindLabels, MissedRunLabels, MonitorTypeLabels,
    NotificationLabels, PhaseLabels, PlanLabels, ReloadLabels, TaskLabels,
};
use super::last_figures::LastFigures;
use super::monitor_histograms::MonitorHistograms;
use super::otlp_metrics::OtlpMetrics;
use super::process_metrics::ProcessCollector;
use super::task_name::TaskName;
use crate::domain::{CheckResult, CustomerId, NotificationMethod, Outcome, Timestamp, duration_micros};
use crate::sync::Mutex;

/// Bucket bounds in seconds for network times: 100 µs to 60 s, about three per decade.
const NETWORK_SECONDS_BUCKETS: [f64; 15] =
    [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];
/// Bucket bounds in seconds for scheduler times; 50 ms is the goal of architecture.md 7.
const LATENESS_SECONDS_BUCKETS: [f64; 12] =
    [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0, 60.0];
/// Bucket bounds for results per commit.
const COMMIT_RESULTS_BUCKETS: [f64; 9] = [1.0, 5.0, 10.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0];

/// Longest value of a property in a label, in characters.
const MAX_PROPERTY_CHARS: usize = 100;

type HistogramFamily<L> = Family<L, Histogram, fn() -> Histogram>;

fn network_histogram() -> Histogram {
    Histogram::new(NETWORK_SECONDS_BUCKETS)
}

/// All metrics of the process. One instance per process (or test), shared behind an `Arc`.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    check_results: Family<CheckResultLabels, Counter>,
    monitors_by_property: Family<Vec<(String, String)>, Gauge>,
    /// Names of the labels of `monitors_by_property`, without `state`.
    property_labels: OnceLock<Vec<String>>,
    /// Held while the counts by property are replaced and read.
    property_lock: Mutex<()>,
    plan_checks: Family<PlanLabels, Counter>,
    plan_names: BoundedNames,
    events: Family<EventLabels, Counter>,
    event_names: BoundedNames,
    check_retries: Family<MonitorTypeLabels, Counter>,
    attempt_failures: Family<FailureLabels, Counter>,
    phase_seconds: HistogramFamily<PhaseLabels>,
    check_seconds: HistogramFamily<MonitorTypeLabels>,
    lateness_seconds: Histogram,
    /// The longest lateness since it was taken last, in microseconds.
    max_lateness_us: AtomicU64,
    missed_runs: Family<MissedRunLabels, Counter>,
    runs_queued: Gauge,
    checks_in_flight: Family<ConcurrencyClassLabels, Gauge>,
    monitors_planned: Gauge,
    ingest_queued_results: Gauge,
    commit_results: Histogram,
    commit_seconds: Histogram,
    commit_errors: Family<CommitErrorLabels, Counter>,
    housekeeping_runs: Family<HousekeepingJobLabels, Counter>,
    config_reloads: Family<ReloadLabels, Counter>,
    last_reload_succeeded: Gauge,
    config_loaded_at: Gauge,
    notifications: Family<NotificationLabels, Counter>,
    delivery_seconds: HistogramFamily<DeliveryLabels>,
    task_panics: Family<TaskLabels, Counter>,
    quarantined: Family<ItemKindLabels, Counter>,
    bus_events: Family<EventLabels, Counter>,
    spool_results: Gauge,
    spool_bytes: Gauge,
    spool_dropped: Family<ItemKindLabels, Counter>,
    agent_source: AgentSource,
    /// Set when the histograms of monitors are counted.
    monitor_histograms: OnceLock<MonitorHistograms>,
    last_figures: LastFigures,
    otlp: OtlpMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Creates a catalogue with all series at zero. Series with a small closed set of labels exist from the start, so
    /// that a first failure is an increase instead of a new series.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let metrics = Self {
            otlp: OtlpMetrics::register(&mut registry),
            registry,
            check_results: Family::default(),
            monitors_by_property: Family::default(),
            property_labels: OnceLock::new(),
            property_lock: Mutex::new(()),
            plan_checks: Family::default(),
            plan_names: BoundedNames::default(),
            events: Family::default(),
            event_names: BoundedNames::default(),
            check_retries: Family::default(),
            attempt_failures: Family::default(),
            phase_seconds: Family::new_with_constructor(network_histogram),
            check_seconds: Family::new_with_constructor(network_histogram),
            lateness_seconds: Histogram::new(LATENESS_SECONDS_BUCKETS),
            max_lateness_us: AtomicU64::new(0),
            missed_runs: Family::default(),
            runs_queued: Gauge::default(),
            checks_in_flight: Family::default(),
            monitors_planned: Gauge::default(),
            ingest_queued_results: Gauge::default(),
            commit_results: Histogram::new(COMMIT_RESULTS_BUCKETS),
            commit_seconds: Histogram::new(NETWORK_SECONDS_BUCKETS),
            commit_errors: Family::default(),
            housekeeping_runs: Family::default(),
            config_reloads: Family::default(),
            last_reload_succeeded: Gauge::default(),
            config_loaded_at: Gauge::default(),
            notifications: Family::default(),
            delivery_seconds: Family::new_with_constructor(network_histogram),
            task_panics: Family::default(),
            quarantined: Family::default(),
            bus_events: Family::default(),
            spool_results: Gauge::default(),
            spool_bytes: Gauge::default(),
            spool_dropped: Family::default(),
            agent_source: AgentSource::default(),
            monitor_histograms: OnceLock::new(),
            last_figures: LastFigures::default(),
        };
        metrics.create_series_from_start();
        metrics.register_all()
    }

    /// Registers all metrics. Names, help texts and units are defined only here.
    fn register_all(mut self) -> Self {
        let registry = &mut self.registry;
        let version = env!("CARGO_PKG_VERSION");
        registry.register("vigie_build", "The running build", Info::new(BuildInfoLabels { version }));
        registry.register(
            "vigie_check_results",
            "Checks recorded, each missed run included",
            self.check_results.clone(),
        );
        registry.register(
            "vigie_plan_checks",
            "Scheduled checks that ran, by billing plan of the monitor",
            self.plan_checks.clone(),
        );
        registry.register("vigie_events", "Events that clients reported, by type", self.events.clone());
        registry.register(
            "vigie_check_retries",
            "Second attempts after a failed first one",
            self.check_retries.clone(),
        );
        registry.register(
            "vigie_attempt_failures",
            "Attempts that failed, by failure kind",
            self.attempt_failures.clone(),
        );
        registry.register(
            "vigie_attempt_phase_seconds",
            "Time spent in each phase reached",
            self.phase_seconds.clone(),
        );
        registry.register(
            "vigie_check_duration_seconds",
            "Time of a check, retry included",
            self.check_seconds.clone(),
        );
        let help = "Start lateness of checks";
        registry.register("vigie_check_lateness_seconds", help, self.lateness_seconds.clone());
        registry.register("vigie_missed_runs", "Missed runs", self.missed_runs.clone());
        registry.register("vigie_runs_queued", "Due runs that wait for admission", self.runs_queued.clone());
        registry.register("vigie_checks_in_flight", "Checks in progress", self.checks_in_flight.clone());
        registry.register(
            "vigie_monitors_planned",
            "Monitors on the schedule",
            self.monitors_planned.clone(),
        );
        registry.register(
            "vigie_monitors_by_property",
            "Monitors by state and by the custom properties of `server.metrics_properties`",
            self.monitors_by_property.clone(),
        );
        registry.register(
            "vigie_ingest_queued_results",
            "Results that wait for the store",
            self.ingest_queued_results.clone(),
        );
        registry.register("vigie_store_commit_results", "Results in one commit", self.commit_results.clone());
        registry.register("vigie_store_commit_seconds", "Time of one commit", self.commit_seconds.clone());
        registry.register("vigie_store_commit_errors", "Commits that failed", self.commit_errors.clone());
        registry.register(
            "vigie_housekeeping_runs",
            "Runs of the calendar jobs",
            self.housekeeping_runs.clone(),
        );
        registry.register(
            "vigie_config_reloads",
            "Reloads of settings or monitor files",
            self.config_reloads.clone(),
        );
        let help = "1 when the last reload was accepted, 0 when it was rejected";
        registry.register("vigie_config_last_reload_taken", help, self.last_reload_succeeded.clone());
        let help = "When the running configuration was loaded, Unix time";
        registry.register("vigie_config_taken_timestamp_seconds", help, self.config_loaded_at.clone());
        let help = "Notifications that were accepted, held back for a digest, or given up";
        registry.register("vigie_notifications", help, self.notifications.clone());
        let help = "Duration of one delivery";
        registry.register("vigie_notification_try_seconds", help, self.delivery_seconds.clone());
        let help = "Panics of long-running tasks, each a bug";
        registry.register("vigie_task_panics", help, self.task_panics.clone());
        let help =
            "Results, changes, monitors and notifications quarantined since they could not be processed";
        registry.register("vigie_quarantined", help, self.quarantined.clone());
        let help = "What happened with agents on other hosts";
        registry.register("vigie_bus_events", help, self.bus_events.clone());
        let help = "Results in the spool, which wait for the store";
        registry.register("vigie_spool_results", help, self.spool_results.clone());
        let help = "Size of the spool in bytes";
        registry.register("vigie_spool_bytes", help, self.spool_bytes.clone());
        let help = "Results and captures dropped from the spool, since they were too old or too many";
        registry.register("vigie_spool_dropped", help, self.spool_dropped.clone());
        registry.register_collector(Box::new(AgentCollector::new(self.agent_source.clone())));
        registry.register_collector(Box::new(ProcessCollector::new()));
        self
    }

    /// Encodes all metrics in the text format of `OpenMetrics` 1.0.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut out = String::with_capacity(16 * 1024);
        match text::encode(&mut out, &self.registry) {
            Ok(()) => out,
            // Writing to a string cannot fail; if the encoder fails, there is nothing to serve.
            Err(std::fmt::Error) => String::new(),
        }
    }

    /// Sets the lookup of the agents on other hosts; only the first call counts.
    pub fn set_agent_lookup(&self, lookup: AgentLookup) {
        self.agent_source.set(lookup);
    }

    /// Returns the metrics of the export by OTLP.
    #[must_use]
    pub const fn otlp(&self) -> &OtlpMetrics {
        &self.otlp
    }

    /// Sets the labels of the counts by property; only the first call counts.
    pub fn set_property_labels(&self, labels: Vec<String>) {
        let _ = self.property_labels.set(labels);
    }

    /// Returns the labels of the counts by property.
    #[must_use]
    pub fn property_labels(&self) -> Vec<String> {
        self.property_labels.get().cloned().unwrap_or_default()
    }

    /// Like [`Self::encode`], with the current counts of monitors by property.
    #[must_use]
    pub fn encode_with_property_counts(&self, counts: &[PropertyCount]) -> String {
        let _guard = self.property_lock.lock();
        self.monitors_by_property.clear();
        for PropertyCount { values, state, monitor_count } in counts {
            let names = self.property_labels.get().into_iter().flatten().cloned();
            let values = values.iter().map(|value| value.chars().take(MAX_PROPERTY_CHARS).collect());
            let mut labels: Vec<(String, String)> = names.zip(values).collect();
            labels.push(("state".to_owned(), (*state).to_owned()));
            // Shortened values may be equal.
            self.monitors_by_property.get_or_create(&labels).inc_by(gauge_value(*monitor_count));
        }
        self.encode()
    }

    /// Counts a finished check: outcome, type, failure kind, phases, lateness, missed runs.
    pub fn record_result(&self, result: &CheckResult) {
        self.record_result_due_at(result, result.planned_at);
    }

    /// Counts an event of this type that a client reported in `account`.
    pub fn record_event(&self, account: CustomerId, event_type: &str) {
        let event = self.event_names.claim_label(account, event_type);
        self.events.get_or_create(&EventLabels { event }).inc();
    }

    /// Counts a scheduled check under the billing plan `code` of its monitor in `account`, if it ran.
    pub fn record_plan_check(&self, account: CustomerId, code: &str, result: &CheckResult) {
        if !matches!(result.outcome, Outcome::Missed | Outcome::Blackout) {
            let plan = self.plan_names.claim_label(account, code);
            self.plan_checks.get_or_create(&PlanLabels { plan }).inc();
        }
    }

    /// Like [`Self::record_result`], for a check that was due at `due_at`, which is later than its planned time where
    /// locations take turns.
    pub fn record_result_due_at(&self, result: &CheckResult, due_at: Timestamp) {
        let r#type = result.monitor_type;
        let labels = CheckResultLabels { outcome: result.outcome, r#type };
        self.check_results.get_or_create(&labels).inc_by(u64::from(result.run_count()));
        if let Some(missed) = &result.missed {
            let labels = MissedRunLabels { reason: missed.reason };
            self.missed_runs.get_or_create(&labels).inc_by(u64::from(missed.run_count));
            return;
        }
        // A first check waits for its turn on purpose.
        if result.outcome != Outcome::Blackout && result.trigger.is_schedule() {
            let lateness = result.started_at.since(due_at);
            self.lateness_seconds.observe(lateness.as_secs_f64());
            self.max_lateness_us.fetch_max(duration_micros(lateness), Ordering::Relaxed);
        }
        if !result.attempts.is_empty() {
            self.check_seconds
                .get_or_create(&MonitorTypeLabels { r#type })
                .observe(micros_to_seconds(result.duration_us));
        }
        let retries = result.attempts.len().saturating_sub(1);
        if retries > 0 {
            self.check_retries.get_or_create(&MonitorTypeLabels { r#type }).inc_by(retries as u64);
        }
        for attempt in &result.attempts {
            if let Some(failure) = &attempt.failure {
                self.attempt_failures.get_or_create(&FailureLabels { kind: failure.kind }).inc();
            }
            for (phase, micros) in attempt.phases.iter() {
                let labels = PhaseLabels { phase, r#type };
                self.phase_seconds.get_or_create(&labels).observe(micros_to_seconds(u64::from(micros)));
            }
        }
    }

    /// Records that the load of a runner changed from `previous` to `current`. Several runners add up.
    pub fn record_load_change(&self, previous: RunnerLoad, current: RunnerLoad) {
        add_difference(&self.monitors_planned, previous.planned_monitors, current.planned_monitors);
        add_difference(&self.runs_queued, previous.queued_runs, current.queued_runs);
        for (weight, previous, current) in [
            ("light", previous.light_checks, current.light_checks),
            ("heavy", previous.heavy_checks, current.heavy_checks),
        ] {
            add_difference(
                &self.checks_in_flight.get_or_create(&ConcurrencyClassLabels { weight }),
                previous,
                current,
            );
        }
    }

    /// Sets the number of results that wait for the store.
    pub fn set_ingest_queue_depth(&self, queued_results: usize) {
        self.ingest_queued_results.set(gauge_value(queued_results));
    }

    /// Records a commit of the store, with its number of results and its duration.
    pub fn record_commit(&self, result_count: usize, duration: Duration) {
        self.commit_results.observe(result_count as f64);
        self.commit_seconds.observe(duration.as_secs_f64());
    }

    /// Counts a failed commit, by `StoreError::kind`.
    pub fn record_commit_error(&self, kind: &'static str) {
        self.commit_errors.get_or_create(&CommitErrorLabels { kind }).inc();
    }

    /// Counts a run of the housekeeping job `job`; `outcome` is done, failed or skipped.
    pub fn record_housekeeping_run(&self, job: &'static str, outcome: &'static str) {
        self.housekeeping_runs.get_or_create(&HousekeepingJobLabels { job, outcome }).inc();
    }

    /// Counts notifications that were accepted by the receiver (`sent`), held back for a digest (`held`) or given up
    /// (`dead`).
    pub fn count_notifications(&self, outcome: &'static str, count: usize) {
        self.notifications.get_or_create(&NotificationLabels { outcome }).inc_by(count as u64);
    }

    /// Records a delivery attempt by `method`: whether the receiver accepted it, and its duration.
    pub fn record_delivery(&self, method: NotificationMethod, is_accepted: bool, duration: Duration) {
        let outcome = if is_accepted { "taken" } else { "failed" };
        let labels = DeliveryLabels { method: method.name(), outcome };
        self.delivery_seconds.get_or_create(&labels).observe(duration.as_secs_f64());
    }

    /// Counts a panic of a long-running task.
    pub fn record_task_panic(&self, task: TaskName) {
        self.task_panics.get_or_create(&TaskLabels { task: task.label() }).inc();
    }

    /// Counts what was quarantined: a `result`, a `change` of alerting, a `monitor` or a `notification`.
    pub fn record_quarantine(&self, kind: &'static str) {
        self.quarantined.get_or_create(&ItemKindLabels { kind }).inc();
    }

    /// Returns the longest lateness of a check since the last call.
    pub fn take_max_lateness(&self) -> Duration {
        Duration::from_micros(self.max_lateness_us.swap(0, Ordering::Relaxed))
    }

    /// Counts something that happened with an agent on another host.
    pub fn record_bus_event(&self, event: &'static str) {
        self.bus_events.get_or_create(&EventLabels { event: Arc::from(event) }).inc();
    }

    /// Sets what the spool holds: results, and bytes on disk.
    pub fn set_spool_size(&self, results: usize, bytes: u64) {
        self.spool_results.set(i64::try_from(results).unwrap_or(i64::MAX));
        self.spool_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Counts results and captures that the spool dropped.
    pub fn record_spool_drops(&self, results: usize, captures: usize) {
        for (kind, count) in [("result", results), ("capture", captures)] {
            self.spool_dropped.get_or_create(&ItemKindLabels { kind }).inc_by(count as u64);
        }
    }

    /// Counts a reload of the monitor files or settings, and whether it was accepted. The first load counts too.
    pub fn record_reload(&self, is_accepted: bool) {
        let outcome = if is_accepted { "taken" } else { "refused" };
        self.config_reloads.get_or_create(&ReloadLabels { outcome }).inc();
        self.last_reload_succeeded.set(i64::from(is_accepted));
        if is_accepted {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.config_loaded_at.set(i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX));
        }
    }
}

/// How many monitors have these values of custom properties and this state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyCount {
    /// Values, in the order of the labels.
    pub values: Vec<String>,
    /// Name of the state.
    pub state: &'static str,
    /// Number of monitors.
    pub monitor_count: usize,
}

/// Load of a runner at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunnerLoad {
    /// Monitors that are planned.
    pub planned_monitors: usize,
    /// Runs that wait for admission.
    pub queued_runs: usize,
    /// Light checks in progress.
    pub light_checks: usize,
    /// Heavy checks in progress.
    pub heavy_checks: usize,
}

fn add_difference(gauge: &Gauge, previous: usize, current: usize) {
    let _ = gauge.inc_by(gauge_value(current).saturating_sub(gauge_value(previous)));
}

fn gauge_value(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn micros_to_seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}
