//! The audit trail: what a change of a record says there, and how the trail is read.

use serde_json::{Map, Value, json};

use super::recipient;
use super::records::Resources;
use crate::catalog::moment::utc;
use crate::catalog::object::object_of;
use crate::domain::Right;
use crate::schema::table::Table;
use crate::schema::table::alerting::RECIPIENT;
use crate::service::caller::{Caller, Refusal};
use crate::service::monitors::brief;
use crate::store::{AuditFilter, AuditRow, Listed, Page};
use crate::syntax::MASK;

/// The fields that differ, as they were and as they are; only those of the table, secrets masked, long texts
/// as their length and hash.
pub(super) fn changes(
    table: &Table,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut before, mut after) = (Map::new(), Map::new());
    for field in table.fields() {
        let (was, is) = (old.get(field.name), new.get(field.name));
        if was == is {
            continue;
        }
        // Whoever may view reads the trail; addresses of hooks are not for all of them.
        let is_address = table.name == RECIPIENT.name && field.name == "recipient";
        let hidden = |value: &Value| value.as_str().filter(|_| is_address).and_then(recipient::masked);
        let shown = |value: &Value| match hidden(value) {
            Some(hidden) => json!(hidden),
            None if field.secret => json!(MASK),
            None => brief(value.clone()),
        };
        let name = || field.name.to_owned();
        if !old.is_empty() {
            before.insert(name(), was.map_or(Value::Null, shown));
        }
        if !new.is_empty() {
            after.insert(name(), is.map_or(Value::Null, shown));
        }
    }
    (before, after)
}

impl Resources {
    /// The audit trail of the caller's account, newest first.
    pub async fn audit(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        page: Page,
    ) -> Result<Listed<Map<String, Value>>, Refusal> {
        caller.require(Right::View)?;
        let filter = AuditFilter { customer: Some(caller.customer), ..filter };
        let found = self.parts.ledger.audit(filter, page).await?;
        Ok(Listed { count: found.count, rows: found.rows.into_iter().map(object).collect() })
    }
}

fn object(row: AuditRow) -> Map<String, Value> {
    object_of(json!({
        "id": row.id,
        "at": utc(row.at),
        "login": row.login,
        "address": row.address,
        "via": row.via,
        "action": row.action,
        "object": row.object,
        "object_id": row.object_id,
        "object_name": row.object_name,
        "before": row.before,
        "after": row.after,
    }))
}
