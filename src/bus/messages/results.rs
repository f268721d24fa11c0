//! Several results in one message: what an agent had ready at once.

use bytes::Bytes;
use prost::Message;

use super::encoded_message::{BusMessage, EncodedMessage};
use super::error::MessageError;
use super::message_kind::MessageKind;
use super::result::ResultMessage;
use crate::domain::CheckResult;

/// Results of one location. Each is encoded by itself, so that one that cannot be used does not spoil the others.
#[derive(Clone, PartialEq, Message)]
pub struct ResultsMessage {
    /// The results, each an encoded Result without an envelope.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub results: Vec<Bytes>,
}

impl BusMessage for ResultsMessage {
    const KIND: MessageKind = MessageKind::Results;
}

impl ResultsMessage {
    /// Returns the message of results with their envelopes. One that is not a result is an error.
    ///
    /// # Errors
    /// Fails for bytes that are not an encoded result.
    pub fn from_encoded(results: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, MessageError> {
        let to_bytes = |bytes| {
            let encoded = EncodedMessage::parse(bytes)?;
            if encoded.kind() != MessageKind::Result {
                let found = encoded.kind().name().to_owned();
                return Err(MessageError::WrongKind { expected: MessageKind::Result, found });
            }
            Ok(encoded.message_bytes())
        };
        Ok(Self { results: results.into_iter().map(to_bytes).collect::<Result<_, _>>()? })
    }

    /// Returns each result, or why it cannot be used.
    pub fn into_results(self) -> impl Iterator<Item = Result<CheckResult, MessageError>> {
        self.results.into_iter().map(|bytes| {
            let decoded = ResultMessage::decode(bytes).map_err(|error| MessageError::Malformed {
                kind: Some(MessageKind::Result),
                reason: error.to_string(),
            });
            decoded?.into_result()
        })
    }
}
