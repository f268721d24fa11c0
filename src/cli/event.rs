//! `vigie event`: reports an event, for example from a deploy script.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_client::ServerArgs;
use super::output;

/// Report an event, such as a deployment
///
/// Events are marked in reports and on the pages of monitors, counted in the metrics, and read as series with
/// `GET /events/series`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie event deploy \"Shop, release 1.2.3\"                  on the host of the server
  vigie event deploy \"Shop\" --value 1.2.3 --quantity 4      with a value, and how many
  VIGIE_SERVER=https://vigie.example VIGIE_TOKEN=… vigie event deploy \"Shop\"

The token needs the scope `operate`, of a user who may edit. Exit codes: 0 reported, 1 not reported, 2 wrong use.")]
pub(super) struct Args {
    /// Its type, such as `deploy`
    event: String,
    /// What happened
    description: String,
    /// A short value, of at most 8 characters; numbers become series
    #[arg(long, allow_hyphen_values = true)]
    value: Option<String>,
    /// How many
    #[arg(long, value_parser = clap::value_parser!(i64).range(0..))]
    quantity: Option<i64>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Deserialize)]
struct SavedEvent {
    id: String,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let fields = [
        ("event", Some(Value::from(args.event))),
        ("description", Some(Value::from(args.description))),
        ("value", args.value.map(Value::from)),
        ("quantity", args.quantity.map(Value::from)),
    ];
    let body: Map<String, Value> =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let saved: SavedEvent = super::process::build_single_threaded_runtime()?
        .block_on(async { args.server.connect().await?.post("events", &Value::Object(body)).await })?;
    output::print(&format!("event {} reported\n", saved.id))?;
    Ok(ExitCode::SUCCESS)
}
