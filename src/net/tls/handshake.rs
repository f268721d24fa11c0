//! TLS handshakes of checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};

use super::client::TlsClient;
use super::options::{TlsOptions, TlsVersions};
use super::stream::TlsStream;
use super::trust::Pem;
use super::verifier::RecordingVerifier;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;
use crate::net::endpoint::ConnectionTrace;
use crate::net::error::NetConfigError;
use crate::net::stack::Net;

impl Net {
    /// Replaces the certificates that are set at run time: authorities (`ca_cert_id`) and client certificates with
    /// their keys (`ssl_cert_id`), by id. Those of the settings remain, and have precedence for the same id. Unusable
    /// ones are skipped; returns their errors. Handshakes in progress continue with the old ones.
    #[must_use = "these certificates are not used"]
    pub fn set_certificates(
        &self,
        authorities: BTreeMap<i64, Pem>,
        client_certificates: BTreeMap<i64, Pem>,
    ) -> Vec<(i64, NetConfigError)> {
        self.stack.tls_context.trust_store.set_runtime_certificates(authorities, client_certificates)
    }

    /// Runs a TLS handshake over `stream` with the server `server_name`, a host name (sent as SNI) or an address.
    /// `trace.tls_facts` is set as far as the handshake got, also when the certificate was refused.
    pub async fn tls_handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        server_name: &str,
        options: &TlsOptions,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<TlsStream<S>, Failure> {
        self.tls_client(server_name, options, false)?.handshake(stream, deadline, trace).await
    }

    /// Creates the shared state of handshakes of several connections to the server `server_name`. With
    /// `allow_resumption` later handshakes resume the first session, as FTP servers require for data connections.
    /// Sessions are never resumed across [`TlsClient`]s, and not in versions before TLS 1.2.
    pub fn tls_client(
        &self,
        server_name: &str,
        options: &TlsOptions,
        allow_resumption: bool,
    ) -> Result<TlsClient, Failure> {
        self.stack.tls_context.trust_store.check_access(
            options.ca_id,
            options.client_certificate_id,
            self.egress_principal,
        )?;
        let parsed_server_name = parse_server_name(server_name)?;
        let verifier = Arc::new(RecordingVerifier::new(
            self.stack.tls_context.trust_store.anchors_for_ca(options.ca_id)?,
            options.verify_certificate,
        ));
        let context = &self.stack.tls_context;
        let offers_weak_suites = self.offers_only_weak_suites
            && matches!(options.versions, TlsVersions::Default | TlsVersions::Tls12Only);
        let backend = if offers_weak_suites {
            context.build_weak_suite_backend(options, &verifier)?
        } else {
            context.build_backend(options, &verifier, allow_resumption)?
        };
        let checks_revocation = options.check_revocation && options.verify_certificate;
        let revocation_net =
            checks_revocation.then(|| Self { offers_only_weak_suites: false, ..self.clone() });
        Ok(TlsClient {
            parsed_server_name,
            server_name: server_name.into(),
            backend,
            verifier,
            revocation_net,
        })
    }
}

pub(super) fn parse_server_name(server_name: &str) -> Result<ServerName<'static>, Failure> {
    let name_without_dot = server_name.strip_suffix('.').unwrap_or(server_name);
    ServerName::try_from(name_without_dot.to_owned()).map_err(|_| {
        let detail = format!("`{server_name}` is not a name that a certificate can contain");
        Failure::new(Phase::Tls, FailureKind::CertificateNameMismatch, detail)
    })
}

/// Generates the first random number and the first key of the process. This takes some 26 ms, which the first handshake
/// would otherwise attribute to its target.
pub fn warm_up_crypto() {
    let provider = aws_lc_rs::default_provider();
    let mut seed = [0; 32];
    // A failure recurs in the first handshake, with its reason.
    let _ = provider.secure_random.fill(&mut seed);
    for group in &provider.kx_groups {
        let _ = group.start();
    }
}
