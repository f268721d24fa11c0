//! Obeys the orders of the control plane.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Message;
use futures::StreamExt;

use super::agent_parts::AgentParts;
use crate::bus::contract::OrderError;
use crate::bus::messages::{
    BusMessage, CheckOrderMessage, EncodedMessage, FirstCheckOrderMessage, MessageError, MessageKind,
    OrderReply, OrderReplyMessage, TracerouteOrderMessage,
};
use crate::bus::nats::connection::NatsError;
use crate::bus::nats::subjects::orders;

/// The part of its time limit for which an order waits for the assignments before it; the rest is for its reply.
const REVISION_WAIT: f64 = 0.75;
/// Most orders that are obeyed at once.
const MAX_ORDERS: usize = 256;

/// Obeys orders until the connection is closed.
pub(super) async fn run(parts: &Arc<AgentParts>) -> Result<(), NatsError> {
    let subject = orders(parts.identity.location_id, parts.identity.agent_id);
    let subscribed = parts.connection.client().subscribe(subject).await;
    let messages = subscribed.map_err(NatsError::of("accept a subscription"))?;
    messages.for_each_concurrent(MAX_ORDERS, |message| obey(parts, message)).await;
    Ok(())
}

async fn obey(parts: &Arc<AgentParts>, message: Message) {
    let Some(reply_subject) = message.reply.clone() else { return };
    let reply = match reply_to(parts, message).await {
        Ok(reply) => reply,
        Err(error) => {
            tracing::warn!(error = %error, "an order cannot be obeyed");
            return;
        }
    };
    let bytes = OrderReplyMessage::from_reply(&reply).and_then(|message| message.to_bytes());
    match bytes {
        Ok(bytes) => {
            if let Err(error) = parts.connection.client().publish(reply_subject, bytes.into()).await {
                tracing::debug!(error = %error, "the reply to an order was not sent");
            }
        }
        Err(error) => tracing::warn!(error = %error, "the reply to an order cannot be sent"),
    }
}

async fn reply_to(parts: &Arc<AgentParts>, message: Message) -> Result<OrderReply, MessageError> {
    let order = EncodedMessage::parse(message.payload)?;
    let (port, sealer) = (&parts.port, parts.sealer.as_ref());
    let reply = match order.kind() {
        MessageKind::FirstCheckOrder => {
            let message: FirstCheckOrderMessage = order.decode()?;
            let revision = message.assignment_revision;
            let order = message.into_order()?;
            wait_for_revision(parts, revision, order.timeout).await;
            port.first_check(order).await.map(OrderReply::FirstCheck)
        }
        MessageKind::TracerouteOrder => {
            let order = order.decode::<TracerouteOrderMessage>()?.into_order(sealer)?;
            port.traceroute(order).await.map(OrderReply::File)
        }
        _ => {
            let order = order.decode::<CheckOrderMessage>()?.into_order(sealer)?;
            port.check(order).await.map(|result| OrderReply::Result(Box::new(shortened(result))))
        }
    };
    Ok(reply.unwrap_or_else(|error: OrderError| OrderReply::Error(error)))
}

/// Waits until the assignments are applied up to `revision`: an order may overtake the change that it is about.
async fn wait_for_revision(parts: &AgentParts, revision: u64, timeout: Duration) {
    let mut position = parts.position.subscribe();
    let applied = position.wait_for(|position| position.revision >= revision);
    // Whatever is applied then decides.
    let _ = tokio::time::timeout(timeout.mul_f64(REVISION_WAIT), applied).await;
}

/// Leaves out details that are too large for a reply.
fn shortened(mut result: crate::domain::CheckResult) -> crate::domain::CheckResult {
    let reply = OrderReply::Result(Box::new(result.clone()));
    let fits = OrderReplyMessage::from_reply(&reply).and_then(|message| message.to_bytes());
    if matches!(fits, Err(MessageError::TooLarge { .. })) {
        result.details = crate::domain::CheckDetails::default();
    }
    result
}
