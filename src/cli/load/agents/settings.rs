//! The settings of the control plane and of the agents: those of the settings file, with data in a temporary folder.

use std::path::{Path, PathBuf};

use crate::settings::Settings;

/// Returns `settings` with SQLite and everything else in `data_dir`, without monitor files and NATS servers.
pub(super) fn settings_in(settings: &Settings, data_dir: PathBuf) -> Settings {
    let mut settings = settings.clone();
    (settings.data_dir, settings.data_dir_is_set) = (data_dir, true);
    (settings.store.location, settings.store.key_file, settings.store.spool_dir) = (None, None, None);
    (settings.monitor_paths, settings.monitor_paths_are_set) = (Vec::new(), false);
    settings.bus.urls = Vec::new();
    // All monitors share a few addresses here.
    settings.concurrency.per_target = settings.concurrency.total;
    settings
}

/// Returns the folder of the agent with this number.
pub(super) fn agent_folder(folder: &Path, number: u32) -> PathBuf {
    folder.join(number.to_string())
}

/// Returns the file with the authority of the HTTPS target, in PEM.
pub(super) fn target_ca_file(folder: &Path) -> PathBuf {
    folder.join("target-ca.pem")
}
