//! Puts the pieces of captured files together.

use std::collections::VecDeque;

use super::capture_piece::CapturePieceMessage;
use super::error::MessageError;
use super::field::FieldOf;
use super::message_kind::MessageKind;
use crate::bus::contract::ResultCaptures;
use crate::domain::{CapturedFile, CheckId, LocationId, MonitorId, Timestamp};

/// Most files whose pieces are coming in; a sender finishes one before the next.
const MAX_FILES: usize = 64;

/// Files whose pieces are coming in, bounded by bytes and number. The pieces of a file must come in their order; a repeated
/// piece is ignored.
#[derive(Debug)]
pub struct CaptureAssembler {
    max_bytes: usize,
    /// In the order of their first pieces.
    files: VecDeque<PartialFile>,
    dropped_files: usize,
}

#[derive(Debug)]
struct PartialFile {
    check_id: u64,
    name: String,
    content: Vec<u8>,
}

impl CaptureAssembler {
    /// Creates an assembler that holds `max_bytes` and 64 files at most; beyond, the files that began first are dropped.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, files: VecDeque::new(), dropped_files: 0 }
    }

    /// Adds a piece; returns its file with the last one.
    ///
    /// # Errors
    /// Fails for a piece whose fields do not fit together, or before which one is missing.
    pub fn add(&mut self, piece: CapturePieceMessage) -> Result<Option<ResultCaptures>, MessageError> {
        piece.validate()?;
        let is_of_file = |file: &PartialFile| file.check_id == piece.check_id && file.name == piece.name;
        let position = self.files.iter().position(is_of_file);
        let mut file = position.and_then(|position| self.files.remove(position)).unwrap_or_else(|| {
            PartialFile { check_id: piece.check_id, name: piece.name.clone(), content: Vec::new() }
        });
        let held_bytes = file.content.len() as u64;
        if piece.offset > held_bytes {
            let reason = format!("the file has {held_bytes} bytes so far: a piece before it is missing");
            return Err(FieldOf(MessageKind::CapturePiece, "offset").invalid(reason));
        }
        if piece.offset == held_bytes {
            file.content.extend_from_slice(&piece.content);
        }
        if file.content.len() as u64 == piece.file_bytes {
            return Ok(Some(complete(piece, &file.content)));
        }
        self.files.push_back(file);
        self.drop_excess();
        Ok(None)
    }

    /// Returns how many files were dropped since the last call, since too many bytes were held.
    pub fn take_dropped(&mut self) -> usize {
        std::mem::take(&mut self.dropped_files)
    }

    /// Returns the bytes of the files whose pieces are coming in.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.files.iter().map(PartialFile::held_bytes).sum()
    }

    /// Drops all files whose pieces are coming in.
    pub fn clear(&mut self) {
        self.dropped_files += self.files.len();
        self.files.clear();
    }

    fn drop_excess(&mut self) {
        while self.files.len() > MAX_FILES || self.held_bytes() > self.max_bytes {
            self.files.pop_front();
            self.dropped_files += 1;
        }
    }
}

impl PartialFile {
    /// Counts what the file takes beside its content too, so that empty ones are bounded.
    fn held_bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.content.len()
    }
}

fn complete(piece: CapturePieceMessage, content: &[u8]) -> ResultCaptures {
    ResultCaptures {
        check_id: CheckId(piece.check_id),
        monitor_id: MonitorId(piece.monitor_id),
        location_id: LocationId(piece.location_id),
        planned_at: Timestamp::from_micros(piece.planned_at_us),
        files: vec![CapturedFile::new(&piece.name, piece.media_type, content)],
    }
}
