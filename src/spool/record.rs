//! One record and its form on disk: length and CRC-32 of the rest as 32-bit numbers, then when it was written in
//! microseconds and the id of its check as 64-bit numbers, then the content. Numbers are little-endian.

use crate::domain::{CheckId, Timestamp};

/// Bytes of length and checksum.
const PREFIX_BYTES: usize = 8;
/// Bytes of time and id.
const HEAD_BYTES: usize = 16;
/// Most bytes of a record; a longer length is damage.
const MAX_RECORD_BYTES: usize = 256 * 1024 * 1024;

/// A result or a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolRecord {
    /// The check that it belongs to.
    pub check_id: CheckId,
    /// Its content, in a form that only the writer and the reader know.
    pub content: Vec<u8>,
}

/// A record as it was read.
pub(super) struct DecodedRecord {
    pub(super) record: SpoolRecord,
    pub(super) written_at: Timestamp,
    /// Its bytes on disk.
    pub(super) byte_count: usize,
}

impl SpoolRecord {
    /// Returns its bytes on disk.
    pub(super) fn encode(&self, written_at: Timestamp) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + HEAD_BYTES + self.content.len());
        bytes.extend([0; PREFIX_BYTES]);
        bytes.extend(written_at.as_micros().to_le_bytes());
        bytes.extend(self.check_id.0.to_le_bytes());
        bytes.extend(&self.content);
        let length = u32::try_from(bytes.len() - PREFIX_BYTES).unwrap_or(u32::MAX);
        let checksum = crc32fast::hash(&bytes[PREFIX_BYTES..]);
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes[4..PREFIX_BYTES].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Returns the number of its bytes on disk.
    pub(super) const fn byte_count(&self) -> usize {
        PREFIX_BYTES + HEAD_BYTES + self.content.len()
    }

    /// Whether it would be taken for damage when it is read.
    pub(super) const fn is_too_long(&self) -> bool {
        self.content.len() > MAX_RECORD_BYTES - HEAD_BYTES
    }

    /// Decodes the record at the start of `bytes`; `None` when it is cut off or damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<DecodedRecord> {
        let length = read_length(bytes)?;
        let checksum = u32::from_le_bytes(bytes.get(4..PREFIX_BYTES)?.try_into().ok()?);
        let body = bytes.get(PREFIX_BYTES..PREFIX_BYTES + length)?;
        if crc32fast::hash(body) != checksum {
            return None;
        }
        let (head, content) = body.split_at_checked(HEAD_BYTES)?;
        let (written_at, check_id) = head.split_at(8);
        Some(DecodedRecord {
            record: Self {
                check_id: CheckId(u64::from_le_bytes(check_id.try_into().ok()?)),
                content: content.to_vec(),
            },
            written_at: Timestamp::from_micros(i64::from_le_bytes(written_at.try_into().ok()?)),
            byte_count: PREFIX_BYTES + length,
        })
    }
}

fn read_length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    usize::try_from(length).ok().filter(|length| (HEAD_BYTES..=MAX_RECORD_BYTES).contains(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_and_every_damage_of_it_is_found() {
        let record = SpoolRecord { check_id: CheckId(0x1234_5678_9abc_def0), content: b"content".to_vec() };
        let written_at = Timestamp::from_seconds(1_800_000_000);
        let bytes = record.encode(written_at);
        let decoded = SpoolRecord::decode(&bytes).unwrap();
        assert_eq!(
            (decoded.record, decoded.written_at, decoded.byte_count),
            (record, written_at, bytes.len())
        );
        for end in 0..bytes.len() {
            assert!(SpoolRecord::decode(&bytes[..end]).is_none(), "cut off at {end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(SpoolRecord::decode(&damaged).is_none(), "bit {bit}");
        }
        assert!(SpoolRecord::decode(&[0; 64]).is_none(), "a tail of zeros, as some file systems leave it");
    }
}
