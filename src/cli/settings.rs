//! The settings file of the commands that run checks.

use std::path::{Path, PathBuf};

use super::output::{Faults, WrongUse};
use crate::app::settings::{Hosted, Settings, Sources};
use crate::model::FieldFault;

/// Where the settings come from.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SettingsArgs {
    /// The settings file: certificates, name servers, egress policy, plans. Without it, that of the
    /// variable `VIGIE_CONFIG`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The settings file that `flag` names, or else the environment.
pub(super) fn config_file(flag: Option<PathBuf>) -> Option<PathBuf> {
    flag.or_else(|| super::variable("VIGIE_CONFIG").map(PathBuf::from))
}

/// The location of `settings` with the number `id`, or the first one.
pub(super) fn location(settings: &Settings, id: Option<i64>) -> anyhow::Result<Hosted> {
    let id = id.unwrap_or(settings.location.id.0);
    settings.hosted().into_iter().find(|hosted| hosted.location.id.0 == id).ok_or_else(|| {
        let known: Vec<_> = settings.location_ids().iter().map(ToString::to_string).collect();
        let hint = format!("those of the settings are {}", known.join(", "));
        WrongUse::error(format!("there is no location `{id}`"), Some(hint))
    })
}

impl SettingsArgs {
    /// The settings of the file, of the variables and their defaults.
    pub(super) fn load(&self) -> anyhow::Result<Settings> {
        self.read(None).map_err(|faults| Faults(faults).into())
    }

    /// As [`SettingsArgs::load`], from `file` when there is one; answers with the faults themselves.
    pub(super) fn read(&self, file: Option<&Path>) -> Result<Settings, Vec<FieldFault>> {
        let file = file.map(Path::to_owned).or_else(|| config_file(self.config.clone()));
        Settings::load(&Sources { file, ..Sources::default() }.with_environment())
    }
}
