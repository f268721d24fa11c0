//! Follows the assignments of the location: from the snapshot, or from what was applied before, on.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures::StreamExt;

use super::agent_parts::AgentParts;
use super::snapshot_download::download;
use crate::bus::contract::{
    AppliedPosition, AssignmentBatch, AssignmentError, AssignmentRevision, RefusedAssignment,
};
use crate::bus::messages::{
    AssignmentsMessage, BusMessage, RefusedAssignmentMessage, SnapshotReader, WatchReplyMessage,
    WatchRequestMessage,
};
use crate::bus::nats::connection::NatsError;
use crate::bus::nats::subjects::{ASSIGNMENTS_STREAM, AgentSubject, assignments_consumer};

const FOLLOW: &str = "return the assignments";
/// Most messages that are applied at once.
const MAX_MESSAGES: usize = 256;
/// How long a request for messages stands.
const FETCH_EXPIRES: Duration = Duration::from_secs(30);
/// Within this time the server shows that it is there.
const FETCH_HEARTBEAT: Duration = Duration::from_secs(5);
/// How long the control plane may take to prepare a snapshot.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30);

/// Follows the assignments until an error or the end of the messages; then call it again.
pub(super) async fn run(parts: &Arc<AgentParts>) -> Result<(), NatsError> {
    while follow(parts).await? {}
    Ok(())
}

/// Follows the assignments from where the agent is; returns whether it has to start again from the snapshot.
async fn follow(parts: &Arc<AgentParts>) -> Result<bool, NatsError> {
    let applied = parts.position.lock().clone();
    let reply = request_watch(parts, &applied).await?;
    if let Some(snapshot) = &reply.snapshot {
        apply_snapshot(parts, &reply.stream_id, &snapshot.object).await?;
    } else if applied.stream_id != reply.stream_id {
        // A stream without anything for this location yet.
        *parts.position.lock() = AppliedPosition { stream_id: reply.stream_id, revision: 0 };
    }
    let consumer = assignments_consumer(parts.identity.agent_id);
    let consumer: PullConsumer = parts
        .connection
        .jetstream()
        .get_consumer_from_stream(consumer, ASSIGNMENTS_STREAM)
        .await
        .map_err(NatsError::of(FOLLOW))?;
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
    let request = WatchRequestMessage { applied_revision, stream_id };
    let bytes = request.to_bytes().map_err(NatsError::of(FOLLOW))?;
    let subject = AgentSubject::Watch.of(parts.identity.location_id, parts.identity.agent_id);
    let request = async_nats::Request::new().payload(bytes.into()).timeout(Some(WATCH_TIMEOUT));
    let reply = parts.connection.client().send_request(subject, request).await;
    let reply = reply.map_err(NatsError::of(FOLLOW))?;
    let reply = WatchReplyMessage::from_bytes(&reply.payload).map_err(NatsError::of(FOLLOW))?;
    if reply.error.is_empty() { Ok(reply) } else { Err(NatsError::of(FOLLOW)(reply.error)) }
}

async fn apply_snapshot(parts: &Arc<AgentParts>, stream_id: &str, object: &str) -> Result<(), NatsError> {
    let bytes = download(&parts.connection, parts.identity.location_id, object).await?;
    let mut reader = SnapshotReader::default();
    reader.push(&bytes, parts.sealer.as_ref()).map_err(NatsError::of(FOLLOW))?;
    let snapshot = reader.finish().map_err(NatsError::of(FOLLOW))?;
    let position = AppliedPosition { stream_id: stream_id.to_owned(), revision: snapshot.revision.0 };
    tracing::info!(
        revision = position.revision,
        updates = snapshot.updates.len(),
        "applying a snapshot of the assignments"
    );
    let refused = parts.port.apply_snapshot(snapshot).await.map_err(NatsError::of(FOLLOW))?;
    parts.assignment_storage.replace(&position, bytes);
    *parts.position.lock() = position;
    report_refused(parts, refused).await;
    Ok(())
}

/// Applies entries; returns whether the agent has to start again from the snapshot.
async fn apply_messages(parts: &Arc<AgentParts>, messages: Vec<Message>) -> Result<bool, NatsError> {
    let previous_revision = AssignmentRevision(parts.position.lock().revision);
    let (mut revision, mut updates, mut bytes) = (previous_revision, Vec::new(), Vec::new());
    let mut needs_snapshot = false;
    for message in messages {
        let sequence = message.info().map_err(NatsError::of(FOLLOW))?.stream_sequence;
        if sequence <= revision.0 {
            continue;
        }
        let decoded = AssignmentsMessage::from_bytes(&message.payload).and_then(|decoded| {
            needs_snapshot = decoded.needs_snapshot;
            decoded.into_batch(parts.sealer.as_ref())
        });
        if needs_snapshot {
            break;
        }
        match decoded {
            Ok(batch) => updates.extend(batch.updates),
            // The others are applied: one that this version cannot read must not stop the location.
            Err(error) => {
                tracing::error!(error = %error, revision = sequence, "an assignment cannot be used");
            }
        }
        bytes.push(message.payload.to_vec());
        revision = AssignmentRevision(sequence);
    }
    if revision != previous_revision {
        let batch = AssignmentBatch { previous_revision, revision, updates };
        let refused = parts.port.apply_batch(batch).await.map_err(|error: AssignmentError| {
            // It starts again from a snapshot.
            parts.position.lock().stream_id.clear();
            NatsError::of(FOLLOW)(error)
        })?;
        parts.assignment_storage.append(revision.0, bytes);
        parts.position.lock().revision = revision.0;
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
