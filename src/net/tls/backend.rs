//! The TLS library of a handshake.

use std::sync::Arc;

use rustls::ClientConfig;

#[cfg(feature = "legacy-tls")]
use super::{legacy, trust::ClientCertificate};

/// The TLS library, with its configuration.
#[derive(Clone, Debug)]
pub(super) enum TlsBackend {
    Rustls(Arc<ClientConfig>),
    #[cfg(feature = "legacy-tls")]
    Legacy(legacy::LegacyTlsVersion, Option<Arc<ClientCertificate>>),
    /// A hello that finds out which weak cipher suite of TLS 1.2 the server would choose; no connection comes of it.
    #[cfg(not(feature = "legacy-tls"))]
    WeakSuiteDetection,
}
