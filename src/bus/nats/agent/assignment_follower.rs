//! Follows the assignments of the location: from the snapshot, or from what was applied before, on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures::StreamExt;

use super::agent_parts::AgentParts;
use crate::bus::contract::{
    AppliedPosition, AssignmentBatch, AssignmentError, AssignmentRevision, AssignmentSnapshot,
    AssignmentUpdate, RefusedAssignment,
};
use crate::bus::messages::{
    AssignmentsMessage, BusMessage, RefusedAssignmentMessage, Sealer, SnapshotLocationMessage,
    SnapshotReader, WatchReplyMessage, WatchRequestMessage,
};
use crate::bus::nats::connection::NatsError;
use crate::bus::nats::read_to_end::read_to_end;
use crate::bus::nats::snapshot_object::{SnapshotError, read_snapshot};
use crate::bus::nats::subjects::{ASSIGNMENTS_STREAM, AgentSubject, assignments_consumer};

const FOLLOW: &str = "return the assignments";
/// Most messages that are applied at once.
const MAX_MESSAGES: usize = 256;
/// How long a request for messages stands.
const FETCH_EXPIRES: Duration = Duration::from_secs(30);
/// Within this time the server shows that it is there.
const FETCH_HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a reply may take. A request may be lost with its connection; a snapshot that takes longer is ready at the next.
const WATCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Follows the assignments until an error or the end of the messages; then call it again.
pub(super) async fn run(parts: &Arc<AgentParts>) -> Result<(), NatsError> {
    while follow(parts).await? {}
    Ok(())
}

