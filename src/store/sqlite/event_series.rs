//! Reads events of an account as series.

use rusqlite::{Connection, params};

use crate::domain::{ConfigRecordKind, EventSeries, EventSeriesQuery};
use crate::store::rows::event_points::EventPoints;

/// Returns the series; `None` when they have too many points.
pub(super) fn select_event_series(
    conn: &Connection,
    query: &EventSeriesQuery,
) -> rusqlite::Result<Option<EventSeries>> {
    let mut statement = conn.prepare_cached(
        "SELECT created_at, json_extract(fields, '$.event'), json_extract(fields, '$.quantity'),
             json_extract(fields, '$.value') FROM records
         WHERE kind = ?1 AND customer = ?2 AND created_at >= ?3 AND created_at < ?4
             AND (?5 IS NULL OR json_extract(fields, '$.event') = ?5) ORDER BY id",
    )?;
    let mut rows = statement.query(params![
        ConfigRecordKind::Event.name(),
        query.customer.0,
        query.from.as_micros(),
        query.until.as_micros(),
        query.event_type
    ])?;
    let mut points = EventPoints::new(query.step_us);
    while let Some(row) = rows.next()? {
        let (event_type, value): (Option<String>, Option<String>) = (row.get(1)?, row.get(3)?);
        if !points.add(row.get(0)?, event_type.unwrap_or_default(), row.get(2)?, value.as_deref()) {
            return Ok(None);
        }
    }
    Ok(Some(points.into_series()))
}
