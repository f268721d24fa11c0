//! `vigie browser-host`: runs browsers for a server on the same host.

use std::path::PathBuf;
use std::process::ExitCode;

use super::settings::SettingsArgs;
use crate::app::{self, BrowserHostOptions};

/// Run the browsers of scripts for `vigie serve` on the same host, under a user and a sandbox of their own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The server reaches it with `browser: {remote: [{browser: Google Chrome, url: 'unix:PATH'}]}` in its
settings. Only the user of the socket, and root, can open it. Settings of `browser` apply: programs, memory,
folder. SIGTERM and SIGINT end it with all its browsers.

Examples:
  vigie browser-host --socket /run/vigie/webdriver.sock     create the socket
  vigie browser-host                                        take that of vigie-webdriver.socket")]
pub(super) struct Args {
    /// Path of the socket to create; without it, systemd passes one
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::raise_descriptor_limit();
    let settings = args.settings.load_settings()?;
    app::run_browser_host(&settings, BrowserHostOptions { socket: args.socket })?;
    Ok(ExitCode::SUCCESS)
}
