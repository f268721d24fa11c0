//! Captures of results, stored in chunks; they are compressed before the commit, on the thread of its
//! caller, and removed together with the details of the result.

use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::domain::{CapturedFile, CheckResult, Outcome};

use super::decode::RowLocator;

/// Most bytes of a chunk (architecture.md, evidence).
const CHUNK_BYTES: usize = 512 * 1024;
/// Largest uncompressed file in bytes; larger ones are left out.
const MAX_CAPTURE_BYTES: u64 = 8 * 1024 * 1024;
/// zstd level: above it, time grows faster than files shrink.
const ZSTD_LEVEL: i32 = 3;

/// A chunk of a compressed file.
pub(super) struct CaptureChunk {
    name: String,
    index: usize,
    bytes: Vec<u8>,
}

/// Takes the contents out of `captures` and compresses them; removes captures without content and too large ones.
pub(super) fn take_compressed_chunks(captures: &mut Vec<CapturedFile>) -> Vec<CaptureChunk> {
    let mut chunks = Vec::new();
    captures.retain_mut(|capture| {
        let content = capture.content.take().filter(|content| content.len() as u64 <= MAX_CAPTURE_BYTES);
        let Some(compressed) = content.and_then(|content| zstd::bulk::compress(&content, ZSTD_LEVEL).ok())
        else {
            return false;
        };
        for (index, body) in compressed.chunks(CHUNK_BYTES).enumerate() {
            chunks.push(CaptureChunk { name: capture.name.clone(), index, bytes: body.to_vec() });
        }
        true
    });
    chunks
}

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
    if compressed.is_empty() {
        return Ok(None);
    }
    let key = [
        ("planned_at", result.planned_at.as_micros()),
        ("monitor_id", result.monitor_id.0),
        ("location_id", result.location_id.0),
    ];
    let locator = RowLocator { table: "captures", key: &key };
    let content_len = usize::try_from(capture.content_bytes.min(MAX_CAPTURE_BYTES)).unwrap_or_default();
    let content = zstd::bulk::decompress(&compressed, content_len)
        .map_err(|error| locator.decode_error("body", format_args!("`{}`: {error}", capture.name)))?;
    if content.len() != content_len {
        let reason = format_args!("`{}` has {} bytes, not {content_len}", capture.name, content.len());
        return Err(locator.decode_error("body", reason));
    }
    Ok(Some(CapturedFile { content: Some(Arc::from(content)), ..capture }))
}
