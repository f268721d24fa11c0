//! The next occurrences of a blackout.

use serde_json::{Map, Value, json};

use super::config_record_service::ConfigRecordService;
use super::record_definition::record_definition;
use crate::catalog::alerting_settings;
use crate::catalog::v3_time_format::{format_utc_time, format_window_time};
use crate::domain::{ConfigRecordKind, Timestamp};
use crate::service::caller::{Caller, ServiceError};

impl ConfigRecordService {
    /// Returns the first `limit` occurrences of the blackout `id` that end after `after` (default: now).
    pub async fn blackout_occurrences(
        &self,
        caller: &Caller,
        id: i64,
        after: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Map<String, Value>>, ServiceError> {
        let definition = record_definition(ConfigRecordKind::Blackout);
        caller.require_permission(definition.view_permission)?;
        let cx = self.context(caller, definition).await?;
        let record = self.find_visible(&cx, id).await?;
        let Some(blackout) = alerting_settings::blackout_from_record(&record) else { return Ok(Vec::new()) };
        let occurrences = cx.account.blackout_calendar.occurrences(&blackout, after.unwrap_or(cx.now), limit);
        let zone = &cx.account.time_zone;
        let to_object = |(from, until): (Timestamp, Timestamp)| {
            [
                ("from_date", format_window_time(from, zone)),
                ("thru_date", format_window_time(until, zone)),
                ("from", format_utc_time(from)),
                ("thru", format_utc_time(until)),
            ]
            .into_iter()
            .map(|(name, text)| (name.to_owned(), json!(text)))
            .collect()
        };
        Ok(occurrences.into_iter().map(to_object).collect())
    }
}
