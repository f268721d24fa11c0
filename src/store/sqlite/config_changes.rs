//! Configuration changes of several callers in one transaction. Those of each caller have a savepoint, so that rejected
//! ones are rolled back alone.

use rusqlite::Connection;

use crate::domain::{ConfigRecordKind, MonitorId, Revision};
use crate::store::contract::{AuditObject, ConfigChange, NewAuditEntry, StoreError};

use super::change_error::ChangeError;
use super::monitors::{self, MonitorRow};
use super::records::{self, NewRecordRow, UpdatedRecordRow};
use super::{audit, tokens};

/// Changes of one call, ready to be written. JSON is serialized here, on the thread of the caller, and
/// not on the writing thread.
pub(super) struct PreparedConfigChanges {
    changes: Vec<PreparedChange>,
    audit_entries: Vec<NewAuditEntry>,
}

/// A change as a row; a revision is the one that it must replace or remove.
enum PreparedChange {
    CreateMonitor(MonitorRow),
    UpdateMonitor(MonitorRow, Revision),
    RemoveMonitor(MonitorId, Revision),
    CreateRecord(NewRecordRow),
    UpdateRecord(UpdatedRecordRow, Revision),
    RemoveRecord(ConfigRecordKind, i64, Revision),
    RevokeTokens(i64),
}

impl PreparedConfigChanges {
    pub(super) fn prepare(changes: Vec<ConfigChange>, audit_entries: Vec<NewAuditEntry>) -> Self {
        let prepared = changes
            .into_iter()
            .map(|change| match change {
                ConfigChange::CreateMonitor(new) => PreparedChange::CreateMonitor(MonitorRow::from_new(new)),
                ConfigChange::UpdateMonitor { monitor, expected } => {
                    PreparedChange::UpdateMonitor(MonitorRow::from_stored(*monitor), expected)
                }
                ConfigChange::RemoveMonitor { id, expected } => PreparedChange::RemoveMonitor(id, expected),
                ConfigChange::CreateRecord(new) => {
                    PreparedChange::CreateRecord(NewRecordRow::from_record(new))
                }
                ConfigChange::UpdateRecord { record, expected } => {
                    PreparedChange::UpdateRecord(UpdatedRecordRow::from_record(*record), expected)
                }
                ConfigChange::RemoveRecord { kind, id, expected } => {
                    PreparedChange::RemoveRecord(kind, id, expected)
                }
                ConfigChange::RevokeTokens(user) => PreparedChange::RevokeTokens(user.0),
            })
            .collect();
        Self { changes: prepared, audit_entries }
    }

    /// Returns the ids of the monitors that get a new revision; without created and removed ones.
    pub(super) fn updated_monitor_ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.changes.iter().filter_map(|change| match change {
            PreparedChange::UpdateMonitor(row, _) => Some(row.id),
            _ => None,
        })
    }

    /// Applies all changes or none; returns the ids of created objects.
    pub(super) fn apply(&self, conn: &Connection) -> rusqlite::Result<Result<Vec<i64>, StoreError>> {
        let execute = |sql| conn.prepare_cached(sql)?.execute([]);
        execute("SAVEPOINT one_call")?;
        let outcome = match self.apply_all(conn) {
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
    fn apply_all(&self, conn: &Connection) -> Result<Vec<i64>, ChangeError> {
        let mut created_ids = Vec::with_capacity(self.changes.len());
        for change in &self.changes {
            created_ids.extend(change.apply(conn)?);
        }
        for entry in &self.audit_entries {
            let object_id = match entry.object_id {
                AuditObject::Id(id) => Some(id),
                AuditObject::CreatedInThisCall(write_index) => {
                    Some(*created_ids.get(write_index).ok_or_else(missing_object_error)?)
                }
                AuditObject::None => None,
            };
            audit::insert(conn, entry, object_id)?;
        }
        Ok(created_ids)
    }
}

/// Returns the error for an audit entry about an object that its call did not create.
fn missing_object_error() -> ChangeError {
    ChangeError::Rejected(StoreError::Unusable(
        "an audit entry refers to an object that was not created".to_owned(),
    ))
}

impl PreparedChange {
    /// Applies the change; returns the id of a created object.
    fn apply(&self, conn: &Connection) -> Result<Option<i64>, ChangeError> {
        let revision_matched = match self {
            Self::CreateMonitor(row) => return row.insert(conn).map(Some),
            Self::CreateRecord(row) => return row.insert(conn).map(Some),
            Self::UpdateMonitor(row, expected_revision) => {
                return row.update(conn, *expected_revision).map(|()| None);
            }
            Self::UpdateRecord(row, expected_revision) => {
                return row.update(conn, *expected_revision).map(|()| None);
            }
            Self::RemoveMonitor(id, expected_revision) => {
                monitors::mark_removed(conn, *id, Some(*expected_revision))?
            }
            Self::RemoveRecord(kind, id, expected_revision) => {
                records::delete(conn, *kind, *id, *expected_revision)?
            }
            Self::RevokeTokens(user) => tokens::delete_for_user(conn, *user).map(|()| true)?,
        };
        if revision_matched { Ok(None) } else { Err(ChangeError::Rejected(StoreError::Stale)) }
    }
}
