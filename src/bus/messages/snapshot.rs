//! A snapshot of what a location checks: a header, and one message of assignments after the other. It may be larger
//! than a message, so it is read piece by piece, and one that was cut off is found.

use prost::Message;

use super::assignments::{AssignmentUpdateMessage, AssignmentsMessage};
use super::encoded_message::{BusMessage, EncodedMessage};
use super::error::MessageError;
use super::field::FieldOf;
use super::message_kind::MessageKind;
use super::sealer::Sealer;
use crate::bus::contract::{AssignmentRevision, AssignmentSnapshot, AssignmentUpdate};

/// The largest sum of updates in one message of a snapshot; a single update may be larger.
const CHUNK_BYTES: usize = 256 * 1024;

/// The start of a snapshot.
#[derive(Clone, PartialEq, Message)]
pub struct SnapshotHeaderMessage {
    /// The revision that the snapshot shows.
    #[prost(uint64, tag = "1")]
    pub revision: u64,
    /// Number of updates that follow.
    #[prost(uint64, tag = "2")]
    pub update_count: u64,
}

impl BusMessage for SnapshotHeaderMessage {
    const KIND: MessageKind = MessageKind::SnapshotHeader;
}

/// Encodes `snapshot`: each message, after its length as 32-bit number, little-endian, is passed to `write`; `to_message` makes that of
/// an update.
///
/// # Errors
/// Fails for an update that is too large for a message, and for an account whose time zone has no name.
pub fn encode_snapshot(
    snapshot: &AssignmentSnapshot,
    mut to_message: impl FnMut(&AssignmentUpdate) -> Result<AssignmentUpdateMessage, MessageError>,
    mut write: impl FnMut(&[u8]),
) -> Result<(), MessageError> {
    let revision = snapshot.revision.0;
    let header = SnapshotHeaderMessage { revision, update_count: snapshot.updates.len() as u64 };
    write_message(&header, &mut write)?;
    let new_chunk = || AssignmentsMessage {
        previous_revision: revision,
        revision,
        updates: Vec::new(),
        needs_snapshot: false,
    };
    let (mut chunk, mut chunk_bytes) = (new_chunk(), 0);
    for update in &snapshot.updates {
        let update = to_message(update)?;
        let bytes = update.encoded_len();
        if chunk_bytes + bytes > CHUNK_BYTES && !chunk.updates.is_empty() {
            write_message(&std::mem::replace(&mut chunk, new_chunk()), &mut write)?;
            chunk_bytes = 0;
        }
        chunk.updates.push(update);
        chunk_bytes += bytes;
    }
    if !chunk.updates.is_empty() {
        write_message(&chunk, &mut write)?;
    }
    Ok(())
}

fn write_message(message: &impl BusMessage, write: &mut impl FnMut(&[u8])) -> Result<(), MessageError> {
    let bytes = message.to_bytes()?;
    // The largest message has less than 4 GiB.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    write(&length.to_le_bytes());
    write(&bytes);
    Ok(())
}

/// Reads a snapshot as its bytes come in.
#[derive(Debug, Default)]
pub struct SnapshotReader {
    parts: SnapshotParts,
    updates: Vec<AssignmentUpdate>,
}

impl SnapshotReader {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// Fails for bytes that are no part of a snapshot.
    pub fn push(&mut self, bytes: &[u8], sealer: &dyn Sealer) -> Result<(), MessageError> {
        let Self { parts, updates } = self;
        parts.push(bytes, |update| {
            updates.push(update.into_update(sealer)?);
            Ok(())
        })
    }

    /// Returns the snapshot once all bytes were taken.
    ///
    /// # Errors
    /// Fails when it was cut off.
    pub fn finish(self) -> Result<AssignmentSnapshot, MessageError> {
        Ok(AssignmentSnapshot { revision: self.parts.finish()?, updates: self.updates })
    }
}

/// Returns the revision and the updates of a snapshot, still sealed.
///
/// # Errors
/// Fails for bytes that are not a whole snapshot.
pub fn read_sealed_snapshot(
    bytes: &[u8],
) -> Result<(AssignmentRevision, Vec<AssignmentUpdateMessage>), MessageError> {
    let (mut parts, mut updates) = (SnapshotParts::default(), Vec::new());
    parts.push(bytes, |update| {
        updates.push(update);
        Ok(())
    })?;
    Ok((parts.finish()?, updates))
}

/// Takes a snapshot apart as its bytes come in.
#[derive(Debug, Default)]
struct SnapshotParts {
    buffer: Vec<u8>,
    header: Option<SnapshotHeaderMessage>,
    /// Number of updates so far.
    update_count: u64,
}

impl SnapshotParts {
    /// Takes the next bytes, and hands each update to `take`.
    fn push(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(AssignmentUpdateMessage) -> Result<(), MessageError>,
    ) -> Result<(), MessageError> {
        self.buffer.extend_from_slice(bytes);
        let mut consumed = 0;
        while let Some((length, rest)) = self.buffer[consumed..].split_first_chunk() {
            let length = u32::from_le_bytes(*length) as usize;
            let limit = MessageKind::Assignments.max_bytes() + CHUNK_BYTES;
            if length > limit {
                return Err(MessageError::TooLarge { kind: MessageKind::Assignments, bytes: length, limit });
            }
            let Some(message) = rest.get(..length) else { break };
            let message = EncodedMessage::parse(message.to_vec())?;
            consumed += 4 + length;
            self.read_message(&message, &mut take)?;
        }
        self.buffer.drain(..consumed);
        Ok(())
    }

    fn read_message(
        &mut self,
        message: &EncodedMessage,
        take: &mut impl FnMut(AssignmentUpdateMessage) -> Result<(), MessageError>,
    ) -> Result<(), MessageError> {
        let Some(header) = &self.header else {
            self.header = Some(message.decode::<SnapshotHeaderMessage>()?);
            return Ok(());
        };
        let chunk: AssignmentsMessage = message.decode()?;
        if chunk.revision != header.revision {
            let reason = format!("it is {}, in a snapshot of revision {}", chunk.revision, header.revision);
            return Err(FieldOf(MessageKind::Assignments, "revision").invalid(reason));
        }
        for update in chunk.updates {
            take(update)?;
            self.update_count += 1;
        }
        Ok(())
    }

    /// Returns the revision once all bytes were taken.
    fn finish(self) -> Result<AssignmentRevision, MessageError> {
        let (kind, found) = (MessageKind::SnapshotHeader, self.update_count);
        let cut_off = |reason| MessageError::Malformed { kind: Some(kind), reason };
        let header = self.header.ok_or_else(|| cut_off("the snapshot is empty".to_owned()))?;
        if found != header.update_count || !self.buffer.is_empty() {
            let reason = format!("the snapshot was cut off: {found} of {} updates", header.update_count);
            return Err(cut_off(reason));
        }
        Ok(AssignmentRevision(header.revision))
    }
}
