//! Answers to a server that asks who is there: Basic (RFC 7617) and Digest (RFC 7616).

mod challenge;
mod digest;
mod session;

pub(super) use session::AuthScheme;
pub use session::HttpCredentials;
