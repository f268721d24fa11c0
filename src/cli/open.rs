//! `vigie open`: prints a link that signs in to the pages.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use super::api_client::ServerArgs;
use super::output;

/// Print a link that signs in to the pages of the server on this host
///
/// The link works once, within 10 minutes, and signs in as the host, which sees all accounts. It needs the host
/// token, which only root and the user of the server can read. Paste it into a browser; do not send it to others.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie open
  vigie open --server https://127.0.0.1:443")]
pub(super) struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Deserialize)]
struct SignInLinkResponse {
    path: String,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::build_single_threaded_runtime()?.block_on(async {
        let url = args.server.server_url()?;
        let mut client = args.server.connect().await?;
        let link: SignInLinkResponse = client.post("sign-in-links", &Value::Null).await?;
        output::print(&format!("{}\n", url.join(&link.path)?))?;
        Ok(ExitCode::SUCCESS)
    })
}
