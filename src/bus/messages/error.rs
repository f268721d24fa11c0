//! Why a message cannot be sent or used.

use super::message_kind::MessageKind;

/// A message cannot be sent or used: which one, where, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It is larger than its kind may be.
    #[error("the message `{}` has {bytes} bytes, more than {limit}", .kind.name())]
    TooLarge {
        /// Its kind.
        kind: MessageKind,
        /// Its size.
        bytes: usize,
        /// The largest size of its kind.
        limit: usize,
    },
    /// Its bytes are not protobuf, or are cut off.
    #[error("the message{} cannot be decoded: {reason}", in_kind(*.kind))]
    Malformed {
        /// Its kind; `None` when not even that can be decoded.
        kind: Option<MessageKind>,
        /// What the decoder found.
        reason: String,
    },
    /// It has a format that this version does not know.
    #[error("the message has format version {found}; this version reads up to {supported}: upgrade it")]
    UnsupportedVersion {
        /// Its version.
        found: u32,
        /// The newest version that can be read.
        supported: u32,
    },
    /// It is not of the kind that was expected.
    #[error("the message is `{found}`, not `{}`", .expected.name())]
    WrongKind {
        /// The kind that was expected.
        expected: MessageKind,
        /// Name or number of its kind.
        found: String,
    },
    /// A field that must be set is missing.
    #[error("the message `{}` lacks the field `{field}`", .kind.name())]
    MissingField {
        /// Its kind.
        kind: MessageKind,
        /// The field.
        field: &'static str,
    },
    /// The value of a field cannot be used.
    #[error("the message `{}` has an invalid field `{field}`: {reason}", .kind.name())]
    InvalidField {
        /// Its kind.
        kind: MessageKind,
        /// The field.
        field: &'static str,
        /// The value and what is wrong with it.
        reason: String,
    },
}

fn in_kind(kind: Option<MessageKind>) -> String {
    kind.map(|kind| format!(" `{}`", kind.name())).unwrap_or_default()
}
