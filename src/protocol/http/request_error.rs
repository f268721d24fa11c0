//! Why a request has no response, and whether it should be sent again.

use crate::domain::Failure;

/// Why a request has no response.
#[derive(Debug)]
pub struct RequestError {
    /// The failure.
    pub failure: Failure,
    /// Why another connection may get a response, for a request that can be sent again.
    pub retry_reason: Option<RetryReason>,
}

/// Why a request should be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// The connection had answered other requests and ended without a byte of this response: servers close connections
    /// that are idle or were used enough (RFC 9110 9.2.2).
    StaleConnection,
    /// Its response may have more header fields than [`HeaderLimit::Default`](super::limits::HeaderLimit::Default)
    /// allows.
    TooManyHeaders,
}
