//! What the control plane tells the agents about itself, every few seconds.

use prost::Message;

use super::encoded_message::BusMessage;
use super::message_kind::MessageKind;

/// The state of the control plane.
#[derive(Clone, PartialEq, Message)]
pub struct ControllerStatusMessage {
    /// Changes when results that were reported as committed may be lost: with a new stream of results, and with a
    /// database that was restored or failed over. Agents then deliver what they still have again.
    #[prost(string, tag = "1")]
    pub timeline: String,
    /// Whether every result that the bus held was taken: a result that was delivered before and not reported as
    /// committed has to be delivered again.
    #[prost(bool, tag = "2")]
    pub is_caught_up: bool,
    /// When it was sent, by the clock of the control plane.
    #[prost(sfixed64, tag = "3")]
    pub sent_at_us: i64,
}

impl BusMessage for ControllerStatusMessage {
    const KIND: MessageKind = MessageKind::ControllerStatus;
}

/// The reply to a question for the time. The question is empty.
#[derive(Clone, PartialEq, Message)]
pub struct ClockReplyMessage {
    /// The time of the control plane.
    #[prost(sfixed64, tag = "1")]
    pub now_us: i64,
}

impl BusMessage for ClockReplyMessage {
    const KIND: MessageKind = MessageKind::ClockReply;
}
