//! The running configuration, which follows the files. Invalid files leave it unchanged.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::local_planner::SlotsRecordedUntil;
use super::monitor_files::{into_desired_monitors, read_monitors_and_secret_paths};
use super::reloadable_parts::ReloadableParts;
use super::services::Services;
use super::slots_recorded_until::recorded_until;
use super::stored_config_review::{REVIEWED_KINDS, stored_problems};
use super::stored_locations::stored_location_errors;
use super::validation_context::instance_data;
use crate::clock::Clock;
use crate::domain::{ConfigRecordFilter, LocationId, MonitorId};
use crate::pipeline::{Ingestor, Planner, ResultSpool, replay_spool};
use crate::schema::Monitor;
use crate::schema::monitor_file::FileMonitor;
use crate::service::monitors;
use crate::service::{ProvisionPlan, provision_with_stored};
use crate::settings::Settings;
use crate::store::{ConfigStore, MonitorStore, Pagination, ResultStore, StoreError};
use crate::syntax::ValidationError;
use crate::telemetry::Metrics;

/// How long a start waits for the results in the spool to be stored.
const SPOOL_REPLAY_TIMEOUT: Duration = Duration::from_secs(10);

/// The components that a reload changes.
pub(super) struct ReloadHandles {
    pub(super) monitor_store: Arc<dyn MonitorStore>,
    pub(super) config_store: Arc<dyn ConfigStore>,
    pub(super) result_store: Arc<dyn ResultStore>,
    pub(super) services: Arc<Services>,
    pub(super) ingestor: Arc<Ingestor>,
    pub(super) spool: Arc<ResultSpool>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) reloadable: ReloadableParts,
}

/// The configuration that runs now.
pub(super) struct RunningConfig {
    handles: ReloadHandles,
    file_monitors: Vec<Monitor>,
    settings: Settings,
    secret_files: Vec<PathBuf>,
}

/// Number of monitors that a reload changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReloadCounts {
    added: usize,
    changed: usize,
    removed: usize,
    unchanged: usize,
}

/// Outcome of a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReloadOutcome {
    Applied,
    /// The files have errors and must be changed.
    Rejected,
    /// The store failed; the reload should be retried.
    RetryLater,
}

impl RunningConfig {
    /// Plans the monitors of the files and the APIs at the start. Runs that were due while no process ran are recorded
    /// as missed, except those of monitors that were disabled, paused or absent when the last process ended.
    pub(super) async fn start(reload_handles: ReloadHandles, settings: Settings) -> anyhow::Result<Self> {
        // Concurrently: each takes its time with 100,000 monitors.
        let (file_monitors, stored_monitors, states) = tokio::join!(
            read_monitor_files(&settings),
            reload_handles.config_store.stored_monitors(),
            reload_handles.result_store.location_states()
        );
        let ((file_monitors, secret_files), stored_monitors) = (file_monitors, stored_monitors?);
        let file_monitors = file_monitors.map_err(|errors| configuration_error(&errors))?;
        check_stored_locations(&file_monitors, &reload_handles.services).await?;
        let monitors_in_store: Vec<Monitor> =
            stored_monitors.iter().map(|stored| stored.monitor.clone()).collect();
        let mut states = states?;
        let location_ids = settings.location_ids();
        let mut config = Self { handles: reload_handles, file_monitors: Vec::new(), settings, secret_files };
        let plan = config.provision(file_monitors, &monitors_in_store).await?;
        let services = Arc::clone(&config.handles.services);
        let monitor_service = &services.api_state.monitor_service;
        let mut planned = monitors::decrypt_and_cache_monitors(monitor_service, stored_monitors).await?;
        monitors::register_pauses(monitor_service, &plan.monitors);
        monitor_service.monitor_cache().apply(plan.monitors.clone(), &[]);
        planned.extend_from_slice(&plan.monitors);
        if !config.handles.spool.is_empty() {
            config.handles.ingestor.update_monitors(planned.clone(), plan.removed.clone()).await;
            config.replay_spool().await;
            states = config.handles.result_store.location_states().await?;
        }
        let location_ids = location_ids.into_iter().map(LocationId);
        let recorded_until_by_location =
            location_ids.map(|id| (id, recorded_until(&monitors_in_store, &states, id))).collect();
        services.planner.plan_monitors(&planned, &plan.removed, &recorded_until_by_location).await?;
        // The store has no secrets of files.
        let checks_the_same = |old: &Monitor, monitor: &Monitor| {
            monitor.document.without_secrets().checks_the_same(&old.document.without_secrets())
        };
        services.planner.request_first_checks(&monitors_to_check(&plan, &monitors_in_store, checks_the_same));
        config.file_monitors = plan.monitors;
        config.handles.metrics.record_reload(true);
        tracing::info!(monitors = planned.len(), from_files = config.file_monitors.len(), "monitors planned");
        if let Err(error) = config.log_stored_problems(&planned).await {
            tracing::warn!(error = %error, "failed to read what the settings may not allow");
        }
        Ok(config)
    }

