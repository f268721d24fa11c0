//! `vigie push-token`: makes the URL that a job pushes to.

use std::process::ExitCode;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::api_client::ServerArgs;
use crate::cli::{output, process};

/// Make the push URL of a monitor whose `report` is push, and print it
///
/// The URL before leads nowhere from then on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie push-token 4711 > backup.push       the URL for `vigie run --push-file backup.push -- COMMAND`
  vigie push-token 4711 --revoke            the URL leads nowhere from then on
  vigie help push                           the page of the manual about pushes")]
pub(in crate::cli) struct Args {
    /// Id of the monitor
    id: i64,
    /// Take the token away instead
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Deserialize)]
struct NewToken {
    path: String,
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    process::build_single_threaded_runtime()?.block_on(async {
        let mut client = args.server.connect().await?;
        let path = format!("monitors/{}/push-token", args.id);
        if args.revoke {
            let _: Option<Value> = client.send_request(Method::DELETE, &path, &[], None).await?;
            output::print("push token revoked\n")?;
            return Ok(ExitCode::SUCCESS);
        }
        let created: NewToken = client.post(&path, &json!({})).await?;
        output::print_note("the push URL; it is shown this once:");
        let url = args.server.server_url()?;
        output::print(&format!("{}{}\n", url.as_str().trim_end_matches('/'), created.path))?;
        Ok(ExitCode::SUCCESS)
    })
}
