//! Requests and heartbeats of agents.

use std::sync::Arc;

use async_nats::{Message, Subscriber};
use futures::StreamExt;
use tokio::time::Instant;

use super::control_parts::ControlParts;
use super::snapshot_store::SNAPSHOT_OBJECT;
use crate::bus::contract::RefusedAssignment;
use crate::bus::messages::{
    BusMessage, ClockReplyMessage, EncodedMessage, MessageKind, PresenceMessage, RefusedAssignmentMessage,
    ReportedStateReplyMessage, ReportedStateRequestMessage, SnapshotLocationMessage, WatchReplyMessage,
    WatchRequestMessage,
};
use crate::bus::nats::connection::NatsError;
use crate::bus::nats::subjects::AgentSubject;
use crate::domain::{AgentId, LocationId, MonitorId, ReportedStateError};

/// Subscribes to the subject of all agents.
async fn subscribe(parts: &ControlParts, subject: AgentSubject) -> Result<Subscriber, NatsError> {
    let subscribed = parts.connection.client().subscribe(subject.of_all()).await;
    subscribed.map_err(NatsError::of("accept a subscription"))
}

/// Answers until the connection is closed.
pub(super) async fn run(parts: &Arc<ControlParts>) -> Result<(), NatsError> {
    let mut clock = subscribe(parts, AgentSubject::Clock).await?;
    let mut presence = subscribe(parts, AgentSubject::Presence).await?;
    let mut refused = subscribe(parts, AgentSubject::Refused).await?;
    let mut watch = subscribe(parts, AgentSubject::Watch).await?;
    loop {
        tokio::select! {
            biased;
            Some(message) = clock.next() => reply_time(parts, message).await,
            Some(message) = presence.next() => take_presence(parts, &message),
            Some(message) = refused.next() => take_refused(parts, &message),
            Some(message) = watch.next() => {
                // Creating a consumer takes a while, and so may the store; the clock must not wait for them.
                let parts = Arc::clone(parts);
                tokio::spawn(async move {
                    if is_reported_state_request(&message) {
                        reply_reported_state(&parts, message).await;
                    } else {
                        start_watch(&parts, message).await;
                    }
                });
            }
            else => return Ok(()),
        }
    }
}

async fn reply_time(parts: &ControlParts, message: Message) {
    let Some(reply) = message.reply else { return };
    let now_us = parts.clock.now().as_micros();
    if let Ok(bytes) = (ClockReplyMessage { now_us }).to_bytes() {
        // An agent without a reply asks again.
        let _ = parts.connection.client().publish(reply, bytes.into()).await;
    }
}

fn take_presence(parts: &ControlParts, message: &Message) {
    let Some(sender) = AgentSubject::Presence.sender(&message.subject) else { return };
    let presence = PresenceMessage::from_bytes(&message.payload).and_then(PresenceMessage::into_presence);
    match presence {
        Ok(presence) if presence.location_id == sender.0 && presence.agent_id == Some(sender.1) => {
            let times = (Instant::now(), parts.clock.now());
            let events = parts.registry.lock().record(sender, presence, times);
            for kind in events {
                parts.record_event(sender, kind);
            }
        }
        Ok(_) => parts.refuse(sender, "a heartbeat of another agent".to_owned()),
        Err(error) => parts.refuse(sender, error.to_string()),
    }
}

fn take_refused(parts: &ControlParts, message: &Message) {
    let Some(sender) = AgentSubject::Refused.sender(&message.subject) else { return };
    match RefusedAssignmentMessage::from_bytes(&message.payload) {
        Ok(refused) => {
            let RefusedAssignment { monitor_id, error, .. } = refused.into();
            parts.refuse(sender, format!("the agent cannot check the monitor {monitor_id}: {error}"));
        }
        Err(error) => parts.refuse(sender, error.to_string()),
    }
}

/// Whether it is a question for what hosts reported, which has the subject of a watch.
fn is_reported_state_request(message: &Message) -> bool {
    EncodedMessage::parse(message.payload.clone())
        .is_ok_and(|encoded| encoded.kind() == MessageKind::ReportedStateRequest)
}

async fn reply_reported_state(parts: &ControlParts, message: Message) {
    let (Some(sender), Some(reply)) = (AgentSubject::Watch.sender(&message.subject), message.reply.clone())
    else {
        return;
    };
    let request = match ReportedStateRequestMessage::from_bytes(&message.payload) {
        Ok(request) => request,
        Err(error) => return parts.refuse(sender, error.to_string()),
    };
    let source = parts.reported_states.read().clone();
    let outcome = match source {
        Some(source) => source.reported_state(sender.0, MonitorId(request.monitor_id)).await,
        None => Err(ReportedStateError::Unavailable("the control plane is starting".to_owned())),
    };
    match ReportedStateReplyMessage::from_outcome(outcome).to_bytes() {
        Ok(bytes) => {
            // An agent without a reply says so in the result.
            let _ = parts.connection.client().publish(reply, bytes.into()).await;
        }
        Err(error) => tracing::warn!(%error, "what hosts reported does not fit into a reply"),
    }
}

async fn start_watch(parts: &Arc<ControlParts>, message: Message) {
    let (Some(sender), Some(reply)) = (AgentSubject::Watch.sender(&message.subject), message.reply.clone())
    else {
        return;
    };
    let response = match WatchRequestMessage::from_bytes(&message.payload) {
        Ok(request) => watch(parts, sender, &request).await.unwrap_or_else(|error| {
            tracing::warn!(error = %error, location_id = sender.0.0, agent_id = sender.1.0, "an agent cannot follow its assignments yet");
            WatchReplyMessage { error: error.to_string(), ..WatchReplyMessage::default() }
        }),
        Err(error) => {
            parts.refuse(sender, error.to_string());
            return;
        }
    };
    if let Ok(bytes) = response.to_bytes() {
        // An agent without a reply asks again.
        let _ = parts.connection.client().publish(reply, bytes.into()).await;
    }
}

/// Creates the consumer of an agent, and returns where it starts.
async fn watch(
    parts: &Arc<ControlParts>,
    (location, agent): (LocationId, AgentId),
    request: &WatchRequestMessage,
) -> Result<WatchReplyMessage, NatsError> {
    let bucket = parts.bucket()?;
    let is_same_stream = request.stream_id == bucket.stream_id();
    let applied = is_same_stream.then_some(request.applied_revision);
    if request.damaged_snapshot != 0 {
        parts.replace_snapshot(location, request.damaged_snapshot).await?;
    }
    let snapshot = parts.snapshot_for(location, applied).await?;
    let start_after = snapshot.or(applied).unwrap_or(0);
    bucket.create_agent_consumer(location, agent, start_after).await?;
    // A consumer of the stream after it would start at a revision of this one, and deliver nothing.
    if !bucket.is_current().await? {
        return Err(NatsError::of("return the assignments")("their stream was lost meanwhile"));
    }
    Ok(WatchReplyMessage {
        stream_id: bucket.stream_id().to_owned(),
        snapshot: snapshot
            .map(|revision| SnapshotLocationMessage { object: SNAPSHOT_OBJECT.to_owned(), revision }),
        error: String::new(),
    })
}
