//! The hidden command `vigie load-agents`: runs many agents until its input closes.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::orders::{AgentsOrder, AgentsReply, RunCounts};
use super::settings::{agent_folder, settings_in, target_ca_file};
use crate::app::{AgentInProcess, ResultObserver};
use crate::cli::load::process_usage::cpu_time;
use crate::cli::load::run_counter::RunCounter;
use crate::cli::load::targets::trust_ca;
use crate::cli::output;
use crate::cli::settings::SettingsArgs;
use crate::clock::{Clock, SystemClock};
use crate::domain::Timestamp;

/// Agents that start at once.
const STARTS_AT_ONCE: usize = 16;
/// Threads that write the spools of all agents.
const WRITER_THREADS: usize = 16;
/// How long running checks may take to end.
const FINISH_TIMEOUT: Duration = Duration::from_mins(1);
/// Pause between two looks at the agents.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Pause between two looks at the monitors of an agent: a thousand agents must not be busy with replies.
const PLANNED_LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Run the agents of `vigie load`: print a line of JSON for each order on standard input, until that closes
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AgentsArgs {
    /// Folder with a data folder for each agent
    folder: PathBuf,
    /// Number of agents
    count: u32,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(in crate::cli) fn run_agents(args: AgentsArgs) -> anyhow::Result<ExitCode> {
    crate::cli::process::raise_descriptor_limit();
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    crate::net::warm_up_crypto();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(WRITER_THREADS)
        .build()?;
    let outcome = runtime.block_on(serve(args));
    // Nobody needs what they still have to do.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// All agents, and the counter of their results.
struct Agents {
    agents: Vec<AgentInProcess>,
    counter: Arc<RunCounter>,
}

async fn serve(args: AgentsArgs) -> anyhow::Result<()> {
    let (mut orders, input_closed) = read_orders();
    let obey_all = async {
        let agents = Agents::start(&args).await?;
        while let Some(line) = orders.recv().await {
            let reply = agents.obey(serde_json::from_str(&line).context("an order cannot be read")?).await;
            output::print(&(serde_json::to_string(&reply)? + "\n"))?;
        }
        Ok(())
    };
    tokio::select! {
        outcome = obey_all => outcome,
        // The process that started this one has ended.
        () = input_closed.cancelled() => Ok(()),
    }
}

/// Reads lines from standard input in a thread of its own; the token is cancelled when the input closes.
fn read_orders() -> (mpsc::Receiver<String>, CancellationToken) {
    let (sender, receiver) = mpsc::channel(1);
    let input_closed = CancellationToken::new();
    let closed = input_closed.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
        closed.cancel();
    });
    (receiver, input_closed)
}

impl Agents {
    async fn start(args: &AgentsArgs) -> anyhow::Result<Self> {
        let mut settings = args.settings.load_settings()?;
        trust_ca(&mut settings, std::fs::read_to_string(target_ca_file(&args.folder))?);
        let counter = Arc::new(RunCounter::new()?);
        let counting = Arc::clone(&counter);
        let observer: ResultObserver = Arc::new(move |result| counting.record(result));
        let start = |number| {
            let settings = settings_in(&settings, agent_folder(&args.folder, number));
            let observer = Arc::clone(&observer);
            async move { AgentInProcess::start(&settings, observer).await }
        };
        let agents = futures::stream::iter(0..args.count).map(start).buffer_unordered(STARTS_AT_ONCE);
        Ok(Self { agents: agents.try_collect().await?, counter })
    }

    async fn obey(&self, order: AgentsOrder) -> AgentsReply {
        match order {
            AgentsOrder::Connect => {
                while !self.agents.iter().all(AgentInProcess::is_connected) {
                    SystemClock.sleep(LOOK_INTERVAL).await;
                }
                AgentsReply::At(SystemClock.now().as_micros())
            }
            AgentsOrder::AwaitPlanned(count) => {
                // Side by side: under load, a reply of one agent takes its time.
                let planned = self.agents.iter().map(|agent| async move {
                    while agent.planned_monitors().await < count {
                        SystemClock.sleep(PLANNED_LOOK_INTERVAL).await;
                    }
                });
                futures::future::join_all(planned).await;
                AgentsReply::At(SystemClock.now().as_micros())
            }
            AgentsOrder::Measure(start_us, end_us) => {
                let (start, end) = (Timestamp::from_micros(start_us), Timestamp::from_micros(end_us));
                self.counter.set_measured_window(start..end);
                SystemClock.sleep(start.since(SystemClock.now())).await;
                let before = cpu_time();
                SystemClock.sleep(end.since(SystemClock.now())).await;
                let used = cpu_time().saturating_sub(before);
                AgentsReply::CpuUs(u64::try_from(used.as_micros()).unwrap_or(u64::MAX))
            }
            AgentsOrder::Finish => {
                let finish = futures::future::join_all(self.agents.iter().map(AgentInProcess::finish_checks));
                // The results of a check that does not end in time count as lost.
                let _ = tokio::time::timeout(FINISH_TIMEOUT, finish).await;
                AgentsReply::Counts(self.counts())
            }
        }
    }

    fn counts(&self) -> RunCounts {
        let totals = self.counter.totals();
        let percentile_us = |percentile| totals.start_lateness_us.value_at_percentile(percentile);
        RunCounts {
            executed_checks: totals.executed_checks,
            not_ok_runs: totals.not_ok_runs,
            missed_runs: totals.missed_runs,
            lateness_p50_us: percentile_us(50.0),
            lateness_p99_us: percentile_us(99.0),
            lateness_max_us: totals.start_lateness_us.max(),
            first_not_ok_reason: totals.first_not_ok_reason,
        }
    }
}
