//! The form of a result in the spool: its JSON, and each capture as the length of its metadata (32 bits,
//! little-endian), the metadata as JSON, and the content.

use crate::domain::{CapturedFile, CheckResult};
use crate::spool::SpoolRecord;

/// Encodes `result` and its captures.
pub(super) fn encode_result(result: &CheckResult) -> (SpoolRecord, Vec<SpoolRecord>) {
    let check_id = result.check_id;
    let captures = result.captures.iter().filter_map(|capture| {
        Some(SpoolRecord { check_id, content: encode_capture(capture, capture.content.as_deref()?) })
    });
    let captures = captures.collect();
    // A value that JSON cannot hold makes the result unreadable, which is told when it is read.
    let content = serde_json::to_vec(result).unwrap_or_default();
    (SpoolRecord { check_id, content }, captures)
}

fn encode_capture(capture: &CapturedFile, content: &[u8]) -> Vec<u8> {
    let metadata = serde_json::to_vec(capture).unwrap_or_default();
    let length = u32::try_from(metadata.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), metadata.as_slice(), content].concat()
}

/// Decodes a result with those of its captures that were kept.
///
/// # Errors
/// Fails when the result is not what [`encode_result`] wrote.
pub(super) fn decode_result(
    record: &SpoolRecord,
    captures: &[SpoolRecord],
) -> Result<CheckResult, serde_json::Error> {
    let mut result: CheckResult = serde_json::from_slice(&record.content)?;
    result.captures = captures.iter().filter_map(|capture| decode_capture(&capture.content)).collect();
    Ok(result)
}

fn decode_capture(bytes: &[u8]) -> Option<CapturedFile> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (metadata, content) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let capture: CapturedFile = serde_json::from_slice(metadata).ok()?;
    Some(CapturedFile { content: Some(content.into()), ..capture })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::{
        CheckMetadata, LocationId, MonitorId, MonitorType, Outcome, Revision, Status, Timestamp, Verdict,
    };

    #[test]
    fn a_result_is_the_same_after_the_spool_with_the_captures_that_were_kept() {
        let metadata = CheckMetadata {
            monitor_id: MonitorId(7),
            monitor_name: Arc::from("Shop \u{1f6d2}"),
            revision: Revision(1),
            monitor_type: MonitorType::Website,
            location_id: LocationId(2),
        };
        let verdict = Verdict {
            outcome: Outcome::Error,
            status: Status(3),
            warning_status: None,
            reasons: vec!["it \"failed\"\n".to_owned()],
        };
        let at = Timestamp::from_seconds(1_800_000_000);
        let captures = vec![
            CapturedFile::new("page", "text/html", b"<p>\0\xff"),
            CapturedFile::new("empty", "text/plain", b""),
        ];
        let result = CheckResult { captures, ..CheckResult::without_attempts(metadata, at, at, verdict) };
        let (record, capture_records) = encode_result(&result);
        assert_eq!(decode_result(&record, &capture_records).unwrap(), result);
        let result_without_second_capture = decode_result(&record, &capture_records[..1]).unwrap();
        assert_eq!(result_without_second_capture.captures, result.captures[..1]);
        let truncated_record = SpoolRecord { content: record.content[..20].to_vec(), ..record };
        decode_result(&truncated_record, &[]).unwrap_err();
        for end in 0..capture_records[0].content.len() {
            let _ = decode_capture(&capture_records[0].content[..end]);
        }
    }
}
