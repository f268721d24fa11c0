//! `vigie locations`: lists the locations with their agents.

use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment};
use serde::Deserialize;
use serde_json::Value;

use super::agents::state_cell;
use super::api_client::{ListResponse, ServerArgs};
use super::render::escape_controls;
use super::style::Style;
use super::{output, table};

/// List the locations with the state of their agents
///
/// A location that is away has no agent that is online and has connectivity; its runs are recorded as missed or
/// unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie locations          of the settings, and those with agents on other hosts
  vigie locations --json   every field, for other programs
  vigie agents             the agents themselves
  vigie help locations.md  the page of the manual about locations")]
pub(super) struct Args {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// What the table shows of a location.
#[derive(Debug, Deserialize)]
struct LocationRow {
    id: i64,
    name: String,
    region: i64,
    private: bool,
    managed: bool,
    health: LocationHealth,
}

/// The agents of a location.
#[derive(Debug, Deserialize)]
struct LocationHealth {
    agents: u64,
    alive: u64,
    state: String,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let locations: ListResponse<Value> = super::process::build_single_threaded_runtime()?
        .block_on(async { args.server.connect().await?.get("locations", &[]).await })?;
    let text = if args.json {
        serde_json::to_string_pretty(&locations.results)? + "\n"
    } else {
        let rows = locations.results.into_iter().map(serde_json::from_value);
        render_locations(&rows.collect::<Result<Vec<_>, _>>()?, Style::for_stdout())
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn render_locations(rows: &[LocationRow], style: Style) -> String {
    let to_row = |location: &LocationRow| {
        let LocationHealth { agents, alive, state } = &location.health;
        let origin = match (location.managed, location.private) {
            (true, _) => "settings",
            (false, true) => "private",
            (false, false) => "shared",
        };
        vec![
            Cell::new(location.id),
            Cell::new(escape_controls(&location.name)),
            Cell::new(location.region).set_alignment(CellAlignment::Right),
            Cell::new(origin),
            state_cell(state, style),
            Cell::new(format!("{alive} of {agents}")),
        ]
    };
    let columns = ["id", "name", "region", "origin", "state", "agents alive"];
    table::render_table(&columns, rows.iter().map(to_row).collect(), style)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_agents_of_a_location_are_counted() {
        let rows = json!([
            {
                "id": 1, "name": "frankfurt", "region": 1, "private": false, "managed": true,
                "health": {"agents": 1, "alive": 1, "state": "alive"},
            },
            {
                "id": 100_001, "name": "north", "region": 33, "private": true, "managed": false,
                "health": {"agents": 2, "alive": 0, "state": "away"},
            },
        ]);
        let rows: Vec<LocationRow> = serde_json::from_value(rows).unwrap();
        let expected = "\
ID      NAME       REGION  ORIGIN    STATE  AGENTS ALIVE
1       frankfurt       1  settings  alive  1 of 1
100001  north          33  private   away   0 of 2
";
        assert_eq!(render_locations(&rows, Style::PLAIN), expected);
    }
}
