//! The running set: what is planned follows the files. A bad file leaves it as it was.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::accounted::accounted;
use super::files::{read_with_secrets, wanted};
use super::settings::Settings;
use crate::clock::Clock;
use crate::control::{Ingestor, Provision, View, provision_over};
use crate::engine::{Assignment, Change, RunnerHandle};
use crate::model::monitor_file::FileMonitor;
use crate::model::{FieldFault, Monitor, MonitorId, Timestamp};
use crate::probe;
use crate::store::{Monitors, Results, StoreError};
use crate::telemetry::Metrics;

/// The doors through which a change goes.
pub(super) struct Doors {
    pub(super) monitors: Arc<dyn Monitors>,
    pub(super) results: Arc<dyn Results>,
    pub(super) ingestor: Arc<Ingestor>,
    pub(super) runner: RunnerHandle,
    pub(super) view: Arc<View>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Arc<dyn Clock>,
}

/// What runs now.
pub(super) struct RunningSet {
    doors: Doors,
    running: Vec<Monitor>,
    settings: Settings,
    secret_files: Vec<PathBuf>,
}

/// What a reload changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    added: usize,
    changed: usize,
    removed: usize,
    unchanged: usize,
}

/// Whether what the files say was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    /// The files have faults; a change of them is the remedy.
    No,
    /// The store was in trouble; worth trying again.
    Later,
}

impl RunningSet {
    /// Takes the monitors of the files for the first time. Runs that were due while no process ran are
    /// recorded as missed, but not those of monitors that were disabled, or not there, when it ended.
    pub(super) async fn start(doors: Doors, settings: Settings) -> anyhow::Result<Self> {
        // Side by side: each takes its time with 100,000 monitors.
        let (found, stored, states) =
            tokio::join!(read(&settings), doors.monitors.monitors(), doors.results.states());
        let ((found, secret_files), stored) = (found, stored?);
        let found = found.map_err(|faults| refused(&faults))?;
        let last = accounted(&stored, &states?, settings.location.id);
        let mut set = Self { doors, running: Vec::new(), settings, secret_files };
        let provision = set.provision(found, &stored).await?;
        let changes = provision.monitors.iter().filter(|monitor| monitor.enabled());
        let changes = changes.map(|m| Change::Put(set.assignment(m, last.get(&m.id).copied()))).collect();
        set.doors.ingestor.forget(&provision.removed);
        set.doors.runner.apply(changes).await?;
        set.take(provision.monitors).await;
        set.doors.metrics.reloaded(true);
        tracing::info!(monitors = set.running.len(), "monitors are planned");
        Ok(set)
    }

