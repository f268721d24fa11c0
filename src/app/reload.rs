//! The running set: what is planned follows the files. A bad file leaves it as it was.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Context;

use super::files::{read_monitors, wanted};
use super::settings::Settings;
use crate::clock::Clock;
use crate::control::{Ingestor, Provision, View, provision};
use crate::engine::{Assignment, Change, RunnerHandle};
use crate::model::monitor_file::FileMonitor;
use crate::model::{FieldFault, LocationId, Monitor, MonitorId, Timestamp};
use crate::probe;
use crate::store::{MonitorState, Monitors, Results};
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
}

/// What a reload changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    added: usize,
    changed: usize,
    removed: usize,
    unchanged: usize,
}

impl RunningSet {
    /// Takes the monitors of the files for the first time. Runs that were due while no process ran are
    /// recorded as missed, but not those of monitors that were disabled, or not there, when it ended.
    pub(super) async fn start(doors: Doors, settings: Settings) -> anyhow::Result<Self> {
        let found = read(&settings).await.map_err(|faults| refused(&faults))?;
        let stored = doors.monitors.monitors().await?;
        let states = doors.results.states().await?;
        let last = accounted(&stored, &states, settings.location.id);
        let mut set = Self { doors, running: Vec::new(), settings };
        let provision = set.provision(found).await?;
        let changes = provision.monitors.iter().filter(|monitor| monitor.enabled());
        let changes = changes.map(|m| Change::Put(set.assignment(m, last.get(&m.id).copied()))).collect();
        set.doors.ingestor.forget(&provision.removed);
        set.doors.runner.apply(changes).await?;
        set.take(provision.monitors).await;
        set.doors.metrics.reloaded(true);
        tracing::info!(monitors = set.running.len(), "monitors are planned");
        Ok(set)
    }

    /// Takes what the files say now, under `settings`; only what changed is planned anew. Whether it was
    /// taken.
    pub(super) async fn reload(&mut self, settings: Result<Settings, Vec<FieldFault>>) -> bool {
        let taken = match settings {
            Ok(settings) => self.try_reload(settings).await,
            Err(faults) => Err(refused(&faults)),
        };
        self.doors.metrics.reloaded(taken.is_ok());
        match taken {
            Ok(counts) => {
                let Counts { added, changed, removed, unchanged } = counts;
                tracing::info!(added, changed, removed, unchanged, "reloaded");
                true
            }
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "not reloaded; everything runs on as it was");
                false
            }
        }
    }

    /// The settings in force.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    async fn try_reload(&mut self, settings: Settings) -> anyhow::Result<Counts> {
        let different = self.settings.differences(&settings);
        let mut settings = settings;
        // What needs a restart stays as it is, and is told again with the next change.
        settings.keep_fixed(&self.settings);
        let found = read(&settings).await.map_err(|faults| refused(&faults))?;
        let provision = self.provision(found).await?;
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

    async fn provision(&self, found: Vec<FileMonitor>) -> anyhow::Result<Provision> {
        for monitor in &found {
            for warning in &monitor.warnings {
                let fault = format!("{}:{}: {warning}", monitor.file, monitor.place.line);
                tracing::warn!(fault, "a monitor is taken with a warning");
            }
        }
        let now = self.doors.clock.now();
        let provided = provision(self.doors.monitors.as_ref(), wanted(found), &self.running, now).await;
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

/// Until when the slots of each monitor are accounted for: by its newest result at `location`. One that never
/// ran anywhere owes every slot since it was made; one that only ran elsewhere begins here now.
fn accounted(
    stored: &[Monitor],
    states: &[MonitorState],
    location: LocationId,
) -> HashMap<MonitorId, Timestamp> {
    let enabled = stored.iter().filter(|monitor| monitor.enabled());
    let made: HashMap<_, _> = enabled.map(|monitor| (monitor.id, monitor.modified_at)).collect();
    let mut last = made.clone();
    for state in states {
        last.remove(&state.monitor_id);
    }
    let here = states.iter().filter(|state| state.location_id == location);
    let here = here.filter(|state| made.contains_key(&state.monitor_id));
    last.extend(here.map(|state| (state.monitor_id, state.planned_at)));
    last
}

fn minutes(number: i64) -> std::time::Duration {
    std::time::Duration::from_secs(60 * number.unsigned_abs())
}

async fn read(settings: &Settings) -> Result<Vec<FileMonitor>, Vec<FieldFault>> {
    let settings = settings.clone();
    let reading = tokio::task::spawn_blocking(move || read_monitors(&settings));
    // Fails only when the runtime goes down, or by a defect, which is told by its panic.
    reading.await.unwrap_or_else(|_| Err(Vec::new()))
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

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;
    use crate::model::{
        CheckId, CustomerId, Document, MonitorType, Origin, Outcome, Revision, RunId, Status,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn monitor(id: i64, enabled: bool) -> Monitor {
        let values = Map::from_iter([("enabled".to_owned(), Value::from(enabled))]);
        Monitor {
            id: MonitorId(id),
            customer: CustomerId(1),
            origin: Origin::File { key: format!("m{id}").into() },
            revision: Revision(1),
            modified_at: at(100),
            document: Arc::new(Document::trusted(MonitorType::Tcp, values)),
        }
    }

    fn state(monitor: i64, location: i64) -> MonitorState {
        let (monitor_id, location_id, planned_at) = (MonitorId(monitor), LocationId(location), at(200));
        MonitorState {
            monitor_id,
            location_id,
            check_id: CheckId::of(RunId::of(monitor_id, planned_at), location_id),
            planned_at,
            outcome: Outcome::Ok,
            status: Status::OK,
            total_us: 0,
            since: planned_at,
            streak: 1,
        }
    }

    #[test]
    fn a_slot_that_passed_before_the_first_result_of_a_monitor_is_not_forgotten_over_a_restart() {
        let stored =
            [monitor(1, true), monitor(2, true), monitor(3, true), monitor(4, false), monitor(5, false)];
        let states = [state(2, 1), state(2, 9), state(3, 9), state(4, 1)];
        let last = accounted(&stored, &states, LocationId(1));
        assert_eq!(last, HashMap::from([(MonitorId(1), at(100)), (MonitorId(2), at(200))]));
    }
}
