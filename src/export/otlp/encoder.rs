//! Encodes checks as the body of a request.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::check::ExportedCheck;
use super::logs::LogsBody;
use super::metrics::{MetricsBody, point_attributes};
use super::model::Resource;
use super::signal::OtlpSignal;
use super::spans::TracesBody;
use crate::domain::Timestamp;

/// The body of a request.
#[derive(Clone, Debug)]
pub(super) struct EncodedBody {
    pub(super) bytes: Bytes,
    /// Number of data points, log records or spans in it.
    pub(super) items: usize,
    /// Its size before compression.
    pub(super) json_bytes: usize,
    /// Whether it is compressed with gzip.
    pub(super) is_gzip: bool,
}

/// Encodes what `checks` have of `signal`, compressed with gzip if `compresses`; `None` when they have nothing of it.
///
/// # Errors
/// Fails when a value cannot be written as JSON, which is a bug.
pub(super) fn encode_body(
    signal: OtlpSignal,
    resource: &Resource,
    checks: &[ExportedCheck],
    now: Timestamp,
    compresses: bool,
) -> Result<Option<EncodedBody>, std::io::Error> {
    match signal {
        OtlpSignal::Metrics => {
            let attributes = point_attributes(checks);
            finish(MetricsBody::new(resource, checks, &attributes), compresses)
        }
        OtlpSignal::Logs => finish(LogsBody::new(resource, checks, now), compresses),
        OtlpSignal::Traces => finish(TracesBody::new(resource, checks), compresses),
    }
}

fn finish<T: Serialize>(
    (body, items): (T, usize),
    compresses: bool,
) -> Result<Option<EncodedBody>, std::io::Error> {
    if items == 0 {
        return Ok(None);
    }
    let json = serde_json::to_vec(&body)?;
    let json_bytes = json.len();
    let bytes = if compresses {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&json)?;
        encoder.finish()?
    } else {
        json
    };
    Ok(Some(EncodedBody { bytes: bytes.into(), items, json_bytes, is_gzip: compresses }))
}
