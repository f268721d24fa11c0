//! Why a request has no answer, and whether it is sent again.

use crate::domain::Failure;

/// Why there is no answer.
#[derive(Debug)]
pub struct RequestError {
    /// What went wrong.
    pub failure: Failure,
    /// Why another connection may bring one, for a request that can be sent again.
    pub retry: Option<RetryReason>,
}

/// Why a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// The connection had answered others and ended without a byte of an answer to this one: servers close
    /// connections that are idle or have carried enough (RFC 9110 9.2.2).
    StaleConnection,
    /// Its head may have more fields than [`HeaderLimit::Default`](super::limits::HeaderLimit::Default) is for.
    TooManyHeaders,
}
