//! Measures a load run with agents, step by step.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::agents_load::AgentsLoad;
use super::agents_process::AgentsProcess;
use super::bus_traffic::BusTraffic;
use super::control_runtime::ControlRuntime;
use super::monitors::MonitorTemplate;
use super::orders::{AgentsOrder, AgentsReply, RunCounts};
use super::report::{AgentsReport, Measurements};
use super::settings::{agent_folder, target_ca_file};
use crate::app::ControlPlane;
use crate::cli::load::memory_samples::wait_and_sample_peak_memory;
use crate::cli::load::process_usage::{cpu_time, resident_bytes};
use crate::cli::load::targets::LoadTargets;
use crate::clock::{Clock, SystemClock};
use crate::domain::{LocationId, Timestamp};
use crate::settings::Settings;

/// How long agents are connected before the memory of idle ones is read: two heartbeats of each.
const IDLE_TIME: Duration = Duration::from_secs(10);
/// How long all agents may take to connect, or to plan their monitors.
const AGENTS_TIMEOUT: Duration = Duration::from_mins(15);
/// How long the last results may take to reach the database.
const STORE_TIMEOUT: Duration = Duration::from_mins(2);
/// How long running checks may take at a shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(1);
/// Pause between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// What a run works with.
pub(super) struct LoadRun {
    pub(super) load: AgentsLoad,
    /// Folder with the data folders of the agents.
    pub(super) folder: PathBuf,
    /// Settings of the control plane.
    pub(super) settings: Settings,
    pub(super) targets: LoadTargets,
    pub(super) traffic: BusTraffic,
    /// The process of the agents, once it is started; whoever started the run ends it.
    pub(super) agents: Mutex<Option<AgentsProcess>>,
    /// The runtime of this command.
    pub(super) main_runtime: Handle,
}

impl LoadRun {
    /// Measures everything.
    pub(super) async fn measure(self: &Arc<Self>) -> anyhow::Result<AgentsReport> {
        let mut measured = Measurements::default();
        let run = Arc::clone(self);
        let idle = ControlRuntime::run(async move { Box::pin(run.enrol_and_idle()).await }).await?;
        (measured.rss_without_agents, measured.rss_with_idle_agents) = idle;
        let run = Arc::clone(self);
        let (counts, measured) =
            ControlRuntime::run(async move { Box::pin(run.assign_and_check(measured)).await }).await?;
        if let Some(reason) = &counts.first_not_ok_reason {
            let not_ok = counts.not_ok_runs;
            crate::cli::output::print_note(&format!(
                "warning: {not_ok} checks were not ok, such as: {reason}"
            ));
        }
        Ok(AgentsReport::new((self.load.agent_count, self.load.monitors_per_agent), &counts, &measured))
    }