    /// Logs what is stored and does not work under the settings. `planned` are the monitors.
    async fn log_stored_problems(&self, planned: &[Monitor]) -> Result<(), StoreError> {
        let everything = Pagination::ALL;
        let store = &self.handles.config_store;
        let [recipients, certificates] =
            REVIEWED_KINDS.map(|kind| store.records(ConfigRecordFilter::new(kind), everything));
        let (recipients, certificates) = (recipients.await?.items, certificates.await?.items);
        for problem in stored_problems(&self.settings, planned, [&recipients, &certificates]) {
            tracing::warn!(
                reason = problem,
                "the settings do not allow what a stored monitor or recipient needs"
            );
        }
        Ok(())
    }

    /// Stores what an earlier process left in the spool. When that takes long, since the store does not take it yet
    /// either, it goes on beside the checks.
    async fn replay_spool(&self) {
        let (spool, ingestor) = (Arc::clone(&self.handles.spool), Arc::clone(&self.handles.ingestor));
        let result_store = Arc::clone(&self.handles.result_store);
        let task = async move { replay_spool(&spool, &ingestor, result_store.as_ref()).await };
        if tokio::time::timeout(SPOOL_REPLAY_TIMEOUT, tokio::spawn(task)).await.is_err() {
            tracing::warn!("storing the results of the spool takes long; checks start meanwhile");
        }
    }

    /// Applies the current files under `settings`; only changes are replanned.
    pub(super) async fn reload(&mut self, settings: Result<Settings, Vec<ValidationError>>) -> ReloadOutcome {
        self.handles.services.reload_keys();
        let outcome = match settings {
            Ok(settings) => self.try_reload(settings).await,
            Err(errors) => Err(configuration_error(&errors)),
        };
        self.handles.metrics.record_reload(outcome.is_ok());
        match outcome {
            Ok(counts) => {
                let ReloadCounts { added, changed, removed, unchanged } = counts;
                tracing::info!(added, changed, removed, unchanged, "reloaded");
                ReloadOutcome::Applied
            }
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    "reload failed; the running configuration stays in force"
                );
                if error.downcast_ref::<StoreError>().is_some() {
                    ReloadOutcome::RetryLater
                } else {
                    ReloadOutcome::Rejected
                }
            }
        }
    }

    /// Returns the settings in force.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the secret files that the monitors name, and the key file.
    pub(super) fn secret_files(&self) -> Vec<PathBuf> {
        let mut files = self.secret_files.clone();
        files.push(self.handles.services.key_file().to_owned());
        files
    }

    async fn try_reload(&mut self, settings: Settings) -> anyhow::Result<ReloadCounts> {
        let changed_settings = self.settings.changed_settings(&settings);
        let mut settings = settings;
        // Settings that need a restart stay the same and are reported again with the next change.
        settings.keep_restart_only_settings(&self.settings);
        let (file_monitors, secret_files) = read_monitor_files(&settings).await;
        // Also those of a rejected configuration, so that creating a missing secret triggers a reload.
        self.secret_files = secret_files;
        let file_monitors = file_monitors.map_err(|errors| configuration_error(&errors))?;
        let services = Arc::clone(&self.handles.services);
        check_stored_locations(&file_monitors, &services).await?;
        let monitor_service = &services.api_state.monitor_service;
        // No monitor may change between reading the stored ones and applying the result.
        let _lock = monitor_service.lock_exclusive().await;
        let stored =
            self.handles.monitor_store.monitors().await.context("the stored monitors cannot be read")?;
        self.handles.reloadable.apply_locations(&settings, &self.settings).await?;
        let plan = self.provision(file_monitors, &stored).await?;
        let must_replan_all =
            changed_settings.iter().any(|setting| setting.reloadable && setting.path != "monitors");
        for setting in changed_settings.iter().filter(|setting| !setting.reloadable) {
            tracing::warn!(setting = setting.path, "changed setting ignored until restart");
        }
        self.settings = settings;
        // Also when no setting changed, since the files with passwords may have.
        self.handles.reloadable.apply_alert_settings(&self.settings).await;
        if must_replan_all {
            services.account_cache.update_shared(instance_data(&self.settings));
            self.handles.reloadable.apply_probe_settings(&self.settings);
        }
        let (upserts, counts) = self.changed_monitors(&plan);
        monitors::register_pauses(monitor_service, &plan.monitors);
        monitor_service.monitor_cache().apply(plan.monitors.clone(), &plan.removed);
        let upserts = if must_replan_all { monitor_service.monitor_cache().all() } else { upserts };
        services.planner.plan_monitors(&upserts, &plan.removed, &SlotsRecordedUntil::new()).await?;
        let checks_the_same =
            |old: &Monitor, monitor: &Monitor| monitor.document.checks_the_same(&old.document);
        services.planner.request_first_checks(&monitors_to_check(
            &plan,
            &self.file_monitors,
            checks_the_same,
        ));
        self.file_monitors = plan.monitors;
        Ok(counts)
    }

    /// Stores the monitors of the files, and removes those that are no longer in them; logs their warnings.
    async fn provision(
        &self,
        file_monitors: Vec<FileMonitor>,
        stored_monitors: &[Monitor],
    ) -> anyhow::Result<ProvisionPlan> {
        for monitor in &file_monitors {
            for warning in &monitor.warnings {
                let error = format!("{}:{}: {warning}", monitor.file, monitor.position.line);
                tracing::warn!(error, "monitor loaded with a warning");
            }
        }
        let now = self.handles.clock.now();
        let store = self.handles.monitor_store.as_ref();
        let outcome = provision_with_stored(
            store,
            stored_monitors,
            into_desired_monitors(file_monitors),
            &self.file_monitors,
            now,
        )
        .await;
        outcome.context("failed to store the monitors")
    }

    /// Returns the new and changed monitors, and the counts.
    fn changed_monitors(&self, plan: &ProvisionPlan) -> (Vec<Monitor>, ReloadCounts) {
        let previous_ids: HashSet<MonitorId> = self.file_monitors.iter().map(|monitor| monitor.id).collect();
        let changed_ids: HashSet<_> = plan.upserted.iter().collect();
        let mut counts = ReloadCounts { removed: plan.removed.len(), ..ReloadCounts::default() };
        let mut upserts = Vec::new();
        for monitor in &plan.monitors {
            match (previous_ids.contains(&monitor.id), changed_ids.contains(&monitor.id)) {
                (false, _) => counts.added += 1,
                (true, true) => counts.changed += 1,
                (true, false) => {
                    counts.unchanged += 1;
                    continue;
                }
            }
            upserts.push(monitor.clone());
        }
        (upserts, counts)
    }
}

