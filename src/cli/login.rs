//! `vigie login` and `vigie logout`: a token for the commands that talk to a server.

use std::process::ExitCode;
use std::time::Duration;

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{self, WrongUse};
use super::password::{PasswordArgs, ask};
use super::remote::{Refused, ServerArgs};
use super::render::plain;
use super::token::{self, Login};
use crate::clock::{Clock, SystemClock};

/// Log in to a server; later commands use the token for an hour
///
/// The token is kept in a file of your own configuration folder that nobody else can read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie login --server https://vigie.example.com
  vigie login --user anna --password-file ~/.vigie-password")]
pub(super) struct Args {
    /// Who logs in; asked for when it is left out
    #[arg(long, value_name = "LOGIN")]
    user: Option<String>,
    #[command(flatten)]
    password: PasswordArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// End the login to a server
#[derive(Debug, clap::Args)]
pub(super) struct LogoutArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Deserialize)]
struct Issued {
    access_token: String,
    expires_in: u64,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::runtime(false)?.block_on(async {
        let url = args.server.url()?;
        let mut server = args.server.open_bare().await?;
        let user = match args.user {
            Some(user) => user,
            None => ask("Login: ")?,
        };
        let password = args.password.present()?;
        let body = json!({"username": user, "password": *password});
        let issued = server.post::<Issued>("access-tokens", &body).await;
        let issued = issued.map_err(|error| match Refused::status_of(&error) {
            Some(StatusCode::BAD_REQUEST) => {
                anyhow::anyhow!(
                    "`{}` cannot log in to {url}: the login or the password is wrong",
                    plain(&user)
                )
            }
            _ => error,
        })?;
        let expires_at = SystemClock.now() + Duration::from_secs(issued.expires_in);
        let file = token::keep(&url, Login { token: issued.access_token, expires_at })?;
        let minutes = issued.expires_in / 60;
        output::say(&format!("logged in to {url} for {minutes} minutes; kept in `{}`\n", file.display()))?;
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn run_logout(args: LogoutArgs) -> anyhow::Result<ExitCode> {
    super::process::runtime(false)?.block_on(async {
        let url = args.server.url()?;
        let Some(mut server) = args.server.open_logged_in().await? else {
            token::forget(&url)?;
            return Err(WrongUse::error(format!("there is no login to {url}"), None));
        };
        let ended = server.call::<Value>(Method::DELETE, "access-tokens", &[], None).await;
        // Forgotten even when the server does not know it any more.
        token::forget(&url)?;
        ended?;
        output::say(&format!("logged out of {url}\n"))?;
        Ok(ExitCode::SUCCESS)
    })
}
