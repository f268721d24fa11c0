//! The acknowledgement of results and captures: an agent keeps them until it names their check.

use prost::Message;

use super::encoded_message::BusMessage;
use super::message_kind::MessageKind;
use crate::domain::CheckId;

/// Checks whose results or captures are committed.
#[derive(Clone, PartialEq, Message)]
pub struct CommittedChecksMessage {
    /// Ids of checks whose results are committed.
    #[prost(fixed64, repeated, tag = "1")]
    pub check_ids: Vec<u64>,
    /// Ids of checks whose captures are committed.
    #[prost(fixed64, repeated, tag = "2")]
    pub captured_check_ids: Vec<u64>,
}

impl BusMessage for CommittedChecksMessage {
    const KIND: MessageKind = MessageKind::CommittedChecks;
}

impl CommittedChecksMessage {
    /// Creates the acknowledgement of `checks`.
    #[must_use]
    pub fn from_checks(checks: &[CheckId]) -> Self {
        Self { check_ids: checks.iter().map(|check| check.0).collect(), captured_check_ids: Vec::new() }
    }

    /// Returns the checks.
    #[must_use]
    pub fn into_checks(self) -> Vec<CheckId> {
        self.check_ids.into_iter().map(CheckId).collect()
    }
}