    /// Enrols the agents, starts them, and stores their monitors. Returns the memory without agents and with idle ones.
    async fn enrol_and_idle(&self) -> anyhow::Result<(u64, u64)> {
        let control = Box::pin(ControlPlane::start(self.settings.clone())).await?;
        let without_agents = resident_bytes();
        let mut locations = Vec::new();
        for number in 0..self.load.agent_count {
            let folder = agent_folder(&self.folder, number);
            std::fs::create_dir(&folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
            let name = format!("load {number}");
            let (location, secret) = control.create_location(&name).await?;
            control.enrol_agent(&folder, &name, &secret).await?;
            locations.push(location);
        }
        std::fs::write(target_ca_file(&self.folder), self.targets.ca_pem())?;
        let process = self.start_agents()?;
        await_time(self.agents.lock().await.insert(process), AgentsOrder::Connect).await?;
        let give_up_at = SystemClock.now() + AGENTS_TIMEOUT;
        while control.online_agents() < locations.len() {
            if SystemClock.now() > give_up_at {
                bail!("only {} of {} agents are online", control.online_agents(), locations.len());
            }
            SystemClock.sleep(LOOK_INTERVAL).await;
        }
        SystemClock.sleep(IDLE_TIME).await;
        let with_idle_agents = resident_bytes();
        self.store_monitors(&control, &locations).await?;
        control.shut_down(DRAIN_TIMEOUT).await;
        Ok((without_agents, with_idle_agents))
    }

    /// Starts the process of the agents, which outlives the runtime of this control plane.
    fn start_agents(&self) -> anyhow::Result<AgentsProcess> {
        let _entered = self.main_runtime.enter();
        let config = self.load.settings.config_file();
        AgentsProcess::start(&self.folder, self.load.agent_count, config.as_deref())
    }

    async fn store_monitors(&self, control: &ControlPlane, locations: &[LocationId]) -> anyhow::Result<()> {
        let template = MonitorTemplate {
            targets: &self.targets,
            monitor_type: self.load.monitor_type,
            interval_seconds: self.load.interval_seconds,
            settings: &self.settings,
        };
        let count = self.load.monitors_per_agent as usize;
        for (index, location) in locations.iter().enumerate() {
            let first = index * count;
            control.store_monitors(template.build(*location, first..first + count)?).await?;
        }
        Ok(())
    }

    /// Starts the control plane with all monitors, waits until the agents have planned them, and measures the checks.
    async fn assign_and_check(
        &self,
        mut measured: Measurements,
    ) -> anyhow::Result<(RunCounts, Measurements)> {
        let mut agents = self.agents.lock().await;
        let agents = agents.as_mut().context("the agents were not started")?;
        let started_at = SystemClock.now();
        let control = Box::pin(ControlPlane::start(self.settings.clone())).await?;
        let all = AgentsOrder::AwaitPlanned(self.load.monitors_per_agent as usize);
        measured.assigned = await_time(agents, all).await?.since(started_at);
        measured.rss_assigned = resident_bytes();
        let counts = self.measure_checks(&control, agents, &mut measured).await?;
        control.shut_down(DRAIN_TIMEOUT).await;
        Ok((counts, measured))
    }

    /// Measures the checks that are planned after the warm-up, and waits until all of them are stored.
    async fn measure_checks(
        &self,
        control: &ControlPlane,
        agents: &mut AgentsProcess,
        measured: &mut Measurements,
    ) -> anyhow::Result<RunCounts> {
        let start = SystemClock.now() + self.load.warm_up;
        let window = start..start + self.load.measured;
        measured.window = self.load.measured;
        measured.rss_peak = measured.rss_assigned;
        let own_figures = async {
            let peak = wait_and_sample_peak_memory(window.start).await;
            let (cpu, stored) = (cpu_time(), control.stored_results());
            let bytes = self.traffic.bytes().await?;
            let peak = peak.max(wait_and_sample_peak_memory(window.end).await);
            measured.control_cpu = cpu_time().saturating_sub(cpu);
            measured.stored_in_window = control.stored_results().saturating_sub(stored);
            measured.bus_bytes = self.traffic.bytes().await?.saturating_sub(bytes);
            measured.rss_peak = measured.rss_peak.max(peak);
            anyhow::Ok(())
        };
        let order = AgentsOrder::Measure(window.start.as_micros(), window.end.as_micros());
        let (own, reply) = tokio::join!(own_figures, agents.order(order));
        own?;
        let AgentsReply::CpuUs(cpu_us) = reply? else { bail!("the agents replied something else") };
        measured.agents_cpu = Duration::from_micros(cpu_us);
        let AgentsReply::Counts(counts) = agents.order(AgentsOrder::Finish).await? else {
            bail!("the agents replied something else")
        };
        let runs = counts.executed_checks + counts.missed_runs;
        let give_up_at = SystemClock.now() + STORE_TIMEOUT;
        loop {
            measured.stored_of_window = control.results_planned_in(&window).await?;
            if measured.stored_of_window >= runs || SystemClock.now() > give_up_at {
                break;
            }
            SystemClock.sleep(LOOK_INTERVAL).await;
        }
        measured.rss_peak = measured.rss_peak.max(resident_bytes());
        Ok(counts)
    }
}

/// Returns when all agents did what `order` awaits.
async fn await_time(agents: &mut AgentsProcess, order: AgentsOrder) -> anyhow::Result<Timestamp> {
    let reply = tokio::time::timeout(AGENTS_TIMEOUT, agents.order(order)).await;
    match reply.with_context(|| format!("the agents did not do this in time: {order:?}"))?? {
        AgentsReply::At(micros) => Ok(Timestamp::from_micros(micros)),
        _ => bail!("the agents replied something else"),
    }
}
