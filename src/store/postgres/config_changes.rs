//! Writes configuration changes, in the transaction of their call.

use sqlx::PgConnection;

use crate::store::contract::StoreError;
use crate::store::rows::config_changes::{PreparedChange, PreparedConfigChanges, audited_object_id};

use super::error::{PgError, PgResult};
use super::{audit, monitors, records, tokens};

/// Applies the changes and inserts the audit entries; returns the ids of created objects.
pub(super) async fn apply(conn: &mut PgConnection, prepared: PreparedConfigChanges) -> PgResult<Vec<i64>> {
    let mut created_ids = Vec::with_capacity(prepared.changes.len());
    for change in &prepared.changes {
        created_ids.extend(apply_change(change, conn).await?);
    }
    let mut entries = Vec::with_capacity(prepared.audit_entries.len());
    for entry in prepared.audit_entries {
        let object_id = audited_object_id(&entry, &created_ids)?;
        entries.push((entry, object_id));
    }
    audit::insert(conn, &entries).await?;
    Ok(created_ids)
}

/// Applies the change; returns the id of a created object.
async fn apply_change(change: &PreparedChange, conn: &mut PgConnection) -> PgResult<Option<i64>> {
    let revision_matched = match change {
        PreparedChange::CreateMonitor(row) => return monitors::insert(conn, row).await.map(Some),
        PreparedChange::CreateRecord(row) => return records::insert(conn, row).await.map(Some),
        PreparedChange::UpdateMonitor(row, expected_revision) => {
            return monitors::update(conn, row, *expected_revision).await.map(|()| None);
        }
        PreparedChange::UpdateRecord(row, expected_revision) => {
            return records::update(conn, row, *expected_revision).await.map(|()| None);
        }
        PreparedChange::RemoveMonitor(id, expected_revision) => {
            monitors::mark_removed(conn, *id, Some(*expected_revision)).await?
        }
        PreparedChange::RemoveRecord(kind, id, expected_revision) => {
            records::delete(conn, *kind, *id, *expected_revision).await?
        }
        PreparedChange::RevokeTokens(user) => tokens::delete_for_user(conn, *user).await.map(|()| true)?,
    };
    if revision_matched { Ok(None) } else { Err(PgError::from(StoreError::Stale)) }
}
