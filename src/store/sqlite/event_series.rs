//! Reads events of an account as series.

use rusqlite::{Connection, params};

use crate::domain::{ConfigRecordKind, EventSeries, EventSeriesQuery, MAX_EVENT_POINTS, Timestamp};

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
    let (mut series, mut point_count) = (EventSeries::new(), 0);
    while let Some(row) = rows.next()? {
        let (created_at, event_type): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
        let (quantity, value): (Option<i64>, Option<String>) = (row.get(2)?, row.get(3)?);
        let start =
            Timestamp::from_micros(created_at.saturating_sub(created_at.rem_euclid(query.step_us.max(1))));
        let series_of_type = series.entry(event_type.unwrap_or_default()).or_default();
        let old_point_count = series_of_type.len();
        series_of_type.entry(start).or_default().add(quantity.unwrap_or(1), value.as_deref());
        point_count += series_of_type.len() - old_point_count;
        if point_count > MAX_EVENT_POINTS {
            return Ok(None);
        }
    }
    Ok(Some(series))
}
