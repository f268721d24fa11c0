//! Asks the control plane what hosts reported.

use std::time::Duration;

use super::agent_parts::AgentIdentity;
use crate::bus::messages::{BusMessage, ReportedStateReplyMessage, ReportedStateRequestMessage};
use crate::bus::nats::connection::NatsConnection;
use crate::bus::nats::subjects::AgentSubject;
use crate::domain::{MonitorId, ReportedState, ReportedStateError};

/// How long the reply may take.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns what the control plane knows of a monitor of the agent's location.
///
/// # Errors
/// [`ReportedStateError::Unavailable`] without a reply, also of a control plane of an earlier version; and what the
/// control plane tells.
pub async fn ask_reported_state(
    connection: &NatsConnection,
    identity: AgentIdentity,
    monitor_id: MonitorId,
) -> Result<ReportedState, ReportedStateError> {
    let unavailable = |error: &dyn std::fmt::Display| {
        ReportedStateError::Unavailable(format!("the control plane does not reply: {error}"))
    };
    let request = ReportedStateRequestMessage { monitor_id: monitor_id.0 };
    let payload = request.to_bytes().map_err(|error| unavailable(&error))?;
    // The subject of all questions about what to check: a subject of its own would need new permissions of NATS.
    let subject = AgentSubject::Watch.of(identity.location_id, identity.agent_id);
    let request = async_nats::Request::new().payload(payload.into()).timeout(Some(REPLY_TIMEOUT));
    let reply = connection.client().send_request(subject, request).await;
    let reply = reply.map_err(|error| unavailable(&error))?;
    ReportedStateReplyMessage::from_bytes(&reply.payload).map_err(|error| unavailable(&error))?.into_outcome()
}
