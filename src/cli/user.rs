//! `vigie user`: manages the users who may log in.

use std::process::ExitCode;

use comfy_table::Cell;

use super::admin::{AdminBackend, BackendArgs, UserRow};
use super::password::{PasswordArgs, read_password_file};
use super::render::escape_controls;
use super::style::Style;
use super::{output, table};
use crate::domain::Role;

/// Add, list and change users
///
/// Works on the data folder when no server uses it, otherwise through that server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie user add anna --role POWER-USER      asks for the password
  vigie user list
  vigie user passwd admin --password-file -  reads it from standard input
  vigie user disable anna                    her tokens end at once")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a user
    Add {
        /// Login name; unique over all accounts
        login: String,
        /// What the user may do
        #[arg(long, value_name = "ROLE", default_value = "READONLY", value_parser = parse_role,
              help = "ADMIN, CO-ADMIN, POWER-USER, READONLY or REPORTONLY")]
        role: Role,
        /// The account [default: that of the token, or 1]
        #[arg(long, value_name = "ID")]
        customer: Option<i64>,
        #[command(flatten)]
        password: PasswordArgs,
        #[command(flatten)]
        backend: BackendArgs,
    },
    /// List the users of an account
    List {
        /// The account [default: that of the token, or 1]
        #[arg(long, value_name = "ID")]
        customer: Option<i64>,
        /// Print a JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        backend: BackendArgs,
    },
    /// Set a new password; ends the tokens and sessions of the user
    Passwd {
        /// Login name
        login: String,
        #[command(flatten)]
        password: PasswordArgs,
        /// To change your own password with a token of `vigie login`: read the current one from FILE, `-` for
        /// standard input
        #[arg(long, value_name = "FILE")]
        current_password_file: Option<std::path::PathBuf>,
        #[command(flatten)]
        backend: BackendArgs,
    },
    /// Disable a user; ends its tokens and sessions
    Disable {
        /// Login name
        login: String,
        #[command(flatten)]
        backend: BackendArgs,
    },
    /// Enable a user again
    Enable {
        /// Login name
        login: String,
        #[command(flatten)]
        backend: BackendArgs,
    },
}

fn parse_role(name: &str) -> Result<Role, String> {
    let role = Role::from_name(&name.to_uppercase());
    role.ok_or_else(|| format!("a role is one of {}", Role::NAMES.join(", ")))
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = super::process::build_single_threaded_runtime()?.block_on(run_action(args.action))?;
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn run_action(action: Action) -> anyhow::Result<String> {
    match action {
        Action::Add { login, role, customer, password, backend: args } => {
            let password = password.read_new()?;
            let mut backend = args.open_backend().await?;
            let result = backend.add_user(customer, &login, role, &password).await;
            let id = close_backend(backend, result).await?;
            Ok(format!("user {id} `{}` was added as {role}\n", escape_controls(&login)))
        }
        Action::List { customer, json, backend: args } => {
            let mut backend = args.open_backend().await?;
            let users = backend.list_users(customer).await;
            let users = close_backend(backend, users).await?;
            Ok(if json { serde_json::to_string_pretty(&users)? + "\n" } else { render_users(&users) })
        }
        Action::Passwd { login, password, current_password_file, backend: args } => {
            let current_password = current_password_file.as_deref().map(read_password_file).transpose()?;
            let password = password.read_new()?;
            let mut backend = args.open_backend().await?;
            let result = backend.set_password(&login, &password, current_password).await;
            close_backend(backend, result).await?;
            Ok(format!("`{}` has a new password; tokens and sessions ended\n", escape_controls(&login)))
        }
        Action::Disable { login, backend: args } => {
            let mut backend = args.open_backend().await?;
            let result = backend.set_enabled(&login, false).await;
            close_backend(backend, result).await?;
            Ok(format!("`{}` cannot log in any more; tokens and sessions ended\n", escape_controls(&login)))
        }
        Action::Enable { login, backend: args } => {
            let mut backend = args.open_backend().await?;
            let result = backend.set_enabled(&login, true).await;
            close_backend(backend, result).await?;
            Ok(format!("`{}` may log in\n", escape_controls(&login)))
        }
    }
}

async fn close_backend<T>(backend: AdminBackend, result: anyhow::Result<T>) -> anyhow::Result<T> {
    backend.close().await;
    result
}

fn render_users(users: &[UserRow]) -> String {
    let to_row = |user: &UserRow| {
        let state_text = match (user.enabled, user.locked) {
            (true, false) => "",
            (false, false) => "disabled",
            (true, true) => "locked",
            (false, true) => "disabled, locked",
        };
        vec![
            Cell::new(user.id),
            Cell::new(escape_controls(&user.login)),
            Cell::new(&user.role),
            Cell::new(escape_controls(&user.name)),
            Cell::new(state_text),
        ]
    };
    let rows = users.iter().map(to_row).collect();
    table::render_table(&["id", "login", "role", "name", "state"], rows, Style::for_stdout())
}
