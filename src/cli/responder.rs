//! `vigie responder`: runs the built-in targets in a process of their own, for `vigie load`.

use std::io::Read;
use std::process::ExitCode;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::output;
use crate::targets::{BuiltInTargetAddresses, BuiltInTargetConfig, BuiltInTargets};

/// Start the built-in targets on loopback, print their addresses as one line of JSON, and run until standard input
/// closes
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Number of addresses to listen on, from 127.0.0.1 on
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=254))]
    spread: u8,
}

/// The line that is printed when the targets listen.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ListeningLine {
    /// Addresses of the targets.
    pub(super) addresses: BuiltInTargetAddresses,
    /// Certificate of the CA that issued the HTTPS certificate, in PEM.
    pub(super) ca_pem: String,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::raise_descriptor_limit();
    super::process::build_multi_threaded_runtime()?.block_on(async {
        let config = BuiltInTargetConfig { address_count: args.spread, ..BuiltInTargetConfig::default() };
        let responder = BuiltInTargets::start(config).await.context("the built-in targets cannot start")?;
        let listening_line =
            ListeningLine { addresses: responder.addresses(), ca_pem: responder.ca_pem().to_owned() };
        output::print(&format!("{}\n", serde_json::to_string(&listening_line)?))?;
        // The parent process holds the other end: this process exits when the parent does, for whatever reason.
        let _ = tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0; 1])).await;
        Ok(ExitCode::SUCCESS)
    })
}
