//! TLS over any stream: new sessions, shared trust, and facts even about refused certificates.

mod certificate;
mod client;
mod config;
mod failure;
mod handshake;
#[cfg(feature = "legacy-tls")]
mod legacy;
#[cfg(feature = "legacy-tls")]
mod legacy_stream;
mod options;
mod quic;
mod stream;
mod trust;
mod verifier;

pub use client::{TlsClient, was_tls_session_resumed};
pub(super) use config::TlsContext;
pub use handshake::warm_up_crypto;
#[cfg(feature = "legacy-tls")]
pub use legacy::LegacyTlsVersion;
pub use options::{TlsOptions, TlsVersions};
pub(super) use quic::QuicTlsClient;
pub use stream::TlsStream;
pub use trust::{Pem, PublicRoots, TrustConfig};
