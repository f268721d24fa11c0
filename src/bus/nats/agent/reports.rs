//! Takes what the control plane reports: what is committed, and how it is.

use std::sync::Arc;

use futures::StreamExt;

use super::agent_parts::AgentParts;
use crate::bus::messages::{BusMessage, CommittedChecksMessage, ControllerStatusMessage};
use crate::bus::nats::connection::NatsError;
use crate::bus::nats::subjects;
use crate::domain::CheckId;

/// Takes reports until the connection is closed.
pub(super) async fn run(parts: &Arc<AgentParts>) -> Result<(), NatsError> {
    let (location, agent) = (parts.identity.location_id, parts.identity.agent_id);
    let client = parts.connection.client();
    let subscribe = async |subject| {
        let subscribed = client.subscribe(subject).await;
        subscribed.map_err(NatsError::of("accept a subscription"))
    };
    let mut committed = subscribe(subjects::committed(location, agent)).await?;
    let mut status = subscribe(subjects::location(location)).await?;
    loop {
        tokio::select! {
            Some(message) = committed.next() => match CommittedChecksMessage::from_bytes(&message.payload) {
                Ok(message) => {
                    let to_ids = |ids: Vec<u64>| ids.into_iter().map(CheckId).collect::<Vec<_>>();
                    let (checks, captured) = (to_ids(message.check_ids), to_ids(message.captured_check_ids));
                    parts.reports.on_committed(&checks, &captured);
                }
                Err(error) => tracing::warn!(error = %error, "a report of the control plane cannot be used"),
            },
            Some(message) = status.next() => match ControllerStatusMessage::from_bytes(&message.payload) {
                Ok(message) => parts.reports.on_controller_status(&message.timeline, message.is_caught_up),
                Err(error) => tracing::warn!(error = %error, "a report of the control plane cannot be used"),
            },
            else => return Ok(()),
        }
    }
}
