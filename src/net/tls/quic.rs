//! TLS of QUIC connections: the same trust, verifier and facts as over TCP.

use std::sync::Arc;

use rustls::{CipherSuite, ClientConfig};

use super::handshake::parse_server_name;
use super::options::{TlsOptions, TlsVersions};
use super::verifier::RecordingVerifier;
use super::{certificate, failure};
use crate::domain::{Failure, FailureKind, Phase, TlsFacts};
use crate::net::deadline::Deadline;
use crate::net::stack::Net;

/// The TLS state of a QUIC handshake with one server.
pub(in crate::net) struct QuicTlsClient {
    server_name: Box<str>,
    config: Arc<ClientConfig>,
    verifier: Arc<RecordingVerifier>,
    /// The network by which the authorities are asked; `None` without `check_revocation`.
    revocation_net: Option<Net>,
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
        let checks_revocation = options.check_revocation && options.verify_certificate;
        let revocation_net = checks_revocation.then(|| self.clone());
        Ok(QuicTlsClient { server_name: server_name.into(), config, verifier, revocation_net })
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
        let verification = self.verifier.last_verification();
        let certificates = certificate::parse_chain(&verification.chain);
        let tls_version = is_complete.then(|| "TLSv1.3".to_owned());
        let cipher_suite = cipher_suite.filter(|_| is_complete).map(CipherSuite::from);
        let tls_cipher =
            cipher_suite.and_then(|cipher_suite| cipher_suite.as_str()).map(certificate::cipher_name);
        (is_complete || !certificates.is_empty()).then_some(TlsFacts {
            tls_version,
            tls_cipher,
            certificates,
            tls_warnings: verification.warnings,
        })
    }

    /// Asks the authorities whether a certificate of the accepted chain is revoked, if the monitor wants that; returns
    /// warnings about certificates without an answer.
    pub(in crate::net) async fn check_revocation(&self, deadline: Deadline) -> Result<Vec<String>, Failure> {
        let Some(net) = &self.revocation_net else { return Ok(Vec::new()) };
        super::revocation::check_revocation(net, &self.verifier, deadline).await.map_err(|error| {
            let verification = self.verifier.last_verification();
            let (kind, detail) =
                error.describe(&self.server_name, &verification.chain, &self.verifier.trust_anchors);
            Failure::new(Phase::Tls, kind, detail)
        })
    }

    /// Returns why the certificate was refused, if it was.
    pub(in crate::net) fn certificate_failure(&self) -> Option<Failure> {
        self.verifier.last_verification().error?;
        let (kind, detail) = failure::certificate_failure(&self.server_name, &self.verifier);
        Some(Failure::new(Phase::Tls, kind, detail))
    }
}
