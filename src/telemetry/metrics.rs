//! All metrics of the process: names, help texts, and how events are recorded.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::labels::{
    BuildLabels, CommitErrorLabels, DeliveryLabels, FailureLabels, JobLabels, MissedLabels,
    NotificationLabels, PhaseLabels, ReloadLabels, ResultLabels, TypeLabels, WeightLabels,
};
use super::process::ProcessCollector;
use crate::domain::{CheckResult, MissedReason, NotificationMethod, Outcome, Timestamp};

/// Bucket bounds in seconds for network times: 100 µs to 60 s, about three per decade.
const NETWORK_SECONDS: [f64; 15] =
    [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];
/// Bucket bounds in seconds for scheduler times; 50 ms is the goal of architecture.md 7.
const LATENESS_SECONDS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0, 60.0];
/// Bucket bounds for results per commit.
const COMMIT_RESULTS: [f64; 9] = [1.0, 5.0, 10.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0];

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

fn network_histogram() -> Histogram {
    Histogram::new(NETWORK_SECONDS)
}

/// All metrics of the process. One instance per process (or test), shared behind an `Arc`.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    results: Family<ResultLabels, Counter>,
    retries: Family<TypeLabels, Counter>,
    failures: Family<FailureLabels, Counter>,
    phases: Histograms<PhaseLabels>,
    durations: Histograms<TypeLabels>,
    lateness: Histogram,
    missed: Family<MissedLabels, Counter>,
    runs_queued: Gauge,
    in_flight: Family<WeightLabels, Gauge>,
    monitors_planned: Gauge,
    ingest_queued: Gauge,
    commit_results: Histogram,
    commit_seconds: Histogram,
    commit_errors: Family<CommitErrorLabels, Counter>,
    jobs: Family<JobLabels, Counter>,
    reloads: Family<ReloadLabels, Counter>,
    last_reload_succeeded: Gauge,
    last_reload_at: Gauge,
    notifications: Family<NotificationLabels, Counter>,
    deliveries: Histograms<DeliveryLabels>,
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
        let metrics = Self {
            registry: Registry::default(),
            results: Family::default(),
            retries: Family::default(),
            failures: Family::default(),
            phases: Family::new_with_constructor(network_histogram),
            durations: Family::new_with_constructor(network_histogram),
            lateness: Histogram::new(LATENESS_SECONDS),
            missed: Family::default(),
            runs_queued: Gauge::default(),
            in_flight: Family::default(),
            monitors_planned: Gauge::default(),
            ingest_queued: Gauge::default(),
            commit_results: Histogram::new(COMMIT_RESULTS),
            commit_seconds: Histogram::new(NETWORK_SECONDS),
            commit_errors: Family::default(),
            jobs: Family::default(),
            reloads: Family::default(),
            last_reload_succeeded: Gauge::default(),
            last_reload_at: Gauge::default(),
            notifications: Family::default(),
            deliveries: Family::new_with_constructor(network_histogram),
        };
        for reason in MissedReason::ALL {
            drop(metrics.missed.get_or_create(&MissedLabels { reason }));
        }
        for outcome in ["taken", "refused"] {
            drop(metrics.reloads.get_or_create(&ReloadLabels { outcome }));
        }
        for outcome in ["sent", "held", "dead"] {
            drop(metrics.notifications.get_or_create(&NotificationLabels { outcome }));
        }
        metrics.register_all()
    }

    /// Registers all metrics. Names, help texts and units are defined only here.
    fn register_all(mut self) -> Self {
        let r = &mut self.registry;
        let version = env!("CARGO_PKG_VERSION");
        r.register("vigie_build", "The running build", Info::new(BuildLabels { version }));
        r.register("vigie_check_results", "Checks recorded, each missed run included", self.results.clone());
        r.register("vigie_check_retries", "Second attempts after a failed first one", self.retries.clone());
        r.register("vigie_attempt_failures", "Attempts that failed, by failure kind", self.failures.clone());
        r.register("vigie_attempt_phase_seconds", "Time spent in each phase reached", self.phases.clone());
        r.register("vigie_check_duration_seconds", "Time of a check, retry included", self.durations.clone());
        let help = "Start lateness of checks";
        r.register("vigie_check_lateness_seconds", help, self.lateness.clone());
        r.register("vigie_missed_runs", "Missed runs", self.missed.clone());
        r.register("vigie_runs_queued", "Due runs that wait for admission", self.runs_queued.clone());
        r.register("vigie_checks_in_flight", "Checks in progress", self.in_flight.clone());
        r.register("vigie_monitors_planned", "Monitors on the schedule", self.monitors_planned.clone());
        r.register(
            "vigie_ingest_queued_results",
            "Results that wait for the store",
            self.ingest_queued.clone(),
        );
        r.register("vigie_store_commit_results", "Results in one commit", self.commit_results.clone());
        r.register("vigie_store_commit_seconds", "Time of one commit", self.commit_seconds.clone());
        r.register("vigie_store_commit_errors", "Commits that failed", self.commit_errors.clone());
        r.register("vigie_housekeeping_runs", "Runs of the calendar jobs", self.jobs.clone());
        r.register("vigie_config_reloads", "Reloads of settings or monitor files", self.reloads.clone());
        let help = "1 when the last reload was accepted, 0 when it was rejected";
        r.register("vigie_config_last_reload_taken", help, self.last_reload_succeeded.clone());
        let help = "When the running configuration was loaded, Unix time";
        r.register("vigie_config_taken_timestamp_seconds", help, self.last_reload_at.clone());
        let help = "Notifications that were accepted, held back for a digest, or given up";
        r.register("vigie_notifications", help, self.notifications.clone());
        let help = "Duration of one delivery";
        r.register("vigie_notification_try_seconds", help, self.deliveries.clone());
        r.register_collector(Box::new(ProcessCollector::new()));
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

    /// Counts a finished check: outcome, type, failure kind, phases, lateness, missed runs.
    pub fn record_result(&self, result: &CheckResult) {
        self.record_result_due_at(result, result.planned_at);
    }

    /// Like [`Self::record_result`], for a check that was due at `due_at`, which is later than its planned time where
    /// locations take turns.
    pub fn record_result_due_at(&self, result: &CheckResult, due_at: Timestamp) {
        let r#type = result.monitor_type;
        let labels = ResultLabels { outcome: result.outcome, r#type };
        self.results.get_or_create(&labels).inc_by(u64::from(result.slots()));
        if let Some(missed) = &result.missed {
            let labels = MissedLabels { reason: missed.reason };
            self.missed.get_or_create(&labels).inc_by(u64::from(missed.slots));
            return;
        }
        if result.outcome != Outcome::Blackout {
            self.lateness.observe(result.started_at.since(due_at).as_secs_f64());
        }
        if !result.attempts.is_empty() {
            self.durations.get_or_create(&TypeLabels { r#type }).observe(micros_to_seconds(result.total_us));
        }
        let retries = result.attempts.len().saturating_sub(1);
        if retries > 0 {
            self.retries.get_or_create(&TypeLabels { r#type }).inc_by(retries as u64);
        }
        for attempt in &result.attempts {
            if let Some(failure) = &attempt.failure {
                self.failures.get_or_create(&FailureLabels { kind: failure.kind }).inc();
            }
            for (phase, micros) in attempt.phases.iter() {
                let labels = PhaseLabels { phase, r#type };
                self.phases.get_or_create(&labels).observe(micros_to_seconds(u64::from(micros)));
            }
        }
    }

    /// Records that the load of a runner changed from `previous` to `current`. Several runners add up.
    pub fn record_load(&self, before: SchedulerLoad, now: SchedulerLoad) {
        add_difference(&self.monitors_planned, before.planned, now.planned);
        add_difference(&self.runs_queued, before.queued, now.queued);
        for (weight, before, now) in [("light", before.light, now.light), ("heavy", before.heavy, now.heavy)]
        {
            add_difference(&self.in_flight.get_or_create(&WeightLabels { weight }), before, now);
        }
    }

    /// Sets the number of results that wait for the store.
    pub fn set_ingest_queue_depth(&self, results: usize) {
        self.ingest_queued.set(gauge_value(results));
    }

    /// Records a commit of the store, with its number of results and its duration.
    pub fn record_commit(&self, results: usize, duration: Duration) {
        self.commit_results.observe(results as f64);
        self.commit_seconds.observe(duration.as_secs_f64());
    }

    /// Counts a failed commit, by `StoreError::kind`.
    pub fn record_commit_error(&self, kind: &'static str) {
        self.commit_errors.get_or_create(&CommitErrorLabels { kind }).inc();
    }

    /// Counts a run of the housekeeping job `job`; `outcome` is done, failed or skipped.
    pub fn record_job(&self, job: &'static str, outcome: &'static str) {
        self.jobs.get_or_create(&JobLabels { job, outcome }).inc();
    }

    /// Counts notifications that were accepted by the receiver (`sent`), held back for a digest (`held`) or given up
    /// (`dead`).
    pub fn record_notifications(&self, outcome: &'static str, count: usize) {
        self.notifications.get_or_create(&NotificationLabels { outcome }).inc_by(count as u64);
    }

    /// Records a delivery attempt by `method`: whether the receiver accepted it, and its duration.
    pub fn record_delivery(&self, method: NotificationMethod, is_accepted: bool, duration: Duration) {
        let outcome = if is_accepted { "taken" } else { "failed" };
        let labels = DeliveryLabels { method: method.name(), outcome };
        self.deliveries.get_or_create(&labels).observe(duration.as_secs_f64());
    }

    /// Counts a reload of the monitor files or settings, and whether it was accepted. The first load counts too.
    pub fn record_reload(&self, is_accepted: bool) {
        let outcome = if is_accepted { "taken" } else { "refused" };
        self.reloads.get_or_create(&ReloadLabels { outcome }).inc();
        self.last_reload_succeeded.set(i64::from(is_accepted));
        if is_accepted {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.last_reload_at.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        }
    }
}

/// Load of a runner at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulerLoad {
    /// Monitors that are planned.
    pub planned: usize,
    /// Runs that wait for admission.
    pub queued: usize,
    /// Light checks in progress.
    pub light: usize,
    /// Heavy checks in progress.
    pub heavy: usize,
}

fn add_difference(gauge: &Gauge, before: usize, now: usize) {
    let _ = gauge.inc_by(gauge_value(now).saturating_sub(gauge_value(before)));
}

fn gauge_value(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn micros_to_seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}
