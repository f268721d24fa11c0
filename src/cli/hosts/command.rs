//! `vigie hosts`: lists, makes and removes hosts.

use std::process::ExitCode;

use clap::Subcommand;
use comfy_table::{Attribute, Cell, CellAlignment, Color};
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::values;
use crate::cli::api_client::{ListResponse, ServerArgs};
use crate::cli::output::UsageError;
use crate::cli::render::escape_controls;
use crate::cli::style::Style;
use crate::cli::{output, process, table};

/// List hosts that report metrics; make hosts and their tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie hosts                                       all of them, with their state
  vigie hosts add db1 --address 192.0.2.7           prints the token of its agent, once
  vigie hosts values 12                             the newest values, and their last three hours
  vigie hosts values 12 --metric disk_used_percent --hours 48
  vigie hosts change 12 --report-seconds 30
  vigie hosts token 12                              a new token in place of the last one
  vigie hosts revoke 12                             its reports are refused from then on
  vigie help hosts                                  the page of the manual about hosts")]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a host; prints the token of its agent
    Add {
        /// Its name, unique in the account
        name: String,
        #[command(flatten)]
        fields: HostFields,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Change a host
    Change {
        /// Id of the host
        id: i64,
        /// Its name, unique in the account
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        fields: HostFields,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Make a new token in place of the last one, and print it
    Token {
        /// Id of the host
        id: i64,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Revoke the token of a host
    Revoke {
        /// Id of the host
        id: i64,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Remove a host with all of its reports
    Remove {
        /// Id of the host
        id: i64,
        #[command(flatten)]
        server: ServerArgs,
    },
    Values(values::Args),
}

/// Fields of a host besides its name; an empty text takes a value away.
#[derive(Debug, clap::Args)]
struct HostFields {
    /// Name or address that is pinged when it is silent
    #[arg(long)]
    address: Option<String>,
    /// Seconds between two reports [default: 60]
    #[arg(long, value_name = "SECONDS")]
    report_seconds: Option<u32>,
    /// Page of its `node_exporter`
    #[arg(long, value_name = "URL")]
    metrics_url: Option<String>,
}

impl HostFields {
    /// Returns the body of a request with these fields and `name`, those that are given.
    fn into_body(self, name: Option<String>) -> Map<String, Value> {
        let text = |text: String| if text.is_empty() { Value::Null } else { Value::from(text) };
        let fields = [
            ("name", name.map(Value::from)),
            ("address", self.address.map(text)),
            ("report_seconds", self.report_seconds.map(Value::from)),
            ("metrics_url", self.metrics_url.map(text)),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

#[derive(Debug, Deserialize)]
struct HostRow {
    id: i64,
    name: String,
    address: Option<String>,
    state: String,
    last_report_at: Option<String>,
    agent_version: Option<String>,
    system: Option<String>,
}

#[derive(Debug, Deserialize)]
struct NewToken {
    id: String,
    token: String,
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = process::build_single_threaded_runtime()?;
    match args.command {
        None => runtime.block_on(list(args.json, &args.server)),
        Some(Command::Add { name, fields, server }) => {
            runtime.block_on(print_token(&server, "hosts", Value::Object(fields.into_body(Some(name)))))
        }
        Some(Command::Change { id, name, fields, server }) => {
            runtime.block_on(change(&server, id, fields.into_body(name)))
        }
        Some(Command::Token { id, server }) => {
            runtime.block_on(print_token(&server, &format!("hosts/{id}/token"), json!({})))
        }
        Some(Command::Revoke { id, server }) => {
            runtime.block_on(delete(&server, &format!("hosts/{id}/token"), "token revoked\n"))
        }
        Some(Command::Remove { id, server }) => {
            runtime.block_on(delete(&server, &format!("hosts/{id}"), "host removed\n"))
        }
        Some(Command::Values(args)) => runtime.block_on(values::run(args)),
    }
}

async fn print_token(server: &ServerArgs, path: &str, body: Value) -> anyhow::Result<ExitCode> {
    let created: NewToken = server.connect().await?.post(path, &body).await?;
    output::print_note(&format!("token of host {}; it is shown this once:", created.id));
    output::print(&format!("{}\n", created.token))?;
    Ok(ExitCode::SUCCESS)
}

async fn change(server: &ServerArgs, id: i64, body: Map<String, Value>) -> anyhow::Result<ExitCode> {
    if body.is_empty() {
        let hint = "give `--name`, `--address`, `--report-seconds` or `--metrics-url`".to_owned();
        return Err(UsageError::with_hint("there is nothing to change", Some(hint)));
    }
    let mut client = server.connect().await?;
    let path = format!("hosts/{id}");
    let _: Value = client.send_request(Method::PATCH, &path, &[], Some(&Value::Object(body))).await?;
    output::print("host changed\n")?;
    Ok(ExitCode::SUCCESS)
}

async fn delete(server: &ServerArgs, path: &str, note: &str) -> anyhow::Result<ExitCode> {
    let mut client = server.connect().await?;
    let _: Option<Value> = client.send_request(Method::DELETE, path, &[], None).await?;
    output::print(note)?;
    Ok(ExitCode::SUCCESS)
}

async fn list(is_json: bool, server: &ServerArgs) -> anyhow::Result<ExitCode> {
    let hosts: ListResponse<Value> = server.connect().await?.get("hosts", &[]).await?;
    if is_json {
        output::print(&(serde_json::to_string_pretty(&hosts.results)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<HostRow> =
        hosts.results.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    if rows.is_empty() {
        output::print_note(
            "no hosts\nhint: `vigie hosts add NAME` makes one and prints the token of its agent",
        );
    } else {
        output::print(&render_hosts(&rows, Style::for_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn render_hosts(rows: &[HostRow], style: Style) -> String {
    let text = |text: &Option<String>| escape_controls(text.as_deref().unwrap_or_default()).into_owned();
    let to_row = |host: &HostRow| {
        vec![
            Cell::new(host.id).set_alignment(CellAlignment::Right),
            Cell::new(escape_controls(&host.name)),
            Cell::new(text(&host.address)),
            state_cell(&host.state, style),
            Cell::new(text(&host.last_report_at).replace('T', " ").trim_end_matches('Z')),
            Cell::new(text(&host.agent_version)),
            Cell::new(text(&host.system)),
        ]
    };
    let columns = ["id", "name", "address", "state", "last report (UTC)", "agent", "system"];
    table::render_table(&columns, rows.iter().map(to_row).collect(), style)
}

/// Returns a cell with the state of a host, in its colour when `style` is coloured.
fn state_cell(state: &str, style: Style) -> Cell {
    let cell = Cell::new(escape_controls(state));
    if !style.is_colored() {
        return cell;
    }
    cell.add_attribute(Attribute::Bold).fg(match state {
        "reporting" => Color::Green,
        "silent" => Color::Red,
        _ => Color::Blue,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_reports_has_empty_cells() {
        let row = json!({"id": 7, "name": "db1", "address": null, "state": "waiting", "last_report_at": null,
            "agent_version": null, "system": null});
        let row: HostRow = serde_json::from_value(row).unwrap();
        let table = render_hosts(&[row], Style::PLAIN);
        assert!(table.contains("db1") && table.contains("waiting"), "{table}");
    }
}
