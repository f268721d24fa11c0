//! TLS over any stream: new sessions, shared trust, and facts even about refused certificates.

mod accepted_path;
mod backend;
mod certificate;
mod chain_error;
mod client;
mod config;
mod der;
mod error_text;
mod failure;
mod handshake;
mod identity;
#[cfg(feature = "legacy-tls")]
mod legacy;
#[cfg(not(feature = "legacy-tls"))]
mod legacy_hello;
#[cfg(feature = "legacy-tls")]
mod legacy_stream;
mod ocsp;
mod options;
mod path;
mod pinned;
mod presented_chain;
mod public_roots;
mod quic;
mod revocation;
mod revocation_cache;
mod revocation_fetch;
mod rollover;
mod signed;
mod stream;
mod trust;
mod verifier;
mod weak_suites;

pub use client::{TlsClient, was_tls_session_resumed};
pub(super) use config::TlsContext;
pub use error_text::io_error_text;
pub use handshake::warm_up_crypto;
pub use identity::{IdentityRequest, PresentedIdentity};
#[cfg(feature = "legacy-tls")]
pub use legacy::LegacyTlsVersion;
pub use options::{TlsOptions, TlsVersions};
pub use pinned::pinned_or_issued;
pub use public_roots::{LoadedRoots, load_public_roots};
pub(super) use quic::QuicTlsClient;
pub(super) use revocation_cache::RevocationCache;
pub use stream::TlsStream;
pub use trust::{Pem, PublicRoots, TrustConfig};
