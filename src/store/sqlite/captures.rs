//! Files that results hold: compressed by the caller of `commit`, kept in pieces, gone with the details.

use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::domain::{Capture, CheckResult, Outcome};

use super::decode::RowRef;

/// Bytes of a piece at most (architecture.md, evidence).
const CHUNK_BYTES: usize = 512 * 1024;
/// Bytes of a file at most, uncompressed; larger ones are left out.
const MAX_CAPTURE_BYTES: u64 = 8 * 1024 * 1024;
/// Of zstd: beyond, the time grows faster than the files shrink.
const ZSTD_LEVEL: i32 = 3;

/// A part of a compressed file.
pub(super) struct CaptureChunk {
    name: String,
    number: usize,
    body: Vec<u8>,
}

/// Takes the contents out of `captures`; those without one, and too large ones, go altogether.
pub(super) fn compress_all(captures: &mut Vec<Capture>) -> Vec<CaptureChunk> {
    let mut pieces = Vec::new();
    captures.retain_mut(|capture| {
        let content = capture.content.take().filter(|content| content.len() as u64 <= MAX_CAPTURE_BYTES);
        let Some(packed) = content.and_then(|content| zstd::bulk::compress(&content, ZSTD_LEVEL).ok()) else {
            return false;
        };
        for (number, body) in packed.chunks(CHUNK_BYTES).enumerate() {
            pieces.push(CaptureChunk { name: capture.name.clone(), number, body: body.to_vec() });
        }
        true
    });
    pieces
}

/// Writes pieces of the result with this planned time, monitor and location.
pub(super) fn insert(
    conn: &Connection,
    failed: bool,
    (planned_at, monitor, location): (i64, i64, i64),
    pieces: &[CaptureChunk],
) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO captures (failed, planned_at, monitor_id, location_id, name, piece, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
    )?;
    for piece in pieces {
        insert.execute(params![
            failed,
            planned_at,
            monitor,
            location,
            piece.name,
            piece.number,
            piece.body
        ])?;
    }
    Ok(())
}

/// `capture` of `result` with its content; `None` when that is gone.
pub(super) fn read(
    conn: &Connection,
    result: &CheckResult,
    capture: Capture,
) -> rusqlite::Result<Option<Capture>> {
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
    let mut packed = Vec::new();
    while let Some(row) = rows.next()? {
        packed.extend_from_slice(row.get_ref(0)?.as_blob()?);
    }
    if packed.is_empty() {
        return Ok(None);
    }
    let key = [
        ("planned_at", result.planned_at.as_micros()),
        ("monitor_id", result.monitor_id.0),
        ("location_id", result.location_id.0),
    ];
    let place = RowRef { table: "captures", key: &key };
    let bytes = usize::try_from(capture.bytes.min(MAX_CAPTURE_BYTES)).unwrap_or_default();
    let content = zstd::bulk::decompress(&packed, bytes)
        .map_err(|error| place.decode_error("body", format_args!("`{}`: {error}", capture.name)))?;
    if content.len() != bytes {
        let why = format_args!("`{}` has {} bytes, not {bytes}", capture.name, content.len());
        return Err(place.decode_error("body", why));
    }
    Ok(Some(Capture { content: Some(Arc::from(content)), ..capture }))
}
