//! Reads the audit trail of an account.

use serde_json::{Map, Value, json};

use super::config_record_service::ConfigRecordService;
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::Permission;
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AuditEntry, AuditFilter, Paginated, Pagination};
use crate::syntax::json_object::into_object;

impl ConfigRecordService {
    /// Returns the audit trail of the caller's account, newest first.
    pub async fn audit_trail(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        caller.require_permission(Permission::View)?;
        let filter = AuditFilter { customer: Some(caller.customer), ..filter };
        let found = self.dependencies.config_store.audit_entries(filter, page).await?;
        Ok(Paginated {
            total: found.total,
            items: found.items.into_iter().map(audit_entry_to_json).collect(),
        })
    }
}

fn audit_entry_to_json(entry: AuditEntry) -> Map<String, Value> {
    into_object(json!({
        "id": entry.id,
        "at": format_utc_time(entry.occurred_at),
        "login": entry.login,
        "address": entry.address,
        "via": entry.entry_point,
        "action": entry.action,
        "object": entry.object_kind,
        "object_id": entry.object_id,
        "object_name": entry.object_name,
        "before": entry.before,
        "after": entry.after,
    }))
}
