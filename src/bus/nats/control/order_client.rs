//! Orders to agents: a request with one reply.

use std::time::Duration;

use async_nats::RequestErrorKind;

use crate::bus::contract::OrderError;
use crate::bus::messages::{BusMessage, OrderReply, OrderReplyMessage};
use crate::bus::nats::connection::NatsConnection;
use crate::bus::nats::subjects::{ORDER_REPLY_TTL, orders};
use crate::domain::{AgentId, LocationId};

/// How much longer than the order the reply is waited for.
const REPLY_GRACE: Duration = Duration::from_secs(2);

/// Sends an order to an agent and returns its reply.
pub(super) async fn send_order(
    connection: &NatsConnection,
    (location, agent): (LocationId, AgentId),
    order: &impl BusMessage,
    timeout: Duration,
) -> Result<OrderReply, OrderError> {
    let bytes = match order.to_bytes() {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::warn!(error = %error, location_id = location.0, "an order cannot be sent");
            return Err(OrderError::LocationOffline);
        }
    };
    // Later, NATS refuses the reply.
    let timeout = (timeout + REPLY_GRACE).min(ORDER_REPLY_TTL);
    let request = async_nats::Request::new().payload(bytes.into()).timeout(Some(timeout));
    let reply = connection.client().send_request(orders(location, agent), request).await;
    let reply = reply.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => OrderError::LocationOffline,
        _ => OrderError::TimedOut,
    })?;
    let decoded = OrderReplyMessage::from_bytes(&reply.payload).and_then(OrderReplyMessage::into_reply);
    match decoded {
        Ok(OrderReply::Error(error)) => Err(error),
        Ok(reply) => Ok(reply),
        Err(error) => {
            tracing::warn!(error = %error, location_id = location.0, agent_id = agent.0, "the reply of an agent cannot be used");
            Err(OrderError::TimedOut)
        }
    }
}
