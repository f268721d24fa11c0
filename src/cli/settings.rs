//! The settings file of the commands that run checks.

use std::path::PathBuf;

use super::output::Faults;
use crate::app::settings::{Settings, Sources};

/// Where the settings come from.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SettingsArgs {
    /// Take certificate authorities, client certificates, resolvers and the egress policy from FILE
    #[arg(long, value_name = "FILE", env = "VIGIE_CONFIG")]
    config: Option<PathBuf>,
}

impl SettingsArgs {
    /// The settings of the file, of the variables and their defaults.
    pub(super) fn load(&self) -> anyhow::Result<Settings> {
        let sources = Sources { file: self.config.clone(), ..Sources::default() }.with_environment();
        Settings::load(&sources).map_err(|faults| Faults(faults).into())
    }
}