/// Returns the new monitors of `plan`, and those that check something else than their revision in `old_monitors`.
fn monitors_to_check(
    plan: &ProvisionPlan,
    old_monitors: &[Monitor],
    checks_the_same: impl Fn(&Monitor, &Monitor) -> bool,
) -> Vec<Monitor> {
    let changed_ids: HashSet<_> = plan.upserted.iter().collect();
    let old_monitors: HashMap<_, _> = old_monitors.iter().map(|monitor| (monitor.id, monitor)).collect();
    let is_to_check = |monitor: &&Monitor| {
        changed_ids.contains(&monitor.id)
            && old_monitors.get(&monitor.id).is_none_or(|old| !checks_the_same(old, monitor))
    };
    plan.monitors.iter().filter(is_to_check).cloned().collect()
}

async fn read_monitor_files(
    settings: &Settings,
) -> (Result<Vec<FileMonitor>, Vec<ValidationError>>, Vec<PathBuf>) {
    let settings = settings.clone();
    let task = tokio::task::spawn_blocking(move || read_monitors_and_secret_paths(&settings));
    // Fails only when the runtime shuts down, or on a panic, which is logged.
    task.await.unwrap_or_else(|_| (Err(Vec::new()), Vec::new()))
}

async fn check_stored_locations(monitors: &[FileMonitor], services: &Services) -> anyhow::Result<()> {
    let errors = stored_location_errors(monitors, &services.account_cache)
        .await
        .context("the locations of the accounts cannot be read")?;
    if errors.is_empty() { Ok(()) } else { Err(configuration_error(&errors)) }
}

/// Combines all errors, one a line, each with its position.
pub(super) fn configuration_error(errors: &[ValidationError]) -> anyhow::Error {
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let summary = match errors.len() {
        1 => "the configuration has an error".to_owned(),
        count => format!("the configuration has {count} errors"),
    };
    anyhow::anyhow!("{summary}\n{}", lines.join("\n"))
}
