//! Configuration changes of several callers in one transaction. Those of each caller have a savepoint, so that rejected
//! ones are rolled back alone.

use rusqlite::Connection;

use crate::store::contract::StoreError;
use crate::store::rows::config_changes::{PreparedChange, PreparedConfigChanges, audited_object_id};

use super::change_error::ChangeError;
use super::{audit, monitors, records, tokens};

/// Applies all changes or none; returns the ids of created objects.
pub(super) fn apply(
    prepared: &PreparedConfigChanges,
    conn: &Connection,
) -> rusqlite::Result<Result<Vec<i64>, StoreError>> {
    let execute = |sql| conn.prepare_cached(sql)?.execute([]);
    execute("SAVEPOINT one_call")?;
    let outcome = match apply_all(prepared, conn) {
        Ok(ids) => Ok(ids),
        Err(ChangeError::Sql(error)) => return Err(error),
        Err(ChangeError::Rejected(error)) => {
            execute("ROLLBACK TO one_call")?;
            Err(error)
        }
    };
    execute("RELEASE one_call")?;
    Ok(outcome)
}

/// Applies the changes and inserts the audit entries; the caller rolls back after an error.
fn apply_all(prepared: &PreparedConfigChanges, conn: &Connection) -> Result<Vec<i64>, ChangeError> {
    let mut created_ids = Vec::with_capacity(prepared.changes.len());
    for change in &prepared.changes {
        created_ids.extend(apply_change(change, conn)?);
    }
    for entry in &prepared.audit_entries {
        let object_id = audited_object_id(entry, &created_ids).map_err(ChangeError::Rejected)?;
        audit::insert(conn, entry, object_id)?;
    }
    Ok(created_ids)
}

/// Applies the change; returns the id of a created object.
fn apply_change(change: &PreparedChange, conn: &Connection) -> Result<Option<i64>, ChangeError> {
    let revision_matched = match change {
        PreparedChange::CreateMonitor(row) => return monitors::insert(conn, row).map(Some),
        PreparedChange::CreateRecord(row) => return records::insert(conn, row).map(Some),
        PreparedChange::UpdateMonitor(row, expected_revision) => {
            return monitors::update(conn, row, *expected_revision).map(|()| None);
        }
        PreparedChange::UpdateRecord(row, expected_revision) => {
            return records::update(conn, row, *expected_revision).map(|()| None);
        }
        PreparedChange::RemoveMonitor(id, expected_revision) => {
            monitors::mark_removed(conn, *id, Some(*expected_revision))?
        }
        PreparedChange::RemoveRecord(kind, id, expected_revision) => {
            records::delete(conn, *kind, *id, *expected_revision)?
        }
        PreparedChange::RevokeTokens(user) => tokens::delete_for_user(conn, *user).map(|()| true)?,
    };
    if revision_matched { Ok(None) } else { Err(ChangeError::Rejected(StoreError::Stale)) }
}
