//! Settings of the database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::setting_type::parse_time_of_day;
use super::settings_reader::SettingsReader;
use super::sources::SettingSources;
use crate::schema::reader::SecretSource;
use crate::spool::SpoolSettings;
use crate::store::{Retention, StoreLocation, StoreOptions, StorePassword, Synchronous};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::{Node, NodeValue};

/// Name of the password among the credentials of systemd.
const PASSWORD_CREDENTIAL: &str = "vigie-store-password";

/// Settings of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// Where it is; `None` for SQLite in the data folder.
    pub location: Option<StoreLocation>,
    /// The epoch of the controller that uses PostgreSQL, once it leads; no setting.
    pub leader_epoch: Option<i64>,
    /// Most connections to PostgreSQL.
    pub max_connections: u32,
    /// How long to wait for one.
    pub connect_timeout: Duration,
    /// Longest duration of a query.
    pub query_timeout: Duration,
    /// Whether every commit waits until the data is on disk (SQLite).
    pub full_sync: bool,
    /// Size of its page cache in bytes (SQLite).
    pub cache_bytes: u64,
    /// File with the keys that seal secrets, if set.
    pub key_file: Option<PathBuf>,
    /// Folder of the spool, if set.
    pub spool_dir: Option<PathBuf>,
    /// Bounds of the spool.
    pub spool: SpoolSettings,
    /// Retention periods.
    pub retention: Retention,
    /// Time of day at which old data is removed: hour and minute, UTC.
    pub cleanup_time_of_day: (u8, u8),
}

impl StoreSettings {
    /// Returns how to open the store.
    #[must_use]
    pub fn options(&self) -> StoreOptions {
        StoreOptions {
            synchronous: if self.full_sync { Synchronous::Full } else { Synchronous::Normal },
            cache_bytes: self.cache_bytes,
            max_connections: self.max_connections,
            connect_timeout: self.connect_timeout,
            query_timeout: self.query_timeout,
            leader_epoch: self.leader_epoch,
            ..StoreOptions::default()
        }
    }
}

/// Reads the settings of `store`.
pub(super) fn read_store(reader: &mut SettingsReader<'_>, sources: &SettingSources) -> StoreSettings {
    let location = read_location(reader, sources);
    let days = |path| Duration::from_secs(86_400 * reader.int(path).unsigned_abs());
    let seconds = |path| Duration::from_secs(reader.int(path).unsigned_abs());
    StoreSettings {
        location,
        leader_epoch: None,
        max_connections: u32::try_from(reader.int("store.max_connections")).unwrap_or(u32::MAX),
        connect_timeout: seconds("store.connect_seconds"),
        query_timeout: seconds("store.query_seconds"),
        full_sync: reader.text("store.synchronous") == "full",
        cache_bytes: reader.int("store.cache_mib").unsigned_abs() * 1024 * 1024,
        key_file: reader.optional_text("store.key_file").map(PathBuf::from),
        spool_dir: reader.optional_text("store.spool_dir").map(PathBuf::from),
        spool: SpoolSettings {
            max_bytes: reader.int("store.spool_mib").unsigned_abs() * 1024 * 1024,
            max_age: days("store.spool_days"),
        },
        retention: Retention {
            results: days("store.keep_results_days"),
            details_ok: days("store.keep_details_ok_days"),
            details_failed: days("store.keep_details_failed_days"),
            hourly_rollups: days("store.keep_hourly_days"),
            daily_rollups: Some(days("store.keep_daily_days")).filter(|period| !period.is_zero()),
            audit_entries: days("store.keep_audit_days"),
        },
        cleanup_time_of_day: parse_time_of_day(&reader.text("store.retention_at")).unwrap_or((3, 17)),
    }
}

/// Reads `store.url` and the password; afterwards the value of the setting is the URL without it.
fn read_location(reader: &mut SettingsReader<'_>, sources: &SettingSources) -> Option<StoreLocation> {
    let path = "store.url";
    let node = reader.node(path).clone();
    let mut location = match StoreLocation::parse(node.as_text()?) {
        Ok(location) => location,
        Err(error) => {
            reader.values.remove(path);
            reader.add_error(ValidationErrorKind::Format, path, node.position, format!("`{path}` {error}"));
            return None;
        }
    };
    if let StoreLocation::Postgres(postgres) = &mut location {
        if postgres.password.is_none() {
            postgres.password = read_password(reader, sources);
        }
        if let Some(password) = &postgres.password {
            reader.secrets.add(password.expose());
        }
        reader
            .values
            .insert(path, Node { value: NodeValue::Text(postgres.to_string()), position: node.position });
    }
    Some(location)
}

/// Returns the password of the variable, the file or the credential, in this order.
fn read_password(reader: &mut SettingsReader<'_>, sources: &SettingSources) -> Option<StorePassword> {
    let from_file = reader.read_password("store.password_file").0;
    if let Some(password) = sources.store_password() {
        return Some(StorePassword::new(password));
    }
    if !from_file.is_empty() {
        return Some(StorePassword::new(from_file));
    }
    let folder = sources.credentials_folder.as_deref()?;
    let file = folder.join(PASSWORD_CREDENTIAL);
    if !file.exists() {
        return None;
    }
    match super::secrets::read_secret(Path::new(""), SecretSource::File(&file.display().to_string())) {
        Ok(password) => Some(StorePassword::new(password)),
        Err(reason) => {
            let position = reader.node("store.url").position;
            let message = format!("`store.url`: the credential `{PASSWORD_CREDENTIAL}` of systemd: {reason}");
            reader.add_error(ValidationErrorKind::Conflict, "store.url", position, message);
            None
        }
    }
}
