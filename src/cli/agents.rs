//! `vigie agents`: lists the agents on other hosts.

use std::collections::BTreeMap;
use std::process::ExitCode;

use comfy_table::{Attribute, Cell, CellAlignment, Color};
use serde::Deserialize;
use serde_json::Value;

use super::api_client::{ListResponse, ServerArgs};
use super::render::escape_controls;
use super::style::Style;
use super::{output, table};
use crate::domain::Location;

/// List the agents on other hosts, with their state and load
///
/// The figures are those of the last heartbeat of each agent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie agents                all but revoked ones
  vigie agents --location 5   of one location
  vigie agents --all          revoked ones too
  vigie agents --json         every field, for other programs")]
pub(super) struct Args {
    /// Only agents of this location
    #[arg(long, value_name = "ID")]
    location: Option<i64>,
    /// Revoked agents too
    #[arg(long)]
    all: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// What the table shows of an agent. The fields after the state are absent without a heartbeat lately.
#[derive(Debug, Deserialize)]
struct AgentRow {
    id: i64,
    location_id: i64,
    name: String,
    state: String,
    version: String,
    last_seen_at: Option<String>,
    clock_offset_ms: Option<i64>,
    lateness_ms: Option<u64>,
    planned_monitors: Option<u64>,
    waiting_checks: Option<u64>,
    waiting_results: Option<u64>,
    browser_capacity: Option<u64>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (agents, locations) = super::process::build_single_threaded_runtime()?.block_on(async {
        let mut client = args.server.connect().await?;
        let agents: ListResponse<Value> = client.get("agents", &[]).await?;
        let locations: ListResponse<Location> = client.get("locations", &[]).await?;
        anyhow::Ok((agents.results, locations.results))
    })?;
    let is_wanted = |agent: &Value| {
        let is_there = args.location.is_none_or(|location| agent["location_id"] == location);
        is_there && (args.all || agent["state"] != "revoked")
    };
    let agents: Vec<Value> = agents.into_iter().filter(is_wanted).collect();
    if args.json {
        output::print(&(serde_json::to_string_pretty(&agents)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let names = locations.into_iter().map(|location| (location.id.0, location.name)).collect();
    let rows = agents.into_iter().map(serde_json::from_value).collect::<Result<Vec<AgentRow>, _>>()?;
    if rows.is_empty() {
        output::print_note(
            "no agents\nhint: `vigie help many-hosts` shows how to run agents on other hosts; locations of the settings need none",
        );
    } else {
        output::print(&render_agents(&rows, &names, Style::for_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn render_agents(rows: &[AgentRow], location_names: &BTreeMap<i64, String>, style: Style) -> String {
    let to_row = |agent: &AgentRow| {
        let location = location_names.get(&agent.location_id);
        let location =
            location.map_or_else(|| agent.location_id.to_string(), |name| escape_controls(name).into_owned());
        let last_seen = agent.last_seen_at.as_deref().unwrap_or("");
        vec![
            Cell::new(agent.id),
            Cell::new(escape_controls(&agent.name)),
            Cell::new(location),
            state_cell(&agent.state, style),
            Cell::new(last_seen.replace('T', " ").trim_end_matches('Z')),
            Cell::new(escape_controls(&agent.version)),
            number_cell(agent.clock_offset_ms.map(|offset| format!("{offset} ms"))),
            number_cell(agent.lateness_ms.map(|lateness| format!("{lateness} ms"))),
            number_cell(agent.planned_monitors),
            number_cell(agent.waiting_checks),
            number_cell(agent.waiting_results),
            number_cell(agent.browser_capacity),
        ]
    };
    let columns = [
        "id",
        "name",
        "location",
        "state",
        "last seen (UTC)",
        "version",
        "offset",
        "lateness",
        "monitors",
        "queue",
        "backlog",
        "browsers",
    ];
    table::render_table(&columns, rows.iter().map(to_row).collect(), style)
}

/// Returns a cell with a number, empty without one.
fn number_cell(number: Option<impl ToString>) -> Cell {
    let text = number.map(|number| number.to_string()).unwrap_or_default();
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Returns a cell with a state of an agent or a location, in its colour when `style` is coloured.
pub(super) fn state_cell(state: &str, style: Style) -> Cell {
    let cell = Cell::new(escape_controls(state));
    if !style.is_colored() {
        return cell;
    }
    cell.add_attribute(Attribute::Bold).fg(match state {
        "online" | "alive" => Color::Green,
        "draining" => Color::Yellow,
        "offline" | "away" => Color::Red,
        _ => Color::Blue,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_agent_without_a_heartbeat_has_empty_cells() {
        let rows = json!([
            {
                "id": 7, "location_id": 5, "name": "rack 7", "state": "online", "version": "1.2.3",
                "last_seen_at": "2026-11-25T12:00:01Z", "clock_offset_ms": -12, "lateness_ms": 3,
                "planned_monitors": 800, "waiting_checks": 2, "waiting_results": 40, "browser_capacity": 1,
            },
            {"id": 8, "location_id": 6, "name": "\u{1b}[2J", "state": "offline", "version": "1.2.2"},
        ]);
        let rows: Vec<AgentRow> = serde_json::from_value(rows).unwrap();
        let names = BTreeMap::from([(5, "north".to_owned())]);
        let expected = "\
ID  NAME       LOCATION  STATE    LAST SEEN (UTC)      VERSION  OFFSET  LATENESS  MONITORS  QUEUE  BACKLOG  BROWSERS
7   rack 7     north     online   2026-11-25 12:00:01  1.2.3    -12 ms      3 ms       800      2       40         1
8   \\u{1b}[2J  6         offline                       1.2.2
";
        assert_eq!(render_agents(&rows, &names, Style::PLAIN), expected);
        assert!(render_agents(&rows, &names, Style::colored()).contains("\x1b["));
    }
}
