//! Reads events of an account as series.

use sqlx::PgConnection;

use crate::domain::{ConfigRecordKind, EventSeries, EventSeriesQuery};
use crate::store::rows::event_points::EventPoints;

use super::error::PgResult;

/// Events that are read at once.
const CHUNK_EVENTS: i64 = 10_000;

/// Id, creation time, type, quantity and value of an event.
type EventRow = (i64, i64, Option<String>, Option<String>, Option<String>);

/// Returns the series; `None` when they have too many points.
pub(super) async fn select_event_series(
    conn: &mut PgConnection,
    query: EventSeriesQuery,
) -> PgResult<Option<EventSeries>> {
    let mut points = EventPoints::new(query.step_us);
    let mut after_id = i64::MIN;
    loop {
        let rows: Vec<EventRow> = sqlx::query_as(
            "SELECT id, created_at, fields ->> 'event', fields ->> 'quantity', fields ->> 'value' FROM records
             WHERE kind = $1 AND customer = $2 AND created_at >= $3 AND created_at < $4
                 AND ($5::text IS NULL OR fields ->> 'event' = $5) AND id > $6 ORDER BY id LIMIT $7",
        )
        .bind(ConfigRecordKind::Event.name())
        .bind(query.customer.0)
        .bind(query.from.as_micros())
        .bind(query.until.as_micros())
        .bind(query.event_type.as_deref())
        .bind(after_id)
        .bind(CHUNK_EVENTS)
        .fetch_all(&mut *conn)
        .await?;
        let Some((last_id, ..)) = rows.last() else { return Ok(Some(points.into_series())) };
        after_id = *last_id;
        for (_, created_at, event_type, quantity, value) in rows {
            let quantity = quantity.and_then(|quantity| quantity.parse().ok());
            if !points.add(created_at, event_type.unwrap_or_default(), quantity, value.as_deref()) {
                return Ok(None);
            }
        }
    }
}
