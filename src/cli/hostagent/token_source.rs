//! Where the token of the host comes from.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::output::UsageError;
use crate::cli::password::read_password_file;
use crate::cli::process::non_empty_env_variable;
use crate::domain::ReportToken;

/// Name of the credential of systemd with the token.
const CREDENTIAL: &str = "host_token";
/// Variable with the token.
const VARIABLE: &str = "VIGIE_HOST_TOKEN";

/// Reads the token. The first one found counts: that of `token_file`, of the variable, of systemd.
pub(super) fn read_token(token_file: Option<&Path>) -> anyhow::Result<ReportToken> {
    if let Some(file) = token_file {
        return parse_file(file, "--token-file");
    }
    if let Some(text) = non_empty_env_variable(VARIABLE) {
        return parse(&text, VARIABLE);
    }
    let credential = non_empty_env_variable("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    match credential.map(|folder| folder.join(CREDENTIAL)).filter(|file| file.exists()) {
        Some(file) => parse_file(&file, "credential `host_token`"),
        None => Err(UsageError::with_hint(
            "there is no token of this host",
            Some(
                "create a host in the console, and name a file with its token: `--token-file FILE`"
                    .to_owned(),
            ),
        )),
    }
}

fn parse_file(file: &Path, source: &str) -> anyhow::Result<ReportToken> {
    let text = read_password_file(file).context("the token of this host cannot be read")?;
    parse(&text, source)
}

fn parse(text: &str, source: &str) -> anyhow::Result<ReportToken> {
    ReportToken::parse(text).map_err(|error| {
        let hint = "a host and its token are created in the console, or with `POST /api/v3/hosts`";
        UsageError::with_hint(format!("{source} cannot be used: {error}"), Some(hint.to_owned()))
    })
}
