//! The running set: what is planned follows the files. A bad file leaves it was.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::local_planner::RecordedUntil;
use super::monitor_files::{into_desired, read_monitors_and_secret_paths};
use super::recorded_until::recorded_until;
use super::services::Services;
use super::validation_context::shared_facts;
use crate::clock::Clock;
use crate::domain::{LocationId, MonitorId};
use crate::schema::Monitor;
use crate::schema::monitor_file::FileMonitor;
use crate::service::monitors;
use crate::service::{ProvisionPlan, provision_with_stored};
use crate::settings::Settings;
use crate::store::{ConfigStore, MonitorStore, ResultStore, StoreError};
use crate::syntax::ValidationError;
use crate::telemetry::Metrics;

/// The doors through which a change goes.
pub(super) struct ReloadHandles {
    pub(super) monitors: Arc<dyn MonitorStore>,
    pub(super) config: Arc<dyn ConfigStore>,
    pub(super) results: Arc<dyn ResultStore>,
    pub(super) services: Arc<Services>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Arc<dyn Clock>,
}

/// What runs now.
pub(super) struct RunningConfig {
    handles: ReloadHandles,
    file_monitors: Vec<Monitor>,
    settings: Settings,
    secret_files: Vec<PathBuf>,
}

/// What a reload changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReloadCounts {
    added: usize,
    changed: usize,
    removed: usize,
    unchanged: usize,
}

/// Whether what the files say was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReloadOutcome {
    Applied,
    /// The files have faults; a change of them is the remedy.
    Rejected,
    /// The store was in trouble; worth trying again.
    RetryLater,
}

impl RunningConfig {
    /// Takes the monitors of the files and those of the APIs for the first time. Runs that were due while no
    /// process ran are recorded as missed, but not those of monitors that were disabled, at rest, or not there,
    /// when it ended.
    pub(super) async fn start(reload_handles: ReloadHandles, settings: Settings) -> anyhow::Result<Self> {
        // Side by side: each takes its time with 100,000 monitors.
        let (found, kept, states) = tokio::join!(
            read_files(&settings),
            reload_handles.config.stored_monitors(),
            reload_handles.results.states()
        );
        let ((found, secret_files), kept) = (found, kept?);
        let found = found.map_err(|errors| configuration_error(&errors))?;
        let stored: Vec<Monitor> = kept.iter().map(|kept| kept.monitor.clone()).collect();
        let states = states?;
        let ids = settings.location_ids().into_iter().map(LocationId);
        let last = ids.map(|id| (id, recorded_until(&stored, &states, id))).collect();
        let mut set = Self { handles: reload_handles, file_monitors: Vec::new(), settings, secret_files };
        let provision = set.provision(found, &stored).await?;
        let services = Arc::clone(&set.handles.services);
        let monitors = &services.state.monitors;
        let mut all = monitors::open_monitors(monitors, kept).await?;
        monitors::register_pauses(monitors, &provision.monitors);
        monitors.monitors().apply(provision.monitors.clone(), &[]);
        all.extend_from_slice(&provision.monitors);
        services.planner.plan_from(&all, &provision.removed, &last).await?;
        set.file_monitors = provision.monitors;
        set.handles.metrics.record_reload(true);
        tracing::info!(monitors = all.len(), from_files = set.file_monitors.len(), "monitors planned");
        Ok(set)
    }

