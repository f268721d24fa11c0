//! `vigie apply`: makes the monitors and hosts of a server match files.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::changes::{Change, render_changes};
use super::hosts;
use crate::app::read_files_for_apply;
use crate::cli::api_client::{ApiClient, ServerArgs};
use crate::cli::output::{self, InvalidInput};
use crate::cli::process;
use crate::cli::style::Style;
use crate::schema::host_file::FileHost;
use crate::schema::monitor_file::to_apply_entry;

/// Make the monitors and hosts of a server match files
///
/// Creates and changes monitors and hosts as the files define them, and prints the changes. A monitor is identified by
/// its `key`: renaming it keeps its history. A host is identified by its name. What comes from other sources is not
/// changed, and hosts are never removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie apply monitors/ --dry-run          see what would change
  vigie apply monitors/                    change it
  vigie apply monitors/ --prune            and remove monitors of an earlier apply that are no longer in the files
  vigie apply monitors/ --server https://vigie.example.com --token-file token")]
pub(in crate::cli) struct Args {
    /// Folder of files with monitors and hosts, or one file
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only print what would change
    #[arg(long)]
    dry_run: bool,
    /// Remove monitors of an earlier apply that are no longer in the files
    #[arg(long)]
    prune: bool,
    /// Print the response of the server as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// The response of the server, with the changes of hosts.
#[derive(Debug, Deserialize, Serialize)]
struct ApplyResponse {
    changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<Change>,
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (monitors, hosts) = read_files_for_apply(&args.folder).map_err(InvalidInput)?;
    let entries: Vec<Value> = monitors.iter().map(|monitor| Value::Object(to_apply_entry(monitor))).collect();
    let mut body = json!({"monitors": entries, "dry_run": args.dry_run, "prune": args.prune});
    let response = process::build_single_threaded_runtime()?.block_on(async {
        let mut server = args.server.connect().await?;
        apply(&mut server, &mut body, &hosts, args.dry_run).await
    })?;
    let text = if args.json {
        format!("{}\n", serde_json::to_string_pretty(&response)?)
    } else {
        render_changes(&response.changes, &response.hosts, args.dry_run, Style::for_stdout())
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Applies hosts, then monitors, which may name them.
async fn apply(
    server: &mut ApiClient,
    body: &mut Value,
    hosts: &[FileHost],
    is_dry_run: bool,
) -> anyhow::Result<ApplyResponse> {
    let mut host_changes = hosts::plan(server, hosts).await?;
    if !is_dry_run && host_changes.iter().any(|change| change.action != "none") {
        // A monitor that the server refuses must be known before a host is changed.
        body["dry_run"] = Value::Bool(true);
        let _: ApplyResponse = server.post("apply", body).await?;
        body["dry_run"] = Value::Bool(false);
        hosts::make(server, &mut host_changes).await?;
    }
    let response: ApplyResponse = server.post("apply", body).await?;
    Ok(ApplyResponse { hosts: host_changes, ..response })
}
