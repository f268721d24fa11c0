//! `vigie login` and `vigie logout`: obtain and revoke the token of commands that use a server.

use std::process::ExitCode;
use std::time::Duration;

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::api_client::{ErrorResponse, ServerArgs};
use super::output::{self, UsageError};
use super::password::{PasswordArgs, prompt};
use super::render::escape_controls;
use super::token::{self, StoredLogin};
use crate::clock::{Clock, SystemClock};

/// Log in to a server; later commands use the token for an hour
///
/// The token is stored in your configuration folder, readable only by you.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie login --server https://vigie.example.com
  vigie login --user anna --password-file ~/.vigie-password")]
pub(super) struct Args {
    /// User name; prompted for if left out
    #[arg(long, value_name = "LOGIN")]
    user: Option<String>,
    #[command(flatten)]
    password: PasswordArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Log out of a server
#[derive(Debug, clap::Args)]
pub(super) struct LogoutArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Deserialize)]
struct AccessTokenResponse {
    access_token: String,
    expires_in: u64,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::build_single_threaded_runtime()?.block_on(async {
        let url = args.server.server_url()?;
        let mut client = args.server.connect_without_token().await?;
        let login = match args.user {
            Some(login) => login,
            None => prompt("Login: ")?,
        };
        let password = args.password.read_current()?;
        let body = json!({"username": login, "password": *password});
        let token_response = client.post::<AccessTokenResponse>("access-tokens", &body).await;
        let token_response =
            token_response.map_err(|error| match ErrorResponse::response_status(&error) {
                Some(StatusCode::BAD_REQUEST) => {
                    anyhow::anyhow!(
                        "`{}` cannot log in to {url}: the login or the password is wrong",
                        escape_controls(&login)
                    )
                }
                _ => error,
            })?;
        let expires_at = SystemClock.now() + Duration::from_secs(token_response.expires_in);
        let file = token::store_login(&url, StoredLogin { token: token_response.access_token, expires_at })?;
        let minutes = token_response.expires_in / 60;
        output::print(&format!(
            "logged in to {url} for {minutes} minutes; token stored in `{}`\n",
            file.display()
        ))?;
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn run_logout(args: LogoutArgs) -> anyhow::Result<ExitCode> {
    super::process::build_single_threaded_runtime()?.block_on(async {
        let url = args.server.server_url()?;
        let Some(mut client) = args.server.connect_with_stored_login().await? else {
            token::remove_login(&url)?;
            return Err(UsageError::with_hint(format!("not logged in to {url}"), None));
        };
        let revocation = client.send_request::<Value>(Method::DELETE, "access-tokens", &[], None).await;
        // Removed even when the server does not know the token any more.
        token::remove_login(&url)?;
        revocation?;
        output::print(&format!("logged out of {url}\n"))?;
        Ok(ExitCode::SUCCESS)
    })
}
