//! Location of the vault's key file.

use std::path::PathBuf;

use crate::settings::Settings;
use crate::vault::KeyFile;

/// Returns the key file of `settings`: `store.key_file`, or else the credential `vigie.key` that systemd passes to the
/// service (variable `CREDENTIALS_DIRECTORY`), or else `vigie.key` in the data directory.
#[must_use]
pub fn key_file_location(settings: &Settings) -> KeyFile {
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    KeyFile::locate(settings.store.key_file.as_deref(), credentials.as_deref(), &settings.data_dir)
}
