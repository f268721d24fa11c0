//! Formats the value of a record as in zone files.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hickory_proto::rr::{RData, Record, RecordType};

use crate::domain::replace_control_chars;

/// Longest value that a result keeps, in characters.
const MAX_VALUE_CHARS: usize = 500;

/// Returns the whole value of `record`.
pub(super) fn zone_file_value(record: &Record) -> String {
    // Not every record can be formatted; that must not end the check.
    let mut text = String::new();
    let result = match &record.data {
        RData::Unknown { code, rdata } => write_unknown(&mut text, *code, &rdata.anything),
        data => write!(text, "{data}"),
    };
    if result.is_err() {
        text.push('?');
    }
    replace_control_chars(&text)
}

/// Returns the value of `record`, truncated for results.
pub(super) fn truncated_zone_file_value(record: &Record) -> String {
    let full_text = zone_file_value(record);
    match full_text.char_indices().nth(MAX_VALUE_CHARS) {
        None => full_text,
        Some((end, _)) => format!("{}…", &full_text[..end]),
    }
}

/// Formats types that the library does not know: keys and their digests (RFC 4034 2.2 and 5.3), and others as in RFC
/// 3597 5.
fn write_unknown(text: &mut String, record_type: RecordType, bytes: &[u8]) -> std::fmt::Result {
    match (record_type, bytes) {
        (RecordType::DNSKEY, [high, low, protocol, algorithm, key @ ..]) => {
            let flags = u16::from_be_bytes([*high, *low]);
            write!(text, "{flags} {protocol} {algorithm} {}", STANDARD.encode(key))
        }
        (RecordType::DS, [high, low, algorithm, digest_type, digest @ ..]) => {
            let tag = u16::from_be_bytes([*high, *low]);
            write!(text, "{tag} {algorithm} {digest_type} {}", upper_hex(digest))
        }
        _ => write!(text, "\\# {} {}", bytes.len(), upper_hex(bytes)),
    }
}

fn upper_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Name;
    use hickory_proto::rr::rdata::{NULL, TXT};

    use super::*;

    fn record(record_type: RecordType, bytes: &[u8]) -> Record {
        let rdata = NULL::with(bytes.to_vec());
        Record::from_rdata(Name::root(), 1, RData::Unknown { code: record_type, rdata })
    }

    #[test]
    fn keys_and_digests_are_written_as_in_zone_files() {
        assert_eq!(zone_file_value(&record(RecordType::DNSKEY, &[1, 1, 3, 13, 0, 0, 1])), "257 3 13 AAAB");
        assert_eq!(
            zone_file_value(&record(RecordType::DS, &[0xec, 0x45, 5, 1, 0x2b, 0xb1])),
            "60485 5 1 2BB1"
        );
        assert_eq!(zone_file_value(&record(RecordType::DS, &[1])), "\\# 1 01");
        assert_eq!(zone_file_value(&record(RecordType::Unknown(65_280), &[1, 2])), "\\# 2 0102");
    }

    #[test]
    fn a_result_keeps_the_start_of_a_long_value() {
        let text = RData::TXT(TXT::new(vec!["é".repeat(120); 200]));
        let record = Record::from_rdata(Name::root(), 1, text);
        assert_eq!(truncated_zone_file_value(&record).chars().count(), MAX_VALUE_CHARS + 1);
        assert!(zone_file_value(&record).len() > 20_000);
    }
}
