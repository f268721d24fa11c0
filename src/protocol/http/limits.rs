//! Limits of what a server may send.

/// Bytes of a response head, status line included, that are read at most.
pub const MAX_HEAD_BYTES: u32 = 64 * 1024;

/// Header fields of a response that are read at most.
pub const MAX_HEADER_FIELDS: usize = 256;

/// Bytes that are read at most before the head of the answer is complete: informational answers, and in
/// HTTP/2 the frames of the connection.
pub(super) const MAX_PREAMBLE_BYTES: u64 = 256 * 1024;

/// How many fields the head of an answer over a connection may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderLimit {
    /// A hundred, as hyper has room for without asking for memory each time.
    Default,
    /// [`MAX_HEADER_FIELDS`](MAX_HEADER_FIELDS).
    Maximum,
}
