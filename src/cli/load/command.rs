//! The command `vigie load`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use super::agents::{self, AgentsLoad};
use super::memory_samples::wait_and_sample_peak_memory;
use super::pipeline::{LoadPipeline, LoadStore};
use super::report::{LoadMeasurements, LoadReport};
use super::simulation::{self, ClusterPlan};
use super::targets::{LoadTargets, no_target_error};
use crate::cli::output::UsageError;
use crate::cli::process::raise_descriptor_limit;
use crate::cli::settings::SettingsArgs;
use crate::cli::{monitor_type, output};
use crate::clock::{Clock, SystemClock};
use crate::domain::MonitorType;

/// Most time to wait for running checks after the measured window.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(1);

/// Longest default warm-up, in seconds.
const MAX_DEFAULT_WARM_UP_SECONDS: u64 = 10;

/// Measure how many monitors this host can run
///
/// Starts targets on loopback in a process of their own, plans N monitors of one type for them, and runs every
/// check through the whole pipeline: schedule, probe, verdict, store. Prints figures of the runs that were planned
/// in the measured time. CPU and memory are those of this process, without the targets.
///
/// With `--agents`, the checks run at agents: this process is the control plane of a server with SQLite, NATS is a server
/// of its own, and all agents are in one further process. Each agent has its own location, credential, connection and
/// spool.
///
/// With `--simulate`, costs are measured on this host for some seconds with 50,000 monitors. From these, and from those of
/// the manual, it computes what a cluster of the given size needs, and simulates an outage of its database.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie load --monitors 100000 --interval 60 --type tcp --duration 120
  vigie load --monitors 1000000 --interval 3600 --type website --duration 0   memory at idle
  vigie load --monitors 5000 --interval 5 --type website --duration 30 --json
  vigie load --agents 1000 --monitors-per-agent 1000 --interval 300 --type tcp
  vigie load --simulate --monitors 10000000 --agents 10000 --interval 300 --type tcp

The targets take processor time too: on two cores, they and the pipeline share them.")]
pub(in crate::cli) struct Args {
    /// Number of monitors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000),
        required_unless_present = "agents", required_if_eq("simulate", "true"))]
    monitors: Option<u32>,
    /// Number of agents that run the checks, each at a location of its own; needs `nats-server`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000),
        conflicts_with = "data", required_if_eq("simulate", "true"))]
    agents: Option<u32>,
    /// Number of monitors of each agent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        requires = "agents", conflicts_with = "monitors")]
    monitors_per_agent: Option<u32>,
    /// Compute what a cluster with PostgreSQL needs, and simulate it, instead of starting it
    #[arg(long, conflicts_with_all = ["monitors_per_agent", "duration", "warm_up", "data"])]
    simulate: bool,
    /// Number of locations, which share the agents evenly [default: one per agent]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "simulate")]
    locations: Option<u32>,
    /// How long the database is away in the simulation
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=86_400), default_value = "600",
        requires = "simulate")]
    outage: u32,
    /// Results that your PostgreSQL stores a second [default: as the manual's page Growth says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "simulate")]
    stored_per_second: Option<u32>,
    /// Seconds between two runs of one monitor; with `--agents`, an interval that monitors can have
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    interval: u32,
    /// Monitor type: website, website-ssl, tcp, name-server or ping
    #[arg(long = "type", value_name = "TYPE")]
    kind: String,
    /// How long to measure; 0 only plans the monitors and measures the memory [default: the interval]
    #[arg(long, value_name = "SECONDS")]
    duration: Option<u32>,
    /// How long to run before measuring [default: the interval, at most 10]
    #[arg(long, value_name = "SECONDS")]
    warm_up: Option<u32>,
    /// Keep the database in DIR; without it, it is removed at the end
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

impl Args {
    fn measured_duration(&self) -> Duration {
        Duration::from_secs(u64::from(self.duration.unwrap_or(self.interval)))
    }

    fn warm_up_duration(&self) -> Duration {
        let default = u64::from(self.interval).min(MAX_DEFAULT_WARM_UP_SECONDS);
        Duration::from_secs(self.warm_up.map_or(default, u64::from))
    }

