//! How an agent starts to follow its assignments.

use prost::Message;

use super::encoded_message::BusMessage;
use super::message_kind::MessageKind;

/// A request to follow the assignments from what the agent has applied on.
#[derive(Clone, PartialEq, Message)]
pub struct WatchRequestMessage {
    /// The revision that it has applied; 0 for none.
    #[prost(uint64, tag = "1")]
    pub applied_revision: u64,
    /// The stream of assignments that the revision belongs to; empty for none.
    #[prost(string, tag = "2")]
    pub stream_id: String,
    /// The revision of the snapshot that it found damaged; 0 for none.
    #[prost(uint64, tag = "3")]
    pub damaged_snapshot: u64,
}

/// Where the agent goes on. Its consumer is created.
#[derive(Clone, PartialEq, Message)]
pub struct WatchReplyMessage {
    /// The stream of assignments.
    #[prost(string, tag = "1")]
    pub stream_id: String,
    /// The snapshot that it has to apply first; absent when it goes on from its revision.
    #[prost(message, optional, tag = "2")]
    pub snapshot: Option<SnapshotLocationMessage>,
    /// Why there is no reply yet, such as a control plane that starts; empty otherwise.
    #[prost(string, tag = "3")]
    pub error: String,
}

/// A snapshot in the object store of the location.
#[derive(Clone, PartialEq, Message)]
pub struct SnapshotLocationMessage {
    /// Name of the object in the bucket.
    #[prost(string, tag = "1")]
    pub object: String,
    /// The revision that it shows.
    #[prost(uint64, tag = "2")]
    pub revision: u64,
}

impl BusMessage for WatchRequestMessage {
    const KIND: MessageKind = MessageKind::WatchRequest;
}

impl BusMessage for WatchReplyMessage {
    const KIND: MessageKind = MessageKind::WatchReply;
}
