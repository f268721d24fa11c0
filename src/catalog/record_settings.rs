//! Parses stored records (locations, recipients, groups, …) into typed settings. An invalid record is an error that
//! names it, or is skipped with a log entry; defaults never replace it.

use crate::domain::ConfigRecord;
use crate::schema::InvalidFieldValue;
use crate::schema::typed::record::{HostSettings, RecordSettings, parse_record};
use crate::store::StoreError;

/// Reads the settings of `record`.
///
/// # Errors
/// [`StoreError::Undecodable`], which names the record.
pub(crate) fn settings_from_record<'a, T: RecordSettings<'a>>(
    record: &'a ConfigRecord,
) -> Result<T, StoreError> {
    parse_record(record).map_err(|error| undecodable_error(record, &error))
}

/// Returns the id and the name of a host; `None` for an invalid record, which is logged.
pub(super) fn host_name(record: &ConfigRecord) -> Option<(i64, String)> {
    let settings: HostSettings<'_> = settings_or_skip(record)?;
    Some((record.id, settings.name.to_owned()))
}

/// Like [`settings_from_record`], for lists: `None` for an invalid record, which is logged.
pub(crate) fn settings_or_skip<'a, T: RecordSettings<'a>>(record: &'a ConfigRecord) -> Option<T> {
    ok_or_log_skipped(record, parse_record(record))
}

/// Returns the parsed value; `None` for an invalid `record`, which is logged.
pub(crate) fn ok_or_log_skipped<T>(
    record: &ConfigRecord,
    parse_result: Result<T, InvalidFieldValue>,
) -> Option<T> {
    parse_result
        .inspect_err(|error| {
            let kind = record.kind.name();
            tracing::error!(record_id = record.id, kind, error = %error, "stored record skipped");
        })
        .ok()
}

fn undecodable_error(record: &ConfigRecord, error: &InvalidFieldValue) -> StoreError {
    let row = format!("id {}", record.id);
    StoreError::Undecodable { table: "records", row, column: "fields", reason: error.to_string() }
}
