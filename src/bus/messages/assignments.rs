//! Changes of what a location checks.

use prost::{Message, Oneof};

use super::account::AccountMessage;
use super::assigned_monitor::AssignedMonitorMessage;
use super::certificate::CertificateMessage;
use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::FieldOf;
use super::members::MembersMessage;
use super::message_kind::MessageKind;
use super::sealer::Sealer;
use crate::bus::contract::{AssignmentBatch, AssignmentRevision, AssignmentUpdate, RefusedAssignment};
use crate::domain::{MonitorId, Revision};

/// Changes that lead from one revision to another.
#[derive(Clone, PartialEq, Message)]
pub struct AssignmentsMessage {
    /// The revision that they change.
    #[prost(uint64, tag = "1")]
    pub previous_revision: u64,
    /// The revision after them.
    #[prost(uint64, tag = "2")]
    pub revision: u64,
    /// The changes, in their order.
    #[prost(message, repeated, tag = "3")]
    pub updates: Vec<AssignmentUpdateMessage>,
    /// Whether the changes are in the snapshot of the location: the agent starts again from it.
    #[prost(bool, tag = "4")]
    pub needs_snapshot: bool,
}

/// One change.
#[derive(Clone, PartialEq, Message)]
pub struct AssignmentUpdateMessage {
    /// The change.
    #[prost(oneof = "UpdateKind", tags = "1, 2, 3, 4, 5")]
    pub update: Option<UpdateKind>,
}

/// The kinds of changes.
#[derive(Clone, PartialEq, Oneof)]
pub enum UpdateKind {
    /// Plans a monitor, or updates it.
    #[prost(message, tag = "1")]
    Assign(AssignedMonitorMessage),
    /// Removes a monitor from the plan.
    #[prost(message, tag = "2")]
    Unassign(UnassignMessage),
    /// Sets the data of an account.
    #[prost(message, tag = "3")]
    Account(AccountMessage),
    /// Replaces all certificates of accounts.
    #[prost(message, tag = "4")]
    Certificates(CertificatesMessage),
    /// Sets the agents that share the monitors of the location.
    #[prost(message, tag = "5")]
    Members(MembersMessage),
}

/// The removal of a monitor.
#[derive(Clone, PartialEq, Message)]
pub struct UnassignMessage {
    /// Id of the monitor.
    #[prost(int64, tag = "1")]
    pub monitor_id: i64,
    /// Whether its running check is cancelled too.
    #[prost(bool, tag = "2")]
    pub cancel_running: bool,
}

/// All certificates of accounts.
#[derive(Clone, PartialEq, Message)]
pub struct CertificatesMessage {
    /// The certificates.
    #[prost(message, repeated, tag = "1")]
    pub certificates: Vec<CertificateMessage>,
}

/// A monitor that a location cannot check.
#[derive(Clone, PartialEq, Message)]
pub struct RefusedAssignmentMessage {
    /// Id of the monitor.
    #[prost(int64, tag = "1")]
    pub monitor_id: i64,
    /// The refused revision.
    #[prost(int64, tag = "2")]
    pub revision: i64,
    /// What went wrong.
    #[prost(string, tag = "3")]
    pub error: String,
}

impl BusMessage for AssignmentsMessage {
    const KIND: MessageKind = MessageKind::Assignments;
}

impl BusMessage for RefusedAssignmentMessage {
    const KIND: MessageKind = MessageKind::RefusedAssignment;
}

impl AssignmentsMessage {
    /// Creates the message of `batch`; `sealer` seals its secrets.
    ///
    /// # Errors
    /// Fails for an account whose time zone has no name.
    pub fn from_batch(batch: &AssignmentBatch, sealer: &dyn Sealer) -> Result<Self, MessageError> {
        let updates = batch.updates.iter();
        let updates = updates.map(|update| AssignmentUpdateMessage::from_update(update, sealer));
        Ok(Self {
            previous_revision: batch.previous_revision.0,
            revision: batch.revision.0,
            updates: updates.collect::<Result<_, _>>()?,
            needs_snapshot: false,
        })
    }

    /// Returns the batch.
    ///
    /// # Errors
    /// Fails for a value that cannot be used, and for secrets that `sealer` cannot open.
    pub fn into_batch(self, sealer: &dyn Sealer) -> Result<AssignmentBatch, MessageError> {
        let updates = self.updates.into_iter().map(|update| update.into_update(sealer));
        Ok(AssignmentBatch {
            previous_revision: AssignmentRevision(self.previous_revision),
            revision: AssignmentRevision(self.revision),
            updates: updates.collect::<Result<_, _>>()?,
        })
    }
}

impl AssignmentUpdateMessage {
    /// Creates the message of `update`; `sealer` seals its secrets.
    ///
    /// # Errors
    /// Fails for an account whose time zone has no name.
    pub fn from_update(update: &AssignmentUpdate, sealer: &dyn Sealer) -> Result<Self, MessageError> {
        let update = match update {
            AssignmentUpdate::Assign(assigned) => {
                UpdateKind::Assign(AssignedMonitorMessage::from_assigned(assigned, sealer))
            }
            AssignmentUpdate::Unassign { monitor_id, cancel_running } => {
                UpdateKind::Unassign(UnassignMessage {
                    monitor_id: monitor_id.0,
                    cancel_running: *cancel_running,
                })
            }
            AssignmentUpdate::SetAccount(account) => {
                UpdateKind::Account(AccountMessage::from_account(account)?)
            }
            AssignmentUpdate::SetCertificates(certificates) => {
                let messages =
                    certificates.iter().map(|one| CertificateMessage::from_certificate(one, sealer));
                UpdateKind::Certificates(CertificatesMessage { certificates: messages.collect() })
            }
            AssignmentUpdate::SetMembers(members) => {
                UpdateKind::Members(MembersMessage::from_members(members))
            }
        };
        Ok(Self { update: Some(update) })
    }

    pub(super) fn into_update(self, sealer: &dyn Sealer) -> Result<AssignmentUpdate, MessageError> {
        let kind = MessageKind::Assignments;
        Ok(match self.update.ok_or_else(|| FieldOf(kind, "updates.update").missing())? {
            UpdateKind::Assign(assigned) => AssignmentUpdate::Assign(assigned.into_assigned(kind, sealer)?),
            UpdateKind::Unassign(UnassignMessage { monitor_id, cancel_running }) => {
                AssignmentUpdate::Unassign { monitor_id: MonitorId(monitor_id), cancel_running }
            }
            UpdateKind::Account(account) => AssignmentUpdate::SetAccount(account.into_account()?),
            UpdateKind::Certificates(CertificatesMessage { certificates }) => {
                let certificates = certificates.into_iter().map(|one| one.into_certificate(sealer));
                AssignmentUpdate::SetCertificates(certificates.collect::<Result<Vec<_>, _>>()?.into())
            }
            UpdateKind::Members(members) => AssignmentUpdate::SetMembers(members.into_members()?),
        })
    }
}

impl From<RefusedAssignment> for RefusedAssignmentMessage {
    fn from(refused: RefusedAssignment) -> Self {
        let RefusedAssignment { monitor_id, revision, error } = refused;
        Self { monitor_id: monitor_id.0, revision: revision.0, error }
    }
}

impl From<RefusedAssignmentMessage> for RefusedAssignment {
    fn from(message: RefusedAssignmentMessage) -> Self {
        let RefusedAssignmentMessage { monitor_id, revision, error } = message;
        Self { monitor_id: MonitorId(monitor_id), revision: Revision(revision), error }
    }
}
