//! Watches, outages and messages in SQLite.

use crate::store::Alarm;

use super::writer::Writing;

/// Writes what alerting made of the results of the same transaction.
pub(super) fn keep(writing: &mut Writing<'_>, alarm: &Alarm) -> rusqlite::Result<()> {
    if alarm.is_empty() {
        return Ok(());
    }
    let _ = writing.conn;
    todo!("h-watch")
}
