//! `vigie serve`: runs the whole server in one process.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::app::{self, ServeOptions};

/// Run monitors on schedule, keep their results and show them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A flag beats an environment variable (VIGIE_LISTEN, VIGIE_LOG_LEVEL, …), which beats the file.
SIGHUP reloads settings and monitors, as does a change of their files. SIGTERM and SIGINT end the
process after its running checks, a second signal at once.

Examples:
  vigie serve --demo                              look around: built-in targets and monitors
  vigie serve --monitors ./monitors --data ./data run your own
  vigie serve --config /etc/vigie/vigie.yaml      with a settings file")]
pub(super) struct Args {
    /// Add built-in targets on loopback and monitors for them; the data are deleted at the end unless --data names
    /// a folder
    #[arg(long)]
    demo: bool,
    /// The settings file; without it, that of the variable `VIGIE_CONFIG`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for the database [default: vigie-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder or file of monitors; may be given several times [default: vigie-monitors]
    #[arg(long, value_name = "DIR")]
    monitors: Vec<PathBuf>,
    /// Listening addresses of pages, APIs and metrics, separated by commas; port 0 picks a free port [default:
    /// 127.0.0.1:7979]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// File with the password of the first user, `admin`; without it a generated one is printed on the terminal, or
    /// written to `admin-password` in the data folder
    #[arg(long, value_name = "FILE")]
    admin_password_file: Option<PathBuf>,
    /// NATS server to which agents on other hosts connect; may be given several times [default: that of `vigie nats
    /// init`]
    #[arg(long, value_name = "URL")]
    bus: Vec<String>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::raise_descriptor_limit();
    let Args { demo, config, data, monitors, listen, admin_password_file, bus } = args;
    let config = super::settings::existing_config_file(config)?;
    app::serve(ServeOptions { config, data, monitors, listen, demo, admin_password_file, bus })?;
    Ok(ExitCode::SUCCESS)
}