    fn cluster_plan(&self, monitor_type: MonitorType) -> anyhow::Result<ClusterPlan> {
        let agents = self.agents.unwrap_or(1);
        let locations = self.locations.unwrap_or(agents);
        if locations > agents {
            let hint = Some("each location needs an agent".to_owned());
            return Err(UsageError::with_hint(
                format!("{agents} agents cannot serve {locations} locations"),
                hint,
            ));
        }
        Ok(ClusterPlan {
            monitors: self.monitors.unwrap_or_default(),
            agents,
            locations,
            interval_seconds: self.interval,
            monitor_type,
            outage: Duration::from_secs(self.outage.into()),
            stored_per_second: self.stored_per_second,
            settings: self.settings.clone(),
        })
    }
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    raise_descriptor_limit();
    let monitor_type = monitor_type::parse_monitor_type(&args.kind).map_err(UsageError)?;
    let runtime = crate::cli::process::build_multi_threaded_runtime()?;
    if args.simulate {
        let plan = args.cluster_plan(monitor_type)?;
        return runtime.block_on(simulation::run(plan, args.json));
    }
    if let Some(agent_count) = args.agents {
        let monitors_per_agent = args.monitors_per_agent.ok_or_else(|| {
            let hint = "with `--agents`, each agent has monitors of its own: use `--monitors-per-agent N`"
                .to_owned();
            UsageError::with_hint("`--agents` lacks `--monitors-per-agent`".to_owned(), Some(hint))
        })?;
        let load = AgentsLoad {
            agent_count,
            monitors_per_agent,
            interval_seconds: args.interval,
            monitor_type,
            measured: args.measured_duration(),
            warm_up: args.warm_up_duration(),
            settings: args.settings.clone(),
        };
        return runtime.block_on(agents::run(load, args.json));
    }
    let report = runtime.block_on(measure_load(&args, monitor_type))?;
    let text = if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.render_table() };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn measure_load(args: &Args, monitor_type: MonitorType) -> anyhow::Result<LoadReport> {
    let targets = LoadTargets::start_responder().await?;
    if targets.monitor_fields(monitor_type, 0).is_none() {
        return Err(no_target_error(monitor_type));
    }
    let mut settings = args.settings.load_settings()?;
    targets.trust_target_ca(&mut settings);
    let store = LoadStore::open(args.data.as_deref(), settings.store.cache_bytes)?;
    let measured_duration = args.measured_duration();
    let pipeline = LoadPipeline::start(&settings, &store)?;
    let monitor_count = args.monitors.unwrap_or_default();
    let load_monitors =
        super::pipeline::build_monitors(&targets, monitor_type, monitor_count, args.interval, &settings)?;
    let monitor_count = load_monitors.documents.len();
    let window_start = SystemClock.now() + args.warm_up_duration();
    pipeline.run_counter.set_measured_window(window_start..window_start + measured_duration);
    pipeline.plan_assignments(load_monitors.assignments).await?;
    let rss_idle_bytes = super::process_usage::resident_bytes();

    let mut rss_peak_bytes = rss_idle_bytes;
    let (mut cpu_time, mut stored_count) = (Duration::ZERO, 0);
    if !measured_duration.is_zero() {
        rss_peak_bytes = rss_peak_bytes.max(wait_and_sample_peak_memory(window_start).await);
        let (cpu_before, stored_before) = (super::process_usage::cpu_time(), pipeline.stored_count());
        rss_peak_bytes =
            rss_peak_bytes.max(wait_and_sample_peak_memory(window_start + measured_duration).await);
        cpu_time = super::process_usage::cpu_time().saturating_sub(cpu_before);
        stored_count = pipeline.stored_count() - stored_before;
    }
    let run_totals = pipeline.drain_and_stop(DRAIN_TIMEOUT).await?;
    rss_peak_bytes = rss_peak_bytes.max(super::process_usage::resident_bytes());
    // A server keeps the documents in memory, so they must count in the measured memory.
    drop(load_monitors.documents);
    if let Some(reason) = &run_totals.first_not_ok_reason {
        output::print_note(&format!(
            "warning: {} checks were not ok, such as: {reason}",
            run_totals.not_ok_runs
        ));
    }
    let window_length = measured_duration;
    Ok(LoadReport::from_totals(
        &run_totals,
        &LoadMeasurements {
            monitor_count,
            cpu_time,
            window_length,
            stored_count,
            rss_idle_bytes,
            rss_peak_bytes,
        },
    ))
}
