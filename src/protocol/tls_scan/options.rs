//! What a scan of a TLS server is given besides its endpoint.

use std::time::Duration;

/// Bounds of a scan of a TLS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsScanOptions {
    /// Longest time of one connection, from the handshake of TCP to the answer, unless the deadline comes first.
    pub connection_timeout: Duration,
}

impl Default for TlsScanOptions {
    fn default() -> Self {
        Self { connection_timeout: Duration::from_secs(5) }
    }
}
