//! The acknowledgement of results: an agent keeps a result until it names its check.

use prost::Message;

use super::encoded_message::BusMessage;
use super::message_kind::MessageKind;
use crate::domain::CheckId;

/// Checks whose results, and the captures that came with them, are committed.
#[derive(Clone, PartialEq, Message)]
pub struct CommittedChecksMessage {
    /// Ids of the checks.
    #[prost(fixed64, repeated, tag = "1")]
    pub check_ids: Vec<u64>,
}

impl BusMessage for CommittedChecksMessage {
    const KIND: MessageKind = MessageKind::CommittedChecks;
}

impl CommittedChecksMessage {
    /// Creates the acknowledgement of `checks`.
    #[must_use]
    pub fn from_checks(checks: &[CheckId]) -> Self {
        Self { check_ids: checks.iter().map(|check| check.0).collect() }
    }

    /// Returns the checks.
    #[must_use]
    pub fn into_checks(self) -> Vec<CheckId> {
        self.check_ids.into_iter().map(CheckId).collect()
    }
}
