//! The values of a row, whatever the engine stores them as.

use serde::{Deserialize, Serialize};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopyValue {
    /// No value.
    Null,
    /// A truth value.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A text; JSON is the text as it is stored.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The values of a row, in the order of the columns.
pub type CopyRow = Vec<CopyValue>;

/// The values of the key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyKey(pub Vec<CopyValue>);

impl CopyValue {
    /// Returns how many bytes it takes, about.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        match self {
            Self::Null | Self::Boolean(_) => 1,
            Self::Integer(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Appends its form in checksums: a tag and the value, with its length where that differs.
    pub(super) fn write_canonical(&self, out: &mut Vec<u8>) {
        let (tag, bytes): (u8, &[u8]) = match self {
            Self::Null => (0, &[]),
            Self::Boolean(value) => (1, if *value { &[1] } else { &[0] }),
            Self::Integer(value) => {
                out.push(2);
                out.extend_from_slice(&value.to_be_bytes());
                return;
            }
            Self::Text(text) => (3, text.as_bytes()),
            Self::Bytes(bytes) => (4, bytes),
        };
        out.push(tag);
        out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
        out.extend_from_slice(bytes);
    }
}
