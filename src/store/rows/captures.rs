//! Captures of results, stored in chunks; they are compressed before the commit, on the thread of its
//! caller, and removed together with the details of the result.

use std::sync::Arc;

use crate::domain::{CapturedFile, CheckResult};
use crate::store::contract::{AddedCapture, ResultKey};

use super::decode::{DecodeError, RowLocator};

/// Most bytes of a chunk (architecture.md, evidence).
const CHUNK_BYTES: usize = 512 * 1024;
/// Largest uncompressed file in bytes; larger ones are left out.
const MAX_CAPTURE_BYTES: u64 = 8 * 1024 * 1024;
/// zstd level: above it, time grows faster than files shrink.
const ZSTD_LEVEL: i32 = 3;

/// A chunk of a compressed file.
pub(in crate::store) struct CaptureChunk {
    pub(in crate::store) name: String,
    pub(in crate::store) index: usize,
    pub(in crate::store) bytes: Vec<u8>,
}

/// A compressed file that is added after its result.
pub(in crate::store) struct CompressedCapture {
    pub(in crate::store) result_key: ResultKey,
    pub(in crate::store) capture: CapturedFile,
    pub(in crate::store) chunks: Vec<CaptureChunk>,
}

impl CompressedCapture {
    /// Compresses a file; `None` when it has no content, or is too large.
    pub(in crate::store) fn from_added_capture(added: AddedCapture) -> Option<Self> {
        let mut captures = vec![added.capture];
        let chunks = take_compressed_chunks(&mut captures);
        Some(Self { result_key: added.result_key, capture: captures.pop()?, chunks })
    }
}

/// Takes the contents out of `captures` and compresses them; removes captures without content and too large ones.
pub(in crate::store) fn take_compressed_chunks(captures: &mut Vec<CapturedFile>) -> Vec<CaptureChunk> {
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

/// Returns `capture` of `result` with the content in `compressed`, its joined chunks; `None` when those were removed.
pub(in crate::store) fn with_content(
    result: &CheckResult,
    capture: CapturedFile,
    compressed: &[u8],
) -> Result<Option<CapturedFile>, DecodeError> {
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
    let content = zstd::bulk::decompress(compressed, content_len)
        .map_err(|error| locator.decode_error("body", format_args!("`{}`: {error}", capture.name)))?;
    if content.len() != content_len {
        let reason = format_args!("`{}` has {} bytes, not {content_len}", capture.name, content.len());
        return Err(locator.decode_error("body", reason));
    }
    Ok(Some(CapturedFile { content: Some(Arc::from(content)), ..capture }))
}
