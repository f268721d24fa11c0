//! The token that a command sends to a server, and the file that stores it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use url::Url;

use super::input_file::require_existing;
use crate::app::{HostTokenFile, demo_data_dirs, find_host_token};
use crate::clock::{Clock, SystemClock};
use crate::domain::Timestamp;
use crate::settings::{SettingSources, Settings};

/// Login to one server that `vigie login` stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    /// The access token.
    pub(super) token: String,
    /// End of its validity.
    pub(super) expires_at: Timestamp,
}

/// All logins, by the URL of the server.
type StoredLogins = BTreeMap<String, StoredLogin>;

/// Returns the token for `server`. The first one found counts: that of `token_file`, of `VIGIE_TOKEN`, of `vigie
/// login`, the host token of a server on this host.
pub(super) fn find_token(server: &Url, token_file: Option<&Path>) -> anyhow::Result<Option<String>> {
    if let Some(token_file) = token_file {
        require_existing(token_file)?;
        return read_token_file(token_file).map(Some);
    }
    if let Some(token) = super::process::non_empty_env_variable("VIGIE_TOKEN") {
        return Ok(Some(token));
    }
    Ok(stored_login(server)?.map(|login| login.token).or_else(|| Some(find_host_token_for(server)?.token)))
}

/// Reads the token in `file`, without the line break at its end.
fn read_token_file(file: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("the token file `{}` cannot be read", file.display()))?;
    // The first line is the token. In the host token's file, addresses follow.
    Ok(text.trim().lines().next().unwrap_or_default().trim().to_owned())
}

/// Returns the login stored for `server`, unless it has expired.
pub(super) fn stored_login(server: &Url) -> anyhow::Result<Option<StoredLogin>> {
    let mut logins = stored_logins_path().map(|file| read_logins(&file)).transpose()?.unwrap_or_default();
    Ok(logins.remove(&stored_login_key(server)).filter(|login| login.expires_at > SystemClock.now()))
}

/// Stores `login` for `server` and returns the path of the file.
pub(super) fn store_login(server: &Url, login: StoredLogin) -> anyhow::Result<PathBuf> {
    update_logins(|logins| {
        logins.insert(stored_login_key(server), login);
    })
}

/// Removes the login of `server` and returns the path of the file.
pub(super) fn remove_login(server: &Url) -> anyhow::Result<PathBuf> {
    update_logins(|logins| {
        logins.remove(&stored_login_key(server));
    })
}

fn stored_login_key(server: &Url) -> String {
    server.as_str().trim_end_matches('/').to_owned()
}

/// Returns `logins.json` in `$XDG_CONFIG_HOME/vigie` or `~/.config/vigie`; `None` without a home.
fn stored_logins_path() -> Option<PathBuf> {
    let config_folder = super::process::non_empty_env_variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let config_folder = config_folder
        .or_else(|| Some(Path::new(&super::process::non_empty_env_variable("HOME")?).join(".config")))?;
    Some(config_folder.join("vigie/logins.json"))
}

fn read_logins(file: &Path) -> anyhow::Result<StoredLogins> {
    match fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| {
            format!(
                "the logins in `{}` cannot be read\nhint: remove the file and log in again",
                file.display()
            )
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(StoredLogins::default()),
        Err(error) => Err(error).with_context(|| format!("`{}` cannot be read", file.display())),
    }
}

fn update_logins(change: impl FnOnce(&mut StoredLogins)) -> anyhow::Result<PathBuf> {
    let file = stored_logins_path().context("there is no home folder\nhint: set HOME or XDG_CONFIG_HOME")?;
    let mut logins = read_logins(&file)?;
    change(&mut logins);
    write_logins(&file, &logins).with_context(|| format!("`{}` cannot be written", file.display()))?;
    Ok(file)
}

/// Replaces `file` atomically, readable by the owner only.
fn write_logins(file: &Path, logins: &StoredLogins) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let temporary = file.with_extension(format!("new-{}", std::process::id()));
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let text = serde_json::to_vec_pretty(logins).map_err(anyhow::Error::from);
    let result =
        text.and_then(|text| Ok(out.write_all(&text)?)).and_then(|()| Ok(fs::rename(&temporary, file)?));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Whether `server` names this host by a loopback address.
pub(super) fn is_on_this_host(server: &Url) -> bool {
    let host = server.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns the token that a server on this host left for local commands, when `server` names such a server.
pub(super) fn find_host_token_for(server: &Url) -> Option<HostTokenFile> {
    if !is_on_this_host(server) {
        return None;
    }
    let file = super::settings::config_file_from_flag_or_env(None);
    // Invalid settings name no folder; commands that need the settings report the errors.
    let settings =
        Settings::load(&SettingSources { file, ..SettingSources::default() }.with_environment()).ok();
    let mut folders: Vec<PathBuf> = settings.map(|settings| settings.data_dir).into_iter().collect();
    folders.push("/var/lib/vigie".into());
    folders.extend(demo_data_dirs());
    find_host_token(&folders, server.port_or_known_default()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_stored_by_server_and_readable_by_the_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vigie/logins.json");
        assert_eq!(read_logins(&file).unwrap(), StoredLogins::default());
        let login = StoredLogin { token: "t".to_owned(), expires_at: Timestamp::from_seconds(5) };
        let url = Url::parse("https://vigie.test/").unwrap();
        let logins = StoredLogins::from([(stored_login_key(&url), login)]);
        write_logins(&file, &logins).unwrap();
        write_logins(&file, &logins).unwrap();
        assert_eq!(read_logins(&file).unwrap(), logins);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&file, "{").unwrap();
        assert!(read_logins(&file).unwrap_err().to_string().contains("hint: remove the file"));
    }

    #[test]
    fn a_remote_server_gets_no_token_of_this_host() {
        assert_eq!(find_host_token_for(&Url::parse("http://vigie.test:7979/").unwrap()), None);
    }
}
