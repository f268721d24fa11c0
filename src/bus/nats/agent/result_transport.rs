//! Sends results and captures into the streams of the control plane.

use async_nats::jetstream::context::PublishAckFuture;
use futures::future::join_all;
use prost::Message as _;

use super::agent_parts::AgentIdentity;
use crate::bus::contract::{BusFuture, ResultTransport, SendError, Urgency};
use crate::bus::messages::{
    BusMessage, EncodedMessage, MessageError, MessageKind, ResultMessage, ResultsMessage, capture_pieces,
};
use crate::bus::nats::connection::NatsConnection;
use crate::bus::nats::subjects::AgentSubject;
use crate::domain::{CheckDetails, CheckResult, MonitorId};

/// Results are put into one message up to this many bytes; a single one may be larger.
const MESSAGE_BYTES: usize = 256 * 1024;
/// Most pieces of captures whose acknowledgement is outstanding.
const PIECES_AT_ONCE: usize = 8;
/// What a result says whose details were too large.
const DETAILS_DROPPED: &str = "the details of this check are too large to be sent to the control plane";

/// Sends results and captures of one agent.
pub struct NatsResultTransport {
    connection: NatsConnection,
    identity: AgentIdentity,
}

impl NatsResultTransport {
    /// Creates the transport of an agent.
    #[must_use]
    pub fn new(connection: NatsConnection, identity: AgentIdentity) -> Self {
        Self { connection, identity }
    }

    async fn publish(&self, subject: AgentSubject, bytes: Vec<u8>) -> Result<PublishAckFuture, SendError> {
        let AgentIdentity { location_id, agent_id } = self.identity;
        let published = self.connection.jetstream().publish(subject.of(location_id, agent_id), bytes.into());
        published.await.map_err(|error| SendError::Refused(error.to_string()))
    }

    async fn send_all(&self, encoded: Vec<Vec<u8>>, subject: AgentSubject) -> Result<(), SendError> {
        let mut published = Vec::new();
        for chunk in chunks(encoded) {
            let message = ResultsMessage::from_encoded(chunk);
            let bytes = message.and_then(|message| message.to_bytes());
            let bytes = bytes.map_err(|error| SendError::Refused(error.to_string()))?;
            published.push(self.publish(subject, bytes).await?);
        }
        wait_for_all(published).await
    }
}

/// Groups results into messages.
fn chunks(encoded: Vec<Vec<u8>>) -> Vec<Vec<Vec<u8>>> {
    let (mut chunks, mut bytes) = (vec![Vec::new()], 0);
    for result in encoded {
        bytes += result.len();
        if bytes > MESSAGE_BYTES && chunks.last().is_some_and(|chunk: &Vec<_>| !chunk.is_empty()) {
            chunks.push(Vec::new());
            bytes = result.len();
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(result);
        }
    }
    chunks
}

async fn wait_for_all(published: Vec<PublishAckFuture>) -> Result<(), SendError> {
    let acknowledged = join_all(published.into_iter().map(IntoFuture::into_future)).await;
    let failed = acknowledged.into_iter().find_map(Result::err);
    failed.map_or(Ok(()), |error| Err(SendError::Refused(error.to_string())))
}

impl ResultTransport for NatsResultTransport {
    fn encode_result(&self, result: &CheckResult) -> Result<Vec<u8>, String> {
        let encode = |result: &CheckResult| ResultMessage::from_result(result)?.to_bytes();
        match encode(result) {
            Err(MessageError::TooLarge { .. }) => {
                let mut shortened = result.clone();
                shortened.details = CheckDetails::default();
                shortened.reasons.push(DETAILS_DROPPED.to_owned());
                encode(&shortened)
            }
            encoded => encoded,
        }
        .map_err(|error| error.to_string())
    }

    fn encode_captures(&self, result: &CheckResult) -> Vec<Vec<u8>> {
        let mut pieces: Vec<_> = capture_pieces(result).collect();
        if let Some(last) = pieces.last_mut() {
            last.is_last = true;
        }
        let encoded = pieces.into_iter().map(|piece| piece.to_bytes());
        encoded.collect::<Result<_, _>>().unwrap_or_else(|error| {
            tracing::warn!(error = %error, check_id = %result.check_id, "captures dropped: they cannot be sent");
            Vec::new()
        })
    }

    fn monitor_of(&self, encoded: &[u8]) -> Option<MonitorId> {
        let message = EncodedMessage::parse(encoded.to_vec()).ok()?;
        if message.kind() != MessageKind::Result {
            return None;
        }
        let result = ResultMessage::decode(message.message_bytes()).ok()?;
        Some(MonitorId(result.monitor_id))
    }

    fn is_connected(&self) -> bool {
        self.connection.is_connected()
    }

    fn send_results(&self, encoded: Vec<Vec<u8>>, urgency: Urgency) -> BusFuture<'_, Result<(), SendError>> {
        Box::pin(async move {
            if !self.is_connected() {
                return Err(SendError::Offline);
            }
            let subject = match urgency {
                Urgency::Live => AgentSubject::Results,
                Urgency::Backlog => AgentSubject::Backlog,
            };
            self.send_all(encoded, subject).await
        })
    }

    fn send_captures(&self, encoded: Vec<Vec<u8>>) -> BusFuture<'_, Result<(), SendError>> {
        Box::pin(async move {
            let mut encoded = encoded.into_iter().peekable();
            while encoded.peek().is_some() {
                if !self.is_connected() {
                    return Err(SendError::Offline);
                }
                let mut published = Vec::new();
                for piece in encoded.by_ref().take(PIECES_AT_ONCE) {
                    published.push(self.publish(AgentSubject::Captures, piece).await?);
                }
                wait_for_all(published).await?;
            }
            Ok(())
        })
    }
}
