//! The options that select a database.

use std::path::PathBuf;

use crate::cli::output::{InvalidInput, UsageError};
use crate::cli::settings::config_file_from_flag_or_env;
use crate::settings::{SettingSources, Settings};
use crate::store::StoreLocation;

/// Options that select a database.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DatabaseArgs {
    /// Settings file, which names the database [default: the variable `VIGIE_CONFIG`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder [default: that of the settings, vigie-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The database: `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE` [default: that of the settings]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

impl DatabaseArgs {
    /// Loads the settings, with this database.
    pub(super) fn load_settings(&self) -> anyhow::Result<Settings> {
        load_settings_with(
            self.config.clone(),
            self.data.as_ref(),
            self.url.as_deref().map(|url| ("--url", url)),
        )
    }
}

/// Loads the settings of `config` with another data folder, or the database of a flag.
pub(in crate::cli) fn load_settings_with(
    config: Option<PathBuf>,
    data: Option<&PathBuf>,
    url: Option<(&str, &str)>,
) -> anyhow::Result<Settings> {
    if let Some((flag, url)) = url {
        StoreLocation::parse(url).map_err(|error| UsageError(format!("`{flag}` {error}")))?;
    }
    let mut flags = Vec::new();
    flags.extend(data.map(|path| ("data", path.display().to_string())));
    flags.extend(url.map(|(_, url)| ("store.url", url.to_owned())));
    let file = config_file_from_flag_or_env(config);
    let sources = SettingSources { file, flags, ..SettingSources::default() }.with_environment();
    Settings::load(&sources).map_err(|errors| InvalidInput(errors).into())
}

/// Returns `text` as one word of a shell.
pub(super) fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
