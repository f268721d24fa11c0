//! A share as it is stored: a record without the token of its link, only with the hash of it.

use serde_json::{Map, Value, json};

use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::{CheckId, CheckResult, ConfigRecord, CustomerId, MonitorId, Timestamp};
use crate::schema::typed::record::ShareSettings;
use crate::syntax::json_object::into_object;

/// A share of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultShare {
    /// Its id.
    pub id: i64,
    /// The account.
    pub customer: CustomerId,
    /// The result.
    pub check_id: CheckId,
    /// The monitor of the result.
    pub monitor_id: MonitorId,
    /// The name of the monitor in the result.
    pub monitor_name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Login of who made it.
    pub created_by: String,
    /// When the link ends.
    pub expires_at: Timestamp,
}

impl ResultShare {
    /// Reads a stored share; `None` for an invalid record, which is logged.
    pub(super) fn from_record(record: &ConfigRecord) -> Option<Self> {
        let settings: ShareSettings<'_> = settings_or_skip(record)?;
        Some(Self {
            id: record.id,
            customer: record.customer,
            check_id: settings.result_id.parse().ok()?,
            monitor_id: MonitorId(record.parent_id?),
            monitor_name: settings.monitor_name.to_owned(),
            created_at: record.created_at,
            created_by: record.created_by.clone(),
            expires_at: Timestamp::parse(settings.expires_at)?,
        })
    }

    /// Whether the link opens the page at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Returns it as a version 3 object.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        into_object(json!({
            "id": self.id,
            "result_id": self.check_id.to_string(),
            "monitor_id": self.monitor_id,
            "monitor_name": self.monitor_name,
            "created_at": format_utc_time(self.created_at),
            "created_by": self.created_by,
            "expires_at": format_utc_time(self.expires_at),
        }))
    }
}

/// Returns the fields of the record of a share of `result` that ends at `expires_at`.
pub(super) fn share_fields(result: &CheckResult, expires_at: Timestamp) -> Map<String, Value> {
    into_object(json!({
        "result_id": result.check_id.to_string(),
        "monitor_name": &*result.monitor_name,
        "expires_at": format_utc_time(expires_at),
    }))
}
