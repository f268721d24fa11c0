//! Reads and writes captures of results.

use sqlx::PgConnection;

use crate::domain::{CapturedFile, CheckResult, Outcome};
use crate::store::rows::captures::{CaptureChunk, with_content};

use super::batch_columns::ResultRowKey;
use super::error::PgResult;

/// Inserts chunks of the result with this key. One chunk per statement, since they may be large.
pub(super) async fn insert(
    conn: &mut PgConnection,
    is_stored_as_failed: bool,
    (planned_at, monitor, location): ResultRowKey,
    chunks: &[CaptureChunk],
) -> PgResult<()> {
    for chunk in chunks {
        sqlx::query(
            "INSERT INTO result_captures (is_failed, planned_at, monitor_id, location_id, name, chunk_index, content)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        )
        .bind(is_stored_as_failed)
        .bind(planned_at)
        .bind(monitor)
        .bind(location)
        .bind(&chunk.name)
        .bind(i32::try_from(chunk.index).unwrap_or(i32::MAX))
        .bind(chunk.bytes.as_slice())
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

/// Returns `capture` of `result` with its content; `None` when that was removed.
pub(super) async fn read(
    conn: &mut PgConnection,
    result: &CheckResult,
    capture: CapturedFile,
) -> PgResult<Option<CapturedFile>> {
    let chunks: Vec<Vec<u8>> = sqlx::query_scalar(
        "SELECT content FROM result_captures
         WHERE is_failed = $1 AND planned_at = $2 AND monitor_id = $3 AND location_id = $4 AND name = $5
         ORDER BY chunk_index",
    )
    .bind(result.outcome != Outcome::Ok)
    .bind(result.planned_at.as_micros())
    .bind(result.monitor_id.0)
    .bind(result.location_id.0)
    .bind(&capture.name)
    .fetch_all(conn)
    .await?;
    Ok(with_content(result, capture, &chunks.concat())?)
}
