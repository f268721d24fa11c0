//! The settings file options of the commands that run checks.

use std::path::{Path, PathBuf};

use super::input_file::require_existing;
use super::output::{InvalidInput, UsageError};
use crate::settings::{HostedLocation, SettingSources, Settings};
use crate::syntax::ValidationError;

/// Options that select the settings file.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SettingsArgs {
    /// The settings file: certificates, name servers, egress policy, plans. Without it, that of the
    /// variable `VIGIE_CONFIG`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Options that select the settings file and one of its locations, whose network is used.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LocationArgs {
    /// Id of the location whose network is used [default: the first location of the settings]
    #[arg(long, value_name = "ID")]
    location: Option<i64>,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Returns the settings file that `flag_value` names, or else the environment.
pub(super) fn config_file_from_flag_or_env(flag_value: Option<PathBuf>) -> Option<PathBuf> {
    flag_value.or_else(|| super::process::non_empty_env_variable("VIGIE_CONFIG").map(PathBuf::from))
}

/// Like [`config_file_from_flag_or_env`], for a command that starts a server.
///
/// # Errors
/// [`UsageError`] for a file that does not exist.
pub(super) fn existing_config_file(flag_value: Option<PathBuf>) -> anyhow::Result<Option<PathBuf>> {
    let file = config_file_from_flag_or_env(flag_value);
    file.as_deref().map_or(Ok(()), require_existing)?;
    Ok(file)
}

impl LocationArgs {
    /// Loads the settings, and the location that the options name, or the first one.
    pub(super) fn load_with_location(&self) -> anyhow::Result<(Settings, HostedLocation)> {
        let settings = self.settings.load_settings()?;
        let id = self.location.unwrap_or(settings.location.id.0);
        let hosted_location =
            settings.hosted_locations().into_iter().find(|hosted| hosted.location.id.0 == id);
        let location = hosted_location.ok_or_else(|| {
            let known_ids: Vec<_> = settings.location_ids().iter().map(ToString::to_string).collect();
            let hint = format!("locations of the settings: {}", known_ids.join(", "));
            UsageError::with_hint(format!("location `{id}` does not exist"), Some(hint))
        })?;
        Ok((settings, location))
    }
}

impl SettingsArgs {
    /// Returns the settings file of the options; `None` for that of the environment.
    pub(super) fn config_file(&self) -> Option<PathBuf> {
        self.config.clone()
    }

    /// Loads the settings from the file, the environment and the defaults.
    pub(super) fn load_settings(&self) -> anyhow::Result<Settings> {
        self.load_from(None).map_err(|errors| InvalidInput(errors).into())
    }

    /// Like [`SettingsArgs::load_settings`], from `file` when given; returns the errors themselves.
    pub(super) fn load_from(&self, file: Option<&Path>) -> Result<Settings, Vec<ValidationError>> {
        let file = file.map(Path::to_owned).or_else(|| config_file_from_flag_or_env(self.config.clone()));
        Settings::load(&SettingSources { file, ..SettingSources::default() }.with_environment())
    }
}
