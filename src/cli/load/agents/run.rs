//! Starts what a load run with agents needs, and ends it in any case.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::agents_load::AgentsLoad;
use super::bus_traffic::BusTraffic;
use super::measure::LoadRun;
use super::nats_server::PrivateNatsServer;
use super::settings::settings_in;
use super::temporary_folder::TemporaryFolder;
use crate::app::key_file_location;
use crate::cli::load::targets::{LoadTargets, no_target_error};
use crate::cli::output::{self, UsageError};
use crate::cli::process::descriptor_limit;
use crate::cli::stop_signals::StopSignals;
use crate::vault::Keyring;

/// Descriptors for each agent: its connection, its spool, and the streams of its location at the NATS server.
const DESCRIPTORS_PER_AGENT: u64 = 6;
/// Descriptors of each process besides.
const OTHER_DESCRIPTORS: u64 = 500;

/// Runs `load` and prints its figures.
pub(in crate::cli::load) async fn run(load: AgentsLoad, as_json: bool) -> anyhow::Result<ExitCode> {
    let needed = OTHER_DESCRIPTORS + DESCRIPTORS_PER_AGENT * u64::from(load.agent_count);
    if descriptor_limit() < needed {
        let hint = Some(format!("raise the limit with `ulimit -n {needed}`, or run fewer agents"));
        let text = format!(
            "{} agents need up to {needed} open files, and this process may have {}",
            load.agent_count,
            descriptor_limit()
        );
        return Err(UsageError::with_hint(text, hint));
    }
    let targets = LoadTargets::start_responder().await?;
    if targets.monitor_fields(load.monitor_type, 0).is_none() {
        return Err(no_target_error(load.monitor_type));
    }
    let folder = TemporaryFolder::create()?;
    let settings = settings_in(&load.settings.load_settings()?, folder.path().join("server"));
    let (nats_server, trust_file) = PrivateNatsServer::start(&folder.path().join("nats"), &settings).await?;
    let keyring = Keyring::read_from(key_file_location(&settings))?;
    let trust = trust_file.read(&keyring)?.context("the keys of NATS are missing")?;
    let agents_folder = folder.path().join("agents");
    std::fs::create_dir(&agents_folder)?;
    let run = Arc::new(LoadRun {
        load,
        folder: agents_folder,
        settings,
        targets,
        traffic: BusTraffic::connect(&trust).await?,
        agents: Mutex::default(),
        main_runtime: Handle::current(),
    });
    let mut stop_signals = StopSignals::install()?;
    let report = tokio::select! {
        report = run.measure() => report.map(Ok),
        signal = stop_signals.next() => Ok(Err(signal)),
    };
    // A run that was interrupted ends with its runtime, and releases the agents then.
    if let Some(agents) = run.agents.lock().await.take() {
        agents.stop().await;
    }
    nats_server.stop().await;
    let report = match report? {
        Ok(report) => report,
        Err(signal) => return Ok(ExitCode::from(signal.exit_code())),
    };
    let text = if as_json { serde_json::to_string_pretty(&report)? + "\n" } else { report.render_table() };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
