//! Effects of events: markers in reports and pages, and series of their values and quantities.

use serde::Serialize;
use serde_json::Value;

use super::caller::{Caller, ServiceError};
use super::records::event_label;
use crate::domain::{
    ConfigRecord, ConfigRecordFilter, ConfigRecordKind, CustomerId, EventSeries, EventSeriesQuery,
    MAX_EVENT_POINTS, Permission, Timestamp,
};
use crate::store::{ConfigStore, Pagination, StoreError};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Most markers of one report or page; the newest are kept.
const MAX_MARKERS: u32 = 100;

/// An event in a report or chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventMarker {
    /// Its id, for `GET /events/{id}`.
    pub id: i64,
    /// Its type.
    pub event: String,
    /// Label of its type.
    pub name: String,
    /// Its value.
    pub value: Option<String>,
    /// How many.
    pub quantity: i64,
    /// When it was reported.
    #[serde(rename = "timestamp")]
    pub reported_at: Timestamp,
}

impl EventMarker {
    fn from_record(record: &ConfigRecord) -> Self {
        let text = |name: &str| record.fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let event = text("event").unwrap_or_default();
        Self {
            id: record.id,
            name: event_label(&event),
            event,
            value: text("value").filter(|value| !value.is_empty()),
            quantity: record.fields.get("quantity").and_then(Value::as_i64).unwrap_or(1),
            reported_at: record.created_at,
        }
    }

    /// Returns the text of the marker, such as `Deploy done 1.2 (3)`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.name.clone();
        if let Some(value) = &self.value {
            text = format!("{text} {value}");
        }
        if self.quantity == 1 { text } else { format!("{text} ({})", self.quantity) }
    }
}

/// Returns the newest events of `customer` in `from..until`, oldest first.
///
/// # Errors
/// Fails when the store fails.
pub(super) async fn event_markers(
    store: &dyn ConfigStore,
    customer: CustomerId,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<EventMarker>, StoreError> {
    let filter = ConfigRecordFilter {
        from: Some(from),
        until: Some(until),
        ..ConfigRecordFilter::new(ConfigRecordKind::Event).for_customer(customer)
    };
    let first = store.records(filter.clone(), Pagination { limit: MAX_MARKERS, offset: 0 }).await?;
    let max = u64::from(MAX_MARKERS);
    let page = if first.total > max {
        store.records(filter, Pagination { limit: MAX_MARKERS, offset: first.total - max }).await?
    } else {
        first
    };
    Ok(page.items.iter().map(EventMarker::from_record).collect())
}

/// Returns the events of the caller's account as series. `query.customer` is that of the caller.
///
/// # Errors
/// [`ServiceError::Forbidden`], [`ServiceError::Invalid`] for too many points; errors of the store.
pub async fn event_series(
    store: &dyn ConfigStore,
    caller: &Caller,
    query: EventSeriesQuery,
) -> Result<EventSeries, ServiceError> {
    caller.require_permission(Permission::View)?;
    let query = EventSeriesQuery { customer: caller.customer, ..query };
    store.event_series(query).await?.ok_or_else(|| {
        let message = format!(
            "the series have more than {MAX_EVENT_POINTS} points; request a shorter time, longer steps or one `event`"
        );
        ServiceError::Invalid(vec![ValidationError::new(
            ValidationErrorKind::Conflict,
            "step",
            Position::default(),
            message,
        )])
    })
}
