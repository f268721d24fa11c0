//! TLS of QUIC connections: the same trust, verifier and facts as over TCP.

use std::io;
use std::sync::Arc;

use rustls::{CipherSuite, ClientConfig};

use super::handshake::parse_server_name;
use super::options::{TlsOptions, TlsVersions};
use super::verifier::RecordingVerifier;
use super::{certificate, failure};
use crate::domain::{Failure, FailureKind, Phase, TlsFacts};
use crate::net::stack::Net;

/// The TLS state of a QUIC handshake with one server.
pub(in crate::net) struct QuicTlsClient {
    server_name: Box<str>,
    config: Arc<ClientConfig>,
    verifier: Arc<RecordingVerifier>,
}

impl Net {
    /// Creates the TLS state of a QUIC connection to the server `server_name`. It uses TLS 1.3 (RFC 9001 4.2).
    pub(in crate::net) fn quic_tls_client(
        &self,
        server_name: &str,
        options: &TlsOptions,
    ) -> Result<QuicTlsClient, Failure> {
        if !matches!(options.versions, TlsVersions::Default | TlsVersions::Tls13Only) {
            let detail = "HTTP/3 needs TLS 1.3, and `use_ssl_version` asks for another version";
            return Err(Failure::new(Phase::Tls, FailureKind::TlsVersionUnsupported, detail));
        }
        self.stack.tls_context.trust_store.check_access(
            options.ca_id,
            options.client_certificate_id,
            self.egress_principal,
        )?;
        // Check the name here for a specific error message.
        parse_server_name(server_name)?;
        let verifier = Arc::new(RecordingVerifier::new(
            self.stack.tls_context.trust_store.anchors_for_ca(options.ca_id)?,
            options.verify_certificate,
        ));
        let config = Arc::new(self.stack.tls_context.build_client_config(options, verifier.clone())?);
        Ok(QuicTlsClient { server_name: server_name.into(), config, verifier })
    }
}

impl QuicTlsClient {
    /// Returns the configuration of the handshake.
    pub(in crate::net) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.config)
    }

    /// Returns the facts as far as the handshake got. Version and suite are only set when it was `is_complete`;
    /// `cipher_suite` is its number (RFC 8446 B.4).
    pub(in crate::net) fn tls_facts(&self, is_complete: bool, cipher_suite: Option<u16>) -> Option<TlsFacts> {
        let certificates = certificate::parse_chain(&self.verifier.last_chain());
        let tls_version = is_complete.then(|| "TLSv1.3".to_owned());
        let cipher_suite = cipher_suite.filter(|_| is_complete).map(CipherSuite::from);
        let tls_cipher =
            cipher_suite.and_then(|cipher_suite| cipher_suite.as_str()).map(certificate::cipher_name);
        (is_complete || !certificates.is_empty()).then_some(TlsFacts {
            tls_version,
            tls_cipher,
            certificates,
        })
    }

    /// Returns why the certificate was refused, if it was.
    pub(in crate::net) fn certificate_failure(&self) -> Option<Failure> {
        let error = io::Error::new(io::ErrorKind::InvalidData, self.verifier.last_certificate_error()?);
        let certificates = certificate::parse_chain(&self.verifier.last_chain());
        Some(failure::handshake_failure(&error, &self.server_name, &certificates))
    }
}
