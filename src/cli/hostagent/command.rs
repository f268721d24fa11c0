//! Arguments and wiring of `vigie hostagent`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use super::token_source::read_token;
use crate::cli::agent::server_url;
use crate::cli::output::{self, InvalidInput, UsageError};
use crate::cli::process::{build_single_threaded_runtime, non_empty_env_variable};
use crate::cli::stop_signals::StopSignals;
use crate::clock::SystemClock;
use crate::hostagent::{
    HostAgent, HostAgentOptions, MAX_PROCESS_NAMES, ReportTarget, SendOutcome, measure_once,
};
use crate::settings::{SettingSources, Settings};
use crate::telemetry::{LogOptions, init_logging, install_panic_hook};

/// Time between the two measurements of `--once`.
const ONCE_WAIT: Duration = Duration::from_secs(1);
/// How long threads may block the end of the process: one that asks a file system, say.
const THREAD_END_TIMEOUT: Duration = Duration::from_millis(300);
/// Longest name of a process, in bytes.
const MAX_PROCESS_NAME_BYTES: usize = 100;

/// Measure this host, and report to a server
///
/// Reports load, memory, disks, networks and processes of this host, for monitors of the type `hostagent`. It needs no
/// privileges. Reports that cannot be sent are kept in the data folder for 48 hours. SIGTERM and SIGINT end it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie hostagent --once                                  what is measured on this host
  vigie hostagent --server https://vigie.example.com --token-file token --process nginx --process postgres

VIGIE_LOG_FORMAT=json and VIGIE_LOG_LEVEL=debug change the log.")]
pub(in crate::cli) struct Args {
    /// URL of the server; without TLS on this host only [default: the variable `VIGIE_SERVER`]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// File with the token of this host, `-` for standard input [default: the variable `VIGIE_HOST_TOKEN`, or the
    /// credential `host_token` of systemd]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The data folder, which is created
    #[arg(long, value_name = "DIR", default_value = "/var/lib/vigie-hostagent")]
    data: PathBuf,
    /// Count the processes called NAME, and measure their processor time and memory; at most 32 times
    #[arg(long, value_name = "NAME")]
    process: Vec<String>,
    /// Trust the authorities in FILE (PEM) in addition to those of the system
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Measure for a second and print the report as JSON; with a server, send it too
    #[arg(long)]
    once: bool,
    /// Seconds between reports until the server asks for another number
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), hide = true)]
    interval: u64,
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    check_process_names(&args.process)?;
    let server = args.server.clone().or_else(|| non_empty_env_variable("VIGIE_SERVER"));
    let Some(server) = server else {
        if args.once {
            output::print(&measure_once(&args.process, ONCE_WAIT, &SystemClock)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let hint = "name it with `--server https://…`, or see what is measured with `--once`".to_owned();
        return Err(UsageError::with_hint("no server is named", Some(hint)));
    };
    let server = server_url(&server)?;
    let token = read_token(args.token_file.as_deref())?;
    let options = HostAgentOptions {
        target: ReportTarget { server, token, ca_file: args.ca_file },
        data: args.data.clone(),
        process_names: args.process,
        interval: Duration::from_secs(args.interval),
    };
    // A provider may be installed already by another part of this process; TLS works then too.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    init_logging(&log_options()?)?;
    install_panic_hook();
    let runtime = build_single_threaded_runtime()?;
    let outcome = runtime.block_on(async {
        let agent = HostAgent::open(options, Arc::new(SystemClock)).with_context(|| {
            let folder = args.data.display();
            format!(
                "the agent cannot start with the data folder `{folder}`\nhint: `--data DIR` names another one"
            )
        })?;
        if args.once { report_once(agent).await } else { run_until_stopped(agent).await }
    });
    runtime.shutdown_timeout(THREAD_END_TIMEOUT);
    outcome
}

/// Names that no process can have are typing errors.
fn check_process_names(names: &[String]) -> anyhow::Result<()> {
    if names.len() > MAX_PROCESS_NAMES {
        let text =
            format!("{} process names are given, more than the limit of {MAX_PROCESS_NAMES}", names.len());
        return Err(UsageError::with_hint(text, None));
    }
    match names
        .iter()
        .find(|name| name.is_empty() || name.len() > MAX_PROCESS_NAME_BYTES || name.contains('/'))
    {
        Some(name) => {
            let hint = "give the name that `ps -o comm` shows, without folder".to_owned();
            Err(UsageError::with_hint(format!("`{name}` is not the name of a process"), Some(hint)))
        }
        None => Ok(()),
    }
}

/// Returns the log options of the environment.
fn log_options() -> anyhow::Result<LogOptions> {
    let mut sources = SettingSources::default().with_environment();
    sources.environment.retain(|(name, _)| name.starts_with("VIGIE_LOG_"));
    Ok(Settings::load(&sources).map_err(InvalidInput)?.log)
}

async fn report_once(mut agent: HostAgent) -> anyhow::Result<ExitCode> {
    let (report, outcome) = agent.report_once(ONCE_WAIT).await?;
    output::print(&report.to_pretty_json())?;
    match outcome {
        SendOutcome::Accepted(_) => {
            output::print_note("the server took the report");
            Ok(ExitCode::SUCCESS)
        }
        SendOutcome::Denied(reason) => {
            anyhow::bail!(
                "the server takes no reports of this host: {reason}\nhint: is the token that of this host, and not revoked?"
            )
        }
        SendOutcome::Refused(reason) | SendOutcome::Later(reason, _) => {
            anyhow::bail!("the report was not taken: {reason}")
        }
    }
}

async fn run_until_stopped(mut agent: HostAgent) -> anyhow::Result<ExitCode> {
    let mut stop_signals = StopSignals::install()?;
    let stop = CancellationToken::new();
    let stop_on_signal = async {
        let signal = stop_signals.next().await.name();
        tracing::info!(signal, "stopping; reports that were not sent are in the data folder");
        stop.cancel();
        std::future::pending::<()>().await;
    };
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "the agent of this host started");
    let outcome = tokio::select! {
        outcome = agent.run(&stop) => outcome,
        // Never: the agent ends when it is stopped.
        () = stop_on_signal => Ok(()),
    };
    outcome?;
    Ok(ExitCode::SUCCESS)
}
