//! `vigie customer`: adds and lists the accounts of this installation.

use std::process::ExitCode;

use comfy_table::Cell;

use super::admin::{BackendArgs, CustomerRow};
use super::render::escape_controls;
use super::style::Style;
use super::{output, table};

/// Add and list accounts
///
/// Users, monitors and all other objects belong to one account and are not visible to others. Works on the data
/// folder when no server uses it, otherwise through that server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie customer add \"Shop\"                              prints its id
  vigie user add anna --customer 100001 --role ADMIN     its first user
  vigie customer list")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add an account
    Add {
        /// Display name
        name: String,
        #[command(flatten)]
        backend: BackendArgs,
    },
    /// List the accounts
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        backend: BackendArgs,
    },
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = super::process::build_single_threaded_runtime()?.block_on(run_action(args.action))?;
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn run_action(action: Action) -> anyhow::Result<String> {
    match action {
        Action::Add { name, backend: args } => {
            let mut backend = args.open_backend().await?;
            let result = backend.add_customer(&name).await;
            backend.close().await;
            let id = result?;
            let next_step_hint =
                format!("hint: `vigie user add LOGIN --customer {id} --role ADMIN` adds its first user");
            output::print_note(&next_step_hint);
            Ok(format!("account {id} `{}` was added\n", escape_controls(&name)))
        }
        Action::List { json, backend: args } => {
            let mut backend = args.open_backend().await?;
            let customers = backend.list_customers().await;
            backend.close().await;
            let customers = customers?;
            Ok(if json {
                serde_json::to_string_pretty(&customers)? + "\n"
            } else {
                render_customers(&customers)
            })
        }
    }
}

fn render_customers(customers: &[CustomerRow]) -> String {
    let to_row =
        |customer: &CustomerRow| vec![Cell::new(customer.id), Cell::new(escape_controls(&customer.name))];
    table::render_table(&["id", "name"], customers.iter().map(to_row).collect(), Style::for_stdout())
}
