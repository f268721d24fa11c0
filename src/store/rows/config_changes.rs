//! Configuration changes as rows. JSON is serialized here, on the thread of the caller.

use crate::domain::{ConfigRecordKind, MonitorId, Revision};
use crate::store::contract::{AuditObject, ConfigChange, NewAuditEntry, StoreError};

use super::monitor_row::MonitorRow;
use super::record_row::{NewRecordRow, UpdatedRecordRow};

/// Changes of one call, ready to be written.
pub(in crate::store) struct PreparedConfigChanges {
    pub(in crate::store) changes: Vec<PreparedChange>,
    pub(in crate::store) audit_entries: Vec<NewAuditEntry>,
}

/// A change as a row; a revision is the one that it must replace or remove.
pub(in crate::store) enum PreparedChange {
    CreateMonitor(MonitorRow),
    UpdateMonitor(MonitorRow, Revision),
    RemoveMonitor(MonitorId, Revision),
    CreateRecord(NewRecordRow),
    UpdateRecord(UpdatedRecordRow, Revision),
    RemoveRecord(ConfigRecordKind, i64, Revision),
    RevokeTokens(i64),
}

impl PreparedConfigChanges {
    pub(in crate::store) fn prepare(changes: Vec<ConfigChange>, audit_entries: Vec<NewAuditEntry>) -> Self {
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
    pub(in crate::store) fn updated_monitor_ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.changes.iter().filter_map(|change| match change {
            PreparedChange::UpdateMonitor(row, _) => Some(row.id),
            _ => None,
        })
    }
}

/// Returns the id of the object of `entry`; `created_ids` are those of the objects that its call created.
pub(in crate::store) fn audited_object_id(
    entry: &NewAuditEntry,
    created_ids: &[i64],
) -> Result<Option<i64>, StoreError> {
    match entry.object_id {
        AuditObject::Id(id) => Ok(Some(id)),
        AuditObject::CreatedInThisCall(write_index) => {
            created_ids.get(write_index).copied().map(Some).ok_or_else(|| {
                StoreError::Unusable("an audit entry refers to an object that was not created".to_owned())
            })
        }
        AuditObject::None => Ok(None),
    }
}
