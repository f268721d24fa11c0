//! What an agent asks about hosts and pushes, whose reports the control plane has.

use prost::Message;

use super::encoded_message::BusMessage;
use super::message_kind::MessageKind;
use crate::domain::{ReportedState, ReportedStateError};

/// A question for what hosts reported, or jobs pushed, for a monitor.
#[derive(Clone, PartialEq, Message)]
pub struct ReportedStateRequestMessage {
    /// Id of the monitor.
    #[prost(int64, tag = "1")]
    pub monitor_id: i64,
}

/// The reply.
#[derive(Clone, PartialEq, Message)]
pub struct ReportedStateReplyMessage {
    /// What is known; empty after an error.
    #[prost(bytes = "vec", tag = "1")]
    pub state_json: Vec<u8>,
    /// Why there is no state; empty otherwise.
    #[prost(string, tag = "2")]
    pub error: String,
    /// Whether the monitor lacks something, rather than that the control plane does not work.
    #[prost(bool, tag = "3")]
    pub is_configuration_error: bool,
}

impl ReportedStateReplyMessage {
    /// Encodes the outcome of a question.
    #[must_use]
    pub fn from_outcome(outcome: Result<ReportedState, ReportedStateError>) -> Self {
        match outcome {
            Ok(state) => {
                Self { state_json: serde_json::to_vec(&state).unwrap_or_default(), ..Self::default() }
            }
            Err(error) => Self {
                is_configuration_error: matches!(error, ReportedStateError::NotConfigured(_)),
                error: error.to_string(),
                ..Self::default()
            },
        }
    }

    /// Decodes the outcome.
    ///
    /// # Errors
    /// The error that the control plane told, or that its reply cannot be read.
    pub fn into_outcome(self) -> Result<ReportedState, ReportedStateError> {
        match (self.error.is_empty(), self.is_configuration_error) {
            (false, true) => Err(ReportedStateError::NotConfigured(self.error)),
            (false, false) => Err(ReportedStateError::Unavailable(self.error)),
            (true, _) => serde_json::from_slice(&self.state_json).map_err(|error| {
                ReportedStateError::Unavailable(format!(
                    "the reply of the control plane cannot be read: {error}"
                ))
            }),
        }
    }
}

impl BusMessage for ReportedStateRequestMessage {
    const KIND: MessageKind = MessageKind::ReportedStateRequest;
}

impl BusMessage for ReportedStateReplyMessage {
    const KIND: MessageKind = MessageKind::ReportedStateReply;
}