    /// Takes what the files say now, under `settings`; only what changed is planned anew.
    pub(super) async fn reload(&mut self, settings: Result<Settings, Vec<ValidationError>>) -> ReloadOutcome {
        self.handles.services.reload_keys();
        let taken = match settings {
            Ok(settings) => self.try_reload(settings).await,
            Err(errors) => Err(configuration_error(&errors)),
        };
        self.handles.metrics.record_reload(taken.is_ok());
        match taken {
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

    /// The settings in force.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The files with secrets that the monitors name, and that of the keys.
    pub(super) fn secret_files(&self) -> Vec<PathBuf> {
        let mut files = self.secret_files.clone();
        files.push(self.handles.services.key_file().to_owned());
        files
    }

    async fn try_reload(&mut self, settings: Settings) -> anyhow::Result<ReloadCounts> {
        let different = self.settings.changed_settings(&settings);
        let mut settings = settings;
        // What needs a restart stays as it is, and is told again with the next change.
        settings.keep_restart_only(&self.settings);
        let (found, secret_files) = read_files(&settings).await;
        // Of a refused set as well: a secret that was missing is waited for.
        self.secret_files = secret_files;
        let found = found.map_err(|errors| configuration_error(&errors))?;
        let services = Arc::clone(&self.handles.services);
        let monitors = &services.state.monitors;
        // Nobody changes a monitor between reading what is stored and taking what came of it.
        let _lock = monitors.lock_exclusive().await;
        let stored = self.handles.monitors.monitors().await.context("the stored monitors cannot be read")?;
        let provision = self.provision(found, &stored).await?;
        let all_anew = different.iter().any(|setting| setting.reloadable && setting.path != "monitors");
        for setting in different.iter().filter(|setting| !setting.reloadable) {
            tracing::warn!(setting = setting.path, "changed setting ignored until restart");
        }
        self.settings = settings;
        if all_anew {
            services.accounts.update_shared(shared_facts(&self.settings));
            services.planner.update_probe_settings(self.settings.probe.clone());
            services.planner.update_proxies(&self.settings.proxies);
        }
        let (upserts, counts) = self.changed_monitors(&provision);
        monitors::register_pauses(monitors, &provision.monitors);
        monitors.monitors().apply(provision.monitors.clone(), &provision.removed);
        let upserts = if all_anew { monitors.monitors().all() } else { upserts };
        services.planner.plan_from(&upserts, &provision.removed, &RecordedUntil::new()).await?;
        self.file_monitors = provision.monitors;
        Ok(counts)
    }

    async fn provision(&self, found: Vec<FileMonitor>, stored: &[Monitor]) -> anyhow::Result<ProvisionPlan> {
        for monitor in &found {
            for warning in &monitor.warnings {
                let error = format!("{}:{}: {warning}", monitor.file, monitor.position.line);
                tracing::warn!(error, "monitor loaded with a warning");
            }
        }
        let now = self.handles.clock.now();
        let store = self.handles.monitors.as_ref();
        let provided =
            provision_with_stored(store, stored, into_desired(found), &self.file_monitors, now).await;
        provided.context("the store did not take the monitors")
    }

    /// What is new or differs, and how many of which there are.
    fn changed_monitors(&self, provision: &ProvisionPlan) -> (Vec<Monitor>, ReloadCounts) {
        let before: HashSet<MonitorId> = self.file_monitors.iter().map(|monitor| monitor.id).collect();
        let changed: HashSet<_> = provision.changed.iter().collect();
        let mut counts = ReloadCounts { removed: provision.removed.len(), ..ReloadCounts::default() };
        let mut upserts = Vec::new();
        for monitor in &provision.monitors {
            match (before.contains(&monitor.id), changed.contains(&monitor.id)) {
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

async fn read_files(settings: &Settings) -> (Result<Vec<FileMonitor>, Vec<ValidationError>>, Vec<PathBuf>) {
    let settings = settings.clone();
    let reading = tokio::task::spawn_blocking(move || read_monitors_and_secret_paths(&settings));
    // Fails only when the runtime goes down, or by a defect, which is told by its panic.
    reading.await.unwrap_or_else(|_| (Err(Vec::new()), Vec::new()))
}

/// All faults, one a line, each with its place.
pub(super) fn configuration_error(errors: &[ValidationError]) -> anyhow::Error {
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let count = match errors.len() {
        1 => "the configuration has a fault".to_owned(),
        count => format!("the configuration has {count} faults"),
    };
    anyhow::anyhow!("{count}\n{}", lines.join("\n"))
}
