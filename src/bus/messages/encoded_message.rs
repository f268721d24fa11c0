//! The envelope of every message: format version, kind, and the message itself.

use prost::Message;

use super::error::MessageError;
use super::message_kind::MessageKind;

/// The version of the format that this version writes. It rises only when older readers would misunderstand a message;
/// new fields, which they ignore, do not change it.
pub const FORMAT_VERSION: u32 = 1;

/// Bytes that the envelope adds to a message at most.
const MAX_ENVELOPE_BYTES: usize = 64;

/// A message of one kind.
pub trait BusMessage: Message + Default {
    /// Its kind.
    const KIND: MessageKind;

    /// Encodes it with its envelope.
    ///
    /// # Errors
    /// [`MessageError::TooLarge`] beyond the limit of its kind.
    fn to_bytes(&self) -> Result<Vec<u8>, MessageError> {
        let bytes = self.encoded_len();
        check_size(Self::KIND, bytes)?;
        let header = Header { version: FORMAT_VERSION, kind: Self::KIND.number() };
        let mut buffer = Vec::with_capacity(bytes + MAX_ENVELOPE_BYTES);
        header.encode_raw(&mut buffer);
        prost::encoding::message::encode(MESSAGE_FIELD, self, &mut buffer);
        Ok(buffer)
    }

    /// Decodes it from its envelope.
    ///
    /// # Errors
    /// Fails for bytes that are too many, not a message of this kind, or of a newer format.
    fn from_bytes(bytes: &[u8]) -> Result<Self, MessageError> {
        EncodedMessage::parse(bytes.to_vec())?.decode()
    }
}

/// Number of the field of the envelope that holds the message.
const MESSAGE_FIELD: u32 = 3;

/// The fields of the envelope before the message.
#[derive(Clone, PartialEq, Message)]
struct Header {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(uint32, tag = "2")]
    kind: u32,
}

/// An envelope as it was received.
#[derive(Clone, PartialEq, Message)]
struct Envelope {
    /// Version of the format.
    #[prost(uint32, tag = "1")]
    version: u32,
    /// Number of the kind of the message.
    #[prost(uint32, tag = "2")]
    kind: u32,
    /// The message.
    #[prost(bytes = "bytes", optional, tag = "3")]
    message: Option<bytes::Bytes>,
}

/// A message whose envelope was read. It keeps the bytes that it came in, to be passed on unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedMessage {
    bytes: bytes::Bytes,
    kind: MessageKind,
    message: bytes::Bytes,
}

impl EncodedMessage {
    /// Reads the envelope in `bytes`.
    ///
    /// # Errors
    /// Fails for bytes that are too many or no envelope, a newer format, and an unknown kind.
    pub fn parse(bytes: impl Into<bytes::Bytes>) -> Result<Self, MessageError> {
        let bytes: bytes::Bytes = bytes.into();
        let malformed = |reason| MessageError::Malformed { kind: None, reason };
        let envelope = Envelope::decode(bytes.clone()).map_err(|error| malformed(error.to_string()))?;
        if envelope.version == 0 {
            return Err(malformed("it has no format version".to_owned()));
        }
        if envelope.version > FORMAT_VERSION {
            let (found, supported) = (envelope.version, FORMAT_VERSION);
            return Err(MessageError::UnsupportedVersion { found, supported });
        }
        let kind = MessageKind::from_number(envelope.kind)
            .ok_or_else(|| malformed(format!("there is no kind of message {}", envelope.kind)))?;
        let message = envelope.message.ok_or_else(|| malformed("the envelope is empty".to_owned()))?;
        check_size(kind, message.len())?;
        Ok(Self { bytes, kind, message })
    }

    /// Returns the kind of the message.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// Returns the bytes as they came, with all fields, also those of a newer version.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of the message without its envelope.
    #[must_use]
    pub fn message_bytes(&self) -> bytes::Bytes {
        self.message.clone()
    }

    /// Decodes the message; unknown fields are ignored.
    ///
    /// # Errors
    /// Fails when it is of another kind, or malformed.
    pub fn decode<M: BusMessage>(&self) -> Result<M, MessageError> {
        if self.kind != M::KIND {
            return Err(MessageError::WrongKind { expected: M::KIND, found: self.kind.name().to_owned() });
        }
        M::decode(self.message.clone())
            .map_err(|error| MessageError::Malformed { kind: Some(self.kind), reason: error.to_string() })
    }
}

fn check_size(kind: MessageKind, bytes: usize) -> Result<(), MessageError> {
    let limit = kind.max_bytes();
    if bytes > limit { Err(MessageError::TooLarge { kind, bytes, limit }) } else { Ok(()) }
}
