//! `vigie controller`: one of several servers over one database and one NATS.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::app::{self, ControllerOptions};

/// Run one of several controllers: one leads, the others hand requests on and take over when it is gone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All controllers use the same PostgreSQL (`store.url`), the same NATS, and the same two files: the key
file `vigie.key`, and `nats-trust.sealed` from `vigie nats init`. Checks run on agents, and at the
location of the controller that leads.

SIGHUP reloads settings, SIGTERM and SIGINT give the lead up and end the process, a second signal at
once.

Examples:
  vigie controller --config /etc/vigie/vigie.yaml --name controller-1
  vigie controller --config /etc/vigie/vigie.yaml --listen 0.0.0.0:7979 --url https://controller-1.example.net:7979")]
pub(super) struct Args {
    /// The settings file; without it, that of the variable `VIGIE_CONFIG`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for keys, the spool and the host token [default: vigie-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Listening addresses of pages, APIs and metrics, separated by commas [default: 127.0.0.1:7979]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Name of this controller [default: that of the host]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// URL at which the other controllers reach this one [default: the first listening address]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// File with the password of the first user, `admin`; without it a generated one is printed on the terminal, or
    /// written to `admin-password` in the data folder
    #[arg(long, value_name = "FILE")]
    admin_password_file: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::raise_descriptor_limit();
    let Args { config, data, listen, name, url, admin_password_file } = args;
    let config = super::settings::existing_config_file(config)?;
    app::run_controller(ControllerOptions { config, data, listen, name, url, admin_password_file })?;
    Ok(ExitCode::SUCCESS)
}
