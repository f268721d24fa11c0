//! HTTP authentication: Basic (RFC 7617) and Digest (RFC 7616).

mod challenge;
mod credentials;
mod digest;

pub(super) use credentials::AuthScheme;
pub use credentials::HttpCredentials;
