//! The next occurrences of a blackout.

use serde_json::{Map, Value, json};

use super::resource_kind::record_definition;
use super::resource_service::RecordService;
use crate::catalog::contacts;
use crate::catalog::timestamp_format::{format_utc, format_window_time};
use crate::domain::{RecordKind, Timestamp};
use crate::service::caller::{Caller, ServiceError};

impl RecordService {
    /// Returns the first `max` occurrences of the blackout `id` that end after `after` (default: now).
    pub async fn blackout_occurrences(
        &self,
        caller: &Caller,
        id: i64,
        after: Option<Timestamp>,
        max: usize,
    ) -> Result<Vec<Map<String, Value>>, ServiceError> {
        let kind = record_definition(RecordKind::Blackout);
        caller.require_permission(kind.view_permission)?;
        let cx = self.context(caller, kind).await?;
        let record = self.find_visible(&cx, id).await?;
        let Some(blackout) = contacts::blackout_from_record(&record) else { return Ok(Vec::new()) };
        let found = cx.account.calendar.occurrences(&blackout, after.unwrap_or(cx.now), max);
        let zone = &cx.account.time_zone;
        let shown = |(from, thru): (Timestamp, Timestamp)| {
            [
                ("from_date", format_window_time(from, zone)),
                ("thru_date", format_window_time(thru, zone)),
                ("from", format_utc(from)),
                ("thru", format_utc(thru)),
            ]
            .into_iter()
            .map(|(name, text)| (name.to_owned(), json!(text)))
            .collect()
        };
        Ok(found.into_iter().map(shown).collect())
    }
}
