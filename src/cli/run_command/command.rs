//! Arguments and course of `vigie run`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::child::{JobEnd, JobSignals, run_job};
use super::job_secrets::JobSecrets;
use super::push_url::{self, read_push_url};
use super::pusher::Pusher;
use crate::cli::output::{UsageError, print_note};
use crate::cli::process::build_single_threaded_runtime;
use crate::cli::time_argument::parse_duration;
use crate::protocol::http::PostClient;

/// Longest message of a push, in characters.
const MAX_MESSAGE_CHARS: usize = 200;
/// How long threads may block the end of the process.
const THREAD_END_TIMEOUT: Duration = Duration::from_millis(100);

/// Run a command, and report its start and end to a push monitor
///
/// Input, output and exit code are those of the command. It is reported as up when its exit code is 0, otherwise as
/// down, with the last 50 lines of its output, in which secrets are masked. A server that cannot be reached changes
/// nothing but a warning. SIGTERM, SIGINT and SIGHUP are passed on to the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie run --push-file /etc/vigie/backup.push -- /usr/local/bin/backup --all
  VIGIE_PUSH_URL=https://vigie.example.com/push/… vigie run --timeout 1h -- sh -c 'dump | gzip > dump.gz'

The exit code is that of the command, 128 + n after signal n, 124 after --timeout, 126 or 127 when it cannot be
started.")]
pub(in crate::cli) struct Args {
    /// The push URL of the monitor, which other users see in the list of processes [default: the variable
    /// `VIGIE_PUSH_URL`]
    #[arg(long, value_name = "URL", conflicts_with = "push_file")]
    push: Option<String>,
    /// File with the push URL
    #[arg(long, value_name = "FILE")]
    push_file: Option<PathBuf>,
    /// Name of the job in messages [default: the file name of the command]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// End the command when it takes longer, such as `90s`, `10m` or `2h`: by SIGTERM, 10 seconds later by SIGKILL
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    timeout: Option<Duration>,
    /// Trust the authorities in FILE (PEM) in addition to those of the system
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// The command with its arguments
    #[arg(last = true, required = true, num_args = 1.., value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| "write a time like `90s`, `10m` or `2h`".to_owned())
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let url = read_push_url(args.push.as_deref(), args.push_file.as_deref())?;
    // A provider may be installed already by another part of this process; TLS works then too.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = build_single_threaded_runtime()?;
    let exit_code = runtime.block_on(run_and_report(&args, url));
    runtime.shutdown_timeout(THREAD_END_TIMEOUT);
    exit_code.map(ExitCode::from)
}

async fn run_and_report(args: &Args, url: Url) -> anyhow::Result<u8> {
    let (program, arguments) = args.command.split_first().context("no command is named")?;
    let texts = args.command.iter().filter_map(|argument| argument.to_str());
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let variables = variables.filter(|(name, _)| name != push_url::VARIABLE);
    let secrets = JobSecrets::new(&push_url::secret_parts(&url), variables, texts);
    let client = PostClient::new(args.ca_file.as_deref());
    let client = client.map_err(|error| UsageError::with_hint(error.to_string(), None))?;
    let pusher = Pusher::new(client, url);
    let name = args.name.clone().unwrap_or_else(|| file_name(program));
    let mut signals = JobSignals::install().context("signals cannot be handled")?;

    let (started, job_ended) = (Instant::now(), CancellationToken::new());
    let start = [("status", "start".to_owned()), ("msg", message(&name, "started", &secrets))];
    // The job does not wait until its start is reported; its end is reported after that.
    let ((), (end, tail, duration)) =
        tokio::join!(pusher.push("the start", &start, String::new(), &secrets, &job_ended), async {
            let (end, tail) = run_job(program, arguments, args.timeout, &mut signals).await;
            job_ended.cancel();
            (end, tail, started.elapsed())
        });
    if let JobEnd::NotStarted(_) = &end {
        print_note(&format!("error: `{}` {}", program.display(), end.describe()));
    }
    let exit_code = end.exit_code();
    let parameters = [
        ("status", if exit_code == 0 { "up" } else { "down" }.to_owned()),
        ("exit_code", exit_code.to_string()),
        ("ping", duration.as_millis().to_string()),
        ("msg", message(&name, &end.describe(), &secrets)),
    ];
    let body = tail.into_text(|text| secrets.redact(&text));
    let never = CancellationToken::new();
    tokio::select! {
        () = pusher.push("the end", &parameters, body, &secrets, &never) => {}
        // The job is over: whoever wants this process gone need not wait for the server.
        _ = signals.next() => {}
    }
    Ok(exit_code)
}

fn message(name: &str, what: &str, secrets: &JobSecrets) -> String {
    secrets.redact(&format!("{name}: {what}")).chars().take(MAX_MESSAGE_CHARS).collect()
}

fn file_name(program: &OsString) -> String {
    let path = Path::new(program);
    path.file_name().unwrap_or(program).to_string_lossy().into_owned()
}
