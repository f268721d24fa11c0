//! Replies to orders.

use prost::{Message, Oneof};

use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::{FieldOf, number_in};
use super::message_kind::MessageKind;
use super::result::ResultMessage;
use crate::bus::contract::OrderError;
use crate::domain::{CapturedFile, CheckResult};

/// The numbers of errors: the position here, from 1.
const ERRORS: [OrderError; 5] = [
    OrderError::LocationOffline,
    OrderError::QueueFull,
    OrderError::Stopped,
    OrderError::TimedOut,
    OrderError::NoTarget,
];

/// What a location replies to an order.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderReply {
    /// The result of a check, without captures.
    Result(Box<CheckResult>),
    /// Whether a first check waits or runs.
    FirstCheck(bool),
    /// The file of a traceroute.
    File(CapturedFile),
    /// Why there is none of these.
    Error(OrderError),
}

/// The reply to an order.
#[derive(Clone, PartialEq, Message)]
pub struct OrderReplyMessage {
    /// The reply.
    #[prost(oneof = "ReplyKind", tags = "1, 2, 3, 4")]
    pub reply: Option<ReplyKind>,
}

/// The kinds of replies.
#[derive(Clone, PartialEq, Oneof)]
pub enum ReplyKind {
    /// The result of a check.
    #[prost(message, tag = "1")]
    Result(Box<ResultMessage>),
    /// Whether a first check waits or runs.
    #[prost(bool, tag = "2")]
    FirstCheck(bool),
    /// The file of a traceroute.
    #[prost(message, tag = "3")]
    File(FileMessage),
    /// Position of the error in the list of errors, from 1.
    #[prost(uint32, tag = "4")]
    Error(u32),
}

/// A file as a whole.
#[derive(Clone, PartialEq, Message)]
pub struct FileMessage {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its media type.
    #[prost(string, tag = "2")]
    pub media_type: String,
    /// Its content.
    #[prost(bytes = "vec", tag = "3")]
    pub content: Vec<u8>,
}

impl BusMessage for OrderReplyMessage {
    const KIND: MessageKind = MessageKind::OrderReply;
}

impl OrderReplyMessage {
    /// Creates the message of `reply`.
    ///
    /// # Errors
    /// Fails when a value cannot be JSON.
    pub fn from_reply(reply: &OrderReply) -> Result<Self, MessageError> {
        let reply = match reply {
            OrderReply::Result(result) => ReplyKind::Result(Box::new(ResultMessage::from_result(result)?)),
            OrderReply::FirstCheck(will_start) => ReplyKind::FirstCheck(*will_start),
            OrderReply::File(file) => ReplyKind::File(FileMessage {
                name: file.name.clone(),
                media_type: file.media_type.clone(),
                content: file.content.as_deref().unwrap_or_default().to_vec(),
            }),
            OrderReply::Error(error) => ReplyKind::Error(number_in(&ERRORS, error)),
        };
        Ok(Self { reply: Some(reply) })
    }

    /// Returns the reply.
    ///
    /// # Errors
    /// Fails for a value that cannot be used.
    pub fn into_reply(self) -> Result<OrderReply, MessageError> {
        let field = |name| FieldOf(Self::KIND, name);
        Ok(match self.reply.ok_or_else(|| field("reply").missing())? {
            ReplyKind::Result(result) => OrderReply::Result(Box::new(result.into_result()?)),
            ReplyKind::FirstCheck(will_start) => OrderReply::FirstCheck(will_start),
            ReplyKind::File(FileMessage { name, media_type, content }) => {
                OrderReply::File(CapturedFile::new(&name, media_type, &content))
            }
            ReplyKind::Error(number) => OrderReply::Error(field("error").numbered(&ERRORS, number)?),
        })
    }
}
