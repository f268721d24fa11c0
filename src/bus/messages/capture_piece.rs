//! Captured files in pieces, which follow their result.

use bytes::Bytes;
use prost::Message;

use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::{FieldOf, micros};
use super::message_kind::MessageKind;
use crate::domain::{CapturedFile, CheckId, CheckResult, LocationId, MonitorId, RunId, Timestamp};

/// Most bytes of content in one piece.
pub(super) const MAX_PIECE_BYTES: usize = 512 * 1024;
/// Most bytes of a file.
pub(super) const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Most bytes of the name of a file, and of its media type.
const MAX_NAME_BYTES: usize = 1024;

/// A piece of a file.
#[derive(Clone, PartialEq, Message)]
pub struct CapturePieceMessage {
    /// Id of the check.
    #[prost(fixed64, tag = "1")]
    pub check_id: u64,
    /// Id of its monitor.
    #[prost(int64, tag = "2")]
    pub monitor_id: i64,
    /// Its location.
    #[prost(int64, tag = "3")]
    pub location_id: i64,
    /// Planned time of its run.
    #[prost(sfixed64, tag = "4")]
    pub planned_at_us: i64,
    /// Name of the file.
    #[prost(string, tag = "5")]
    pub name: String,
    /// Media type of the file.
    #[prost(string, tag = "6")]
    pub media_type: String,
    /// Size of the file.
    #[prost(uint64, tag = "7")]
    pub file_bytes: u64,
    /// Where the piece starts in the file.
    #[prost(uint64, tag = "8")]
    pub offset: u64,
    /// The piece.
    #[prost(bytes = "bytes", tag = "9")]
    pub content: Bytes,
    /// Whether it is the last piece of the last file of its check.
    #[prost(bool, tag = "10")]
    pub is_last: bool,
}

impl BusMessage for CapturePieceMessage {
    const KIND: MessageKind = MessageKind::CapturePiece;
}

const fn field(name: &'static str) -> FieldOf {
    FieldOf(MessageKind::CapturePiece, name)
}

/// Returns the captures of `result` in pieces, file after file. A file without content, or one that is too large, has
/// none.
pub fn capture_pieces(result: &CheckResult) -> impl Iterator<Item = CapturePieceMessage> + '_ {
    result.captures.iter().flat_map(move |file| file_pieces(result, file))
}

fn file_pieces(result: &CheckResult, file: &CapturedFile) -> Vec<CapturePieceMessage> {
    let Some(content) = file.content.as_deref().filter(|content| content.len() as u64 <= MAX_FILE_BYTES)
    else {
        return Vec::new();
    };
    let piece = |offset: usize, content: &[u8]| CapturePieceMessage {
        check_id: result.check_id.0,
        monitor_id: result.monitor_id.0,
        location_id: result.location_id.0,
        planned_at_us: micros(result.planned_at),
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        file_bytes: file.content.as_ref().map_or(0, |content| content.len() as u64),
        offset: offset as u64,
        content: Bytes::copy_from_slice(content),
        is_last: false,
    };
    if content.is_empty() {
        return vec![piece(0, &[])];
    }
    let pieces = content.chunks(MAX_PIECE_BYTES).enumerate();
    pieces.map(|(index, content)| piece(index * MAX_PIECE_BYTES, content)).collect()
}

impl CapturePieceMessage {
    /// Checks that its fields fit together.
    pub(super) fn validate(&self) -> Result<(), MessageError> {
        let run_id = RunId::new(MonitorId(self.monitor_id), Timestamp::from_micros(self.planned_at_us));
        if CheckId(self.check_id) != CheckId::new(run_id, LocationId(self.location_id)) {
            let reason = "it is not the check of its monitor, planned time and location";
            return Err(field("check_id").invalid(reason));
        }
        for (name, text) in [("name", &self.name), ("media_type", &self.media_type)] {
            if text.is_empty() || text.len() > MAX_NAME_BYTES {
                return Err(
                    field(name).invalid(format!("it has {} bytes, not 1 to {MAX_NAME_BYTES}", text.len()))
                );
            }
        }
        if self.name.contains(['/', '\0']) {
            return Err(field("name").invalid("it is a path"));
        }
        if self.file_bytes > MAX_FILE_BYTES {
            return Err(field("file_bytes").invalid(format!("it is more than {MAX_FILE_BYTES}")));
        }
        if self.content.len() > MAX_PIECE_BYTES {
            return Err(field("content").invalid(format!("it has more than {MAX_PIECE_BYTES} bytes")));
        }
        if self.offset.saturating_add(self.content.len() as u64) > self.file_bytes {
            return Err(field("offset").invalid("the piece goes beyond the end of the file"));
        }
        Ok(())
    }
}
