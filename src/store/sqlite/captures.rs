//! Reads and writes captures of results.

use rusqlite::{Connection, params};

use crate::domain::{CapturedFile, CheckResult, Outcome};
use crate::store::rows::captures::{CaptureChunk, with_content};

/// Inserts chunks of the result with this planned time, monitor and location.
pub(super) fn insert(
    conn: &Connection,
    is_stored_as_failed: bool,
    (planned_at, monitor, location): (i64, i64, i64),
    chunks: &[CaptureChunk],
) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(
        "INSERT INTO captures (failed, planned_at, monitor_id, location_id, name, piece, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
    )?;
    for chunk in chunks {
        statement.execute(params![
            is_stored_as_failed,
            planned_at,
            monitor,
            location,
            chunk.name,
            chunk.index,
            chunk.bytes
        ])?;
    }
    Ok(())
}

/// Returns `capture` of `result` with its content; `None` when that was removed.
pub(super) fn read(
    conn: &Connection,
    result: &CheckResult,
    capture: CapturedFile,
) -> rusqlite::Result<Option<CapturedFile>> {
    let mut statement = conn.prepare_cached(
        "SELECT body FROM captures
         WHERE failed = ?1 AND planned_at = ?2 AND monitor_id = ?3 AND location_id = ?4 AND name = ?5
         ORDER BY piece",
    )?;
    let mut rows = statement.query(params![
        result.outcome != Outcome::Ok,
        result.planned_at.as_micros(),
        result.monitor_id.0,
        result.location_id.0,
        capture.name
    ])?;
    let mut compressed = Vec::new();
    while let Some(row) = rows.next()? {
        compressed.extend_from_slice(row.get_ref(0)?.as_blob()?);
    }
    Ok(with_content(result, capture, &compressed)?)
}
