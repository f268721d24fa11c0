//! Limits of responses.

/// Longest response head that is read, in bytes, including the status line.
pub const MAX_HEAD_BYTES: u32 = 64 * 1024;

/// Maximum number of header fields of a response that are read.
pub const MAX_HEADER_FIELDS: usize = 256;

/// Maximum number of bytes read before the response head is complete: informational responses, and in HTTP/2 the frames
/// of the connection.
pub(super) const MAX_PREAMBLE_BYTES: u64 = 256 * 1024;

/// Maximum number of header fields of the responses on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderLimit {
    /// A hundred: hyper's default, which needs no allocation.
    Default,
    /// [`MAX_HEADER_FIELDS`](MAX_HEADER_FIELDS).
    Maximum,
}
