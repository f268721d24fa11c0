//! Settings of the database.

use std::path::PathBuf;
use std::time::Duration;

use super::setting_type::parse_time_of_day;
use super::settings_reader::SettingsReader;
use crate::spool::SpoolSettings;
use crate::store::Retention;

/// Settings of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// Whether every commit waits until the data is on disk.
    pub full_sync: bool,
    /// Size of its page cache in bytes.
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

/// Reads the settings of `store`.
pub(super) fn read_store(reader: &SettingsReader<'_>) -> StoreSettings {
    let days = |path| Duration::from_secs(86_400 * reader.int(path).unsigned_abs());
    StoreSettings {
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