/// Follows the assignments from where the agent is; returns whether it has to start again from the snapshot.
async fn follow(parts: &Arc<AgentParts>) -> Result<bool, NatsError> {
    let applied = parts.position.borrow().clone();
    let reply = request_watch(parts, &applied).await?;
    if let Some(snapshot) = &reply.snapshot {
        apply_snapshot(parts, &reply.stream_id, snapshot).await?;
    }
    let consumer = assignments_consumer(parts.identity.agent_id);
    let consumer: PullConsumer = parts
        .connection
        .jetstream()
        .get_consumer_from_stream(consumer, ASSIGNMENTS_STREAM)
        .await
        .map_err(NatsError::of(FOLLOW))?;
    if reply.snapshot.is_none() && applied.stream_id != reply.stream_id {
        apply_all_entries(parts, reply.stream_id, &consumer).await?;
    }
    let stream = consumer.stream().expires(FETCH_EXPIRES).heartbeat(FETCH_HEARTBEAT);
    let messages = stream.messages().await.map_err(NatsError::of(FOLLOW))?;
    let mut chunks = std::pin::pin!(messages.ready_chunks(MAX_MESSAGES));
    while let Some(chunk) = chunks.next().await {
        let chunk: Result<Vec<Message>, _> = chunk.into_iter().collect();
        if apply_messages(parts, chunk.map_err(NatsError::of(FOLLOW))?).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn request_watch(
    parts: &AgentParts,
    applied: &AppliedPosition,
) -> Result<WatchReplyMessage, NatsError> {
    let AppliedPosition { stream_id, revision: applied_revision } = applied.clone();
    let damaged_snapshot = parts.damaged_snapshot.load(Ordering::Relaxed);
    let request = WatchRequestMessage { applied_revision, stream_id, damaged_snapshot };
    let bytes = request.to_bytes().map_err(NatsError::of(FOLLOW))?;
    let subject = AgentSubject::Watch.of(parts.identity.location_id, parts.identity.agent_id);
    let request = async_nats::Request::new().payload(bytes.into()).timeout(Some(WATCH_TIMEOUT));
    let reply = parts.connection.client().send_request(subject, request).await;
    let reply = reply.map_err(NatsError::of(FOLLOW))?;
    let reply = WatchReplyMessage::from_bytes(&reply.payload).map_err(NatsError::of(FOLLOW))?;
    if reply.error.is_empty() { Ok(reply) } else { Err(NatsError::of(FOLLOW)(reply.error)) }
}

async fn apply_snapshot(
    parts: &Arc<AgentParts>,
    stream_id: &str,
    location: &SnapshotLocationMessage,
) -> Result<(), NatsError> {
    let bytes = match read_snapshot(&parts.connection, parts.identity.location_id, &location.object).await {
        Ok(bytes) => bytes,
        Err(SnapshotError::Bus(error)) => return Err(error),
        // The control plane makes a new one; until then, what is applied stays.
        Err(error) => {
            parts.damaged_snapshot.store(location.revision, Ordering::Relaxed);
            return Err(NatsError::of(FOLLOW)(error));
        }
    };
    let mut reader = SnapshotReader::default();
    reader.push(&bytes, parts.sealer.as_ref()).map_err(NatsError::of(FOLLOW))?;
    let snapshot = reader.finish().map_err(NatsError::of(FOLLOW))?;
    parts.damaged_snapshot.store(0, Ordering::Relaxed);
    let position = AppliedPosition { stream_id: stream_id.to_owned(), revision: snapshot.revision.0 };
    tracing::info!(
        revision = position.revision,
        updates = snapshot.updates.len(),
        "applying a snapshot of the assignments"
    );
    let refused = parts.port.apply_snapshot(snapshot).await.map_err(NatsError::of(FOLLOW))?;
    parts.assignment_storage.replace(&position, bytes);
    parts.position.send_replace(position);
    report_refused(parts, refused).await;
    Ok(())
}

/// Starts from the entries of a stream without a snapshot of the location: it has the newest one of each key. As a whole,
/// so that what no entry names is not checked any more.
async fn apply_all_entries(
    parts: &Arc<AgentParts>,
    stream_id: String,
    consumer: &PullConsumer,
) -> Result<(), NatsError> {
    let mut entries = Entries::default();
    read_to_end(consumer, FOLLOW, |message| {
        if entries.add(&message, parts.sealer.as_ref())? {
            return Err(NatsError::of(FOLLOW)("a snapshot was made meanwhile"));
        }
        Ok(())
    })
    .await?;
    let Entries { revision, updates, bytes } = entries;
    let position = AppliedPosition { stream_id, revision: revision.0 };
    let snapshot = AssignmentSnapshot { revision, updates };
    let refused = parts.port.apply_snapshot(snapshot).await.map_err(NatsError::of(FOLLOW))?;
    parts.assignment_storage.restart(&position, bytes);
    parts.position.send_replace(position);
    report_refused(parts, refused).await;
    Ok(())
}

/// Entries that were read and not applied yet.
#[derive(Default)]
struct Entries {
    /// The revision after them.
    revision: AssignmentRevision,
    updates: Vec<AssignmentUpdate>,
    bytes: Vec<Vec<u8>>,
}

impl Entries {
    /// Adds an entry, unless it is in what is applied; returns whether the agent has to start again from the snapshot.
    fn add(&mut self, message: &Message, sealer: &dyn Sealer) -> Result<bool, NatsError> {
        let sequence = message.info().map_err(NatsError::of(FOLLOW))?.stream_sequence;
        if sequence <= self.revision.0 {
            return Ok(false);
        }
        let mut needs_snapshot = false;
        let decoded = AssignmentsMessage::from_bytes(&message.payload).and_then(|decoded| {
            needs_snapshot = decoded.needs_snapshot;
            decoded.into_batch(sealer)
        });
        if needs_snapshot {
            return Ok(true);
        }
        match decoded {
            Ok(batch) => self.updates.extend(batch.updates),
            // The others are applied: one that this version cannot read must not stop the location.
            Err(error) => {
                tracing::error!(error = %error, revision = sequence, "an assignment cannot be used");
            }
        }
        self.bytes.push(message.payload.to_vec());
        self.revision = AssignmentRevision(sequence);
        Ok(false)
    }
}

/// Applies entries; returns whether the agent has to start again from the snapshot.
async fn apply_messages(parts: &Arc<AgentParts>, messages: Vec<Message>) -> Result<bool, NatsError> {
    let previous_revision = AssignmentRevision(parts.position.borrow().revision);
    let mut entries = Entries { revision: previous_revision, ..Entries::default() };
    let mut needs_snapshot = false;
    for message in messages {
        needs_snapshot = entries.add(&message, parts.sealer.as_ref())?;
        if needs_snapshot {
            break;
        }
    }
    let Entries { revision, updates, bytes } = entries;
    if revision != previous_revision {
        let batch = AssignmentBatch { previous_revision, revision, updates };
        let refused = parts.port.apply_batch(batch).await.map_err(|error: AssignmentError| {
            // It starts again from a snapshot.
            parts.position.send_modify(|position| position.stream_id.clear());
            NatsError::of(FOLLOW)(error)
        })?;
        parts.assignment_storage.append(revision.0, bytes);
        parts.position.send_modify(|position| position.revision = revision.0);
        report_refused(parts, refused).await;
    }
    Ok(needs_snapshot)
}

/// Tells the control plane about monitors that cannot be checked here.
async fn report_refused(parts: &AgentParts, refused: Vec<RefusedAssignment>) {
    let subject = AgentSubject::Refused.of(parts.identity.location_id, parts.identity.agent_id);
    for refused in refused {
        tracing::error!(
            monitor_id = refused.monitor_id.0,
            error = refused.error,
            "a monitor cannot be checked here"
        );
        let Ok(bytes) = RefusedAssignmentMessage::from(refused).to_bytes() else { continue };
        if let Err(error) = parts.connection.client().publish(subject.clone(), bytes.into()).await {
            tracing::debug!(error = %error, "a report to the control plane was not sent");
        }
    }
}
