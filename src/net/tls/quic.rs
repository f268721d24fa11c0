//! The TLS of a QUIC connection: the same trust, verifier and facts as over TCP.

use std::io;
use std::sync::Arc;

use rustls::{CipherSuite, ClientConfig};

use super::handshake::named;
use super::options::{TlsOptions, TlsVersions};
use super::verify::Recorder;
use super::{facts, fault};
use crate::domain::{Failure, FailureKind, Phase, TlsFacts};
use crate::net::stack::Net;

/// What a QUIC handshake with one server needs, and what it brought.
pub(in crate::net) struct QuicSession {
    server_name: Box<str>,
    config: Arc<ClientConfig>,
    recorder: Arc<Recorder>,
}

impl Net {
    /// The TLS side of a QUIC connection to the server called `server_name`. It is TLS 1.3 (RFC 9001 4.2).
    pub(in crate::net) fn quic_session(
        &self,
        server_name: &str,
        options: &TlsOptions,
    ) -> Result<QuicSession, Failure> {
        if options.versions != TlsVersions::Best {
            let detail = "HTTP/3 needs TLS 1.3, and `use_ssl_version` asks for another version";
            return Err(Failure::new(Phase::Tls, FailureKind::TlsUnsupported, detail));
        }
        // Whether the name can be one is found here, with words of its own.
        named(server_name)?;
        let recorder = Arc::new(Recorder::new(self.tls.trusted.with_ca(options.ca)?, options.verify));
        let config = Arc::new(self.tls.config(options, recorder.clone())?);
        Ok(QuicSession { server_name: server_name.into(), config, recorder })
    }
}

impl QuicSession {
    /// For the handshake.
    pub(in crate::net) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.config)
    }

    /// The facts as far as the handshake came; `stands` when it was completed, with the `suite` of this number
    /// (RFC 8446 B.4).
    pub(in crate::net) fn facts(&self, stands: bool, suite: Option<u16>) -> Option<TlsFacts> {
        let certificates = facts::certificates(&self.recorder.chain());
        let tls_version = stands.then(|| "TLSv1.3".to_owned());
        let suite = suite.filter(|_| stands).map(CipherSuite::from);
        let tls_cipher = suite.and_then(|suite| suite.as_str()).map(facts::cipher);
        (stands || !certificates.is_empty()).then_some(TlsFacts { tls_version, tls_cipher, certificates })
    }

    /// Why the certificate was refused here, when it was.
    pub(in crate::net) fn refusal(&self) -> Option<Failure> {
        let error = io::Error::new(io::ErrorKind::InvalidData, self.recorder.refusal()?);
        let certificates = facts::certificates(&self.recorder.chain());
        Some(fault::handshake_failure(&error, &self.server_name, &certificates))
    }
}