    /// Takes what the files say now, under `settings`; only what changed is planned anew.
    pub(super) async fn reload(&mut self, settings: Result<Settings, Vec<FieldFault>>) -> Taken {
        let taken = match settings {
            Ok(settings) => self.try_reload(settings).await,
            Err(faults) => Err(refused(&faults)),
        };
        self.doors.metrics.reloaded(taken.is_ok());
        match taken {
            Ok(counts) => {
                let Counts { added, changed, removed, unchanged } = counts;
                tracing::info!(added, changed, removed, unchanged, "reloaded");
                Taken::Yes
            }
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "not reloaded; everything runs on as it was");
                if error.downcast_ref::<StoreError>().is_some() { Taken::Later } else { Taken::No }
            }
        }
    }

    /// The settings in force.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The files with secrets that the monitors name.
    pub(super) fn secret_files(&self) -> &[PathBuf] {
        &self.secret_files
    }

    async fn try_reload(&mut self, settings: Settings) -> anyhow::Result<Counts> {
        let different = self.settings.differences(&settings);
        let mut settings = settings;
        // What needs a restart stays as it is, and is told again with the next change.
        settings.keep_fixed(&self.settings);
        let (found, secret_files) = read(&settings).await;
        // Of a refused set as well: a secret that was missing is waited for.
        self.secret_files = secret_files;
        let found = found.map_err(|faults| refused(&faults))?;
        let stored = self.doors.monitors.monitors().await.context("the stored monitors cannot be read")?;
        let provision = self.provision(found, &stored).await?;
        let all_anew = different.iter().any(|setting| setting.live && setting.path != "monitors");
        for setting in different.iter().filter(|setting| !setting.live) {
            tracing::warn!(
                setting = setting.path,
                "changed, but is taken at the next start only; restart vigie"
            );
        }
        self.settings = settings;
        let (changes, counts) = self.changes(&provision, all_anew);
        self.doors.runner.apply(changes).await?;
        self.doors.ingestor.forget(&provision.removed);
        self.take(provision.monitors).await;
        Ok(counts)
    }

    async fn provision(&self, found: Vec<FileMonitor>, stored: &[Monitor]) -> anyhow::Result<Provision> {
        for monitor in &found {
            for warning in &monitor.warnings {
                let fault = format!("{}:{}: {warning}", monitor.file, monitor.place.line);
                tracing::warn!(fault, "a monitor is taken with a warning");
            }
        }
        let now = self.doors.clock.now();
        let store = self.doors.monitors.as_ref();
        let provided = provision_over(store, stored, wanted(found), &self.running, now).await;
        provided.context("the store did not take the monitors")
    }

    fn changes(&self, provision: &Provision, all_anew: bool) -> (Vec<Change>, Counts) {
        let before: HashMap<MonitorId, bool> = self.running.iter().map(|m| (m.id, m.enabled())).collect();
        let changed: HashSet<_> = provision.changed.iter().collect();
        let mut counts = Counts { removed: provision.removed.len(), ..Counts::default() };
        let remove = |monitor_id| Change::Remove { monitor_id, cancel: true };
        let mut changes: Vec<_> = provision.removed.iter().copied().map(remove).collect();
        for monitor in &provision.monitors {
            match (before.get(&monitor.id), changed.contains(&monitor.id)) {
                (None, _) => counts.added += 1,
                (Some(_), true) => counts.changed += 1,
                (Some(_), false) => counts.unchanged += 1,
            }
            let was_planned = before.get(&monitor.id).copied().unwrap_or_default();
            if !monitor.enabled() && was_planned {
                changes.push(remove(monitor.id));
            } else if monitor.enabled() && (all_anew || !was_planned || changed.contains(&monitor.id)) {
                changes.push(Change::Put(self.assignment(monitor, None)));
            }
        }
        (changes, counts)
    }

    async fn take(&mut self, monitors: Vec<Monitor>) {
        self.doors.view.show(monitors.clone()).await;
        self.running = monitors;
    }

    fn assignment(&self, monitor: &Monitor, last_planned_at: Option<Timestamp>) -> Arc<Assignment> {
        let document = &monitor.document;
        let (probe, weight) = probe::build(document, &self.settings.probe);
        Arc::new(Assignment {
            monitor_id: monitor.id,
            revision: monitor.revision,
            name: monitor.name().into(),
            kind: monitor.kind(),
            interval: monitor.interval(),
            offset: document.is_set("monitor_offset").then(|| minutes(document.number("monitor_offset"))),
            timeout: monitor.timeout(),
            retry: document.flag("retry_on_failure"),
            location: self.settings.location.id,
            probe,
            weight,
            last_planned_at,
        })
    }
}

fn minutes(number: i64) -> std::time::Duration {
    std::time::Duration::from_secs(60 * number.unsigned_abs())
}

async fn read(settings: &Settings) -> (Result<Vec<FileMonitor>, Vec<FieldFault>>, Vec<PathBuf>) {
    let settings = settings.clone();
    let reading = tokio::task::spawn_blocking(move || read_with_secrets(&settings));
    // Fails only when the runtime goes down, or by a defect, which is told by its panic.
    reading.await.unwrap_or_else(|_| (Err(Vec::new()), Vec::new()))
}

/// All faults, one a line, each with its place.
pub(super) fn refused(faults: &[FieldFault]) -> anyhow::Error {
    let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    let count = match faults.len() {
        1 => "the configuration has a fault".to_owned(),
        count => format!("the configuration has {count} faults"),
    };
    anyhow::anyhow!("{count}\n{}", lines.join("\n"))
}
