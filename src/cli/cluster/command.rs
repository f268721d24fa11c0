//! The arguments of `vigie cluster`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::cluster_folder::ClusterFolder;
use super::{demo, kill};
use crate::cli::output::UsageError;

/// Run several controllers and agents on this host, to see what happens when one fails
///
/// Starts PostgreSQL, NATS, two controllers, three agents at a location each, and monitors of built-in targets, all with
/// ports and data of their own. A part that ends starts again after a while. Ctrl-C ends everything and removes the data.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
It needs the programs of Debian's packages `postgresql` and `nats-server`. As root, they and all other
parts run as users of their own.

Examples:
  vigie cluster --demo                 in one terminal
  vigie cluster kill controller-1      in another one: the other controller takes the lead
  vigie cluster kill agent-2           its location is offline, until it starts again
  vigie cluster kill nats              agents check on, and deliver later
  vigie cluster kill postgres"
)]
pub(in crate::cli) struct Args {
    /// Start everything, until Ctrl-C
    #[arg(long, required = true)]
    demo: bool,
    /// Folder for all data, which must not exist [default: one in the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Kill a part of the running demo, as a power cut would
    Kill {
        /// controller-1, controller-2, agent-1, agent-2, agent-3, nats or postgres
        #[arg(value_name = "PART")]
        part: String,
        /// The folder of the demo, if it was started with one
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.action {
        Some(Action::Kill { part, data }) => kill::run(&part, &ClusterFolder::locate(data)),
        None if args.demo => {
            crate::cli::process::raise_descriptor_limit();
            // On this thread, since the parts end with the thread that started them.
            crate::cli::process::build_single_threaded_runtime()?
                .block_on(demo::run(ClusterFolder::locate(args.data)))
        }
        None => {
            Err(UsageError::with_hint("nothing to do", Some("`vigie cluster --demo` starts it".to_owned())))
        }
    }
}
