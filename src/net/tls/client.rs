//! The client side of TLS, shared by all connections to one server.

use std::sync::Arc;

use rustls::HandshakeKind;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::backend::TlsBackend;
#[cfg(feature = "legacy-tls")]
use super::legacy;
#[cfg(not(feature = "legacy-tls"))]
use super::legacy_hello;
use super::stream::{HandshakeResult, TlsStream};
use super::verifier::RecordingVerifier;
use super::{certificate, failure, revocation};
use crate::domain::{Failure, Phase, TlsFacts};
use crate::net::deadline::Deadline;
use crate::net::endpoint::ConnectionTrace;
use crate::net::stack::Net;

/// The client side of TLS with one server: the configuration, and optionally the sessions to resume. Cheap to
/// clone; created by [`crate::net::stack::Net::tls_client`].
#[derive(Clone, Debug)]
pub struct TlsClient {
    /// `server_name` in the form that the TLS libraries take.
    pub(super) parsed_server_name: ServerName<'static>,
    /// Name of the server as given, for messages.
    pub(super) server_name: Box<str>,
    pub(super) backend: TlsBackend,
    pub(super) verifier: Arc<RecordingVerifier>,
    /// The network by which the authorities are asked about revoked certificates; `None` without `check_revocation`.
    pub(super) revocation_net: Option<Net>,
}

impl TlsClient {
    /// Runs a TLS handshake over `stream`. `trace.tls_facts` is set as far as it got, also when the certificate
    /// was refused. A resumed session has no certificates; those of the earlier handshake are reported.
    pub async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<TlsStream<S>, Failure> {
        let started = Instant::now();
        let result = self.run_handshake(stream, deadline).await;
        trace.phases.add(Phase::Tls, started.elapsed());
        let HandshakeResult { result: connection_result, tls_version: version, tls_cipher: cipher } = result?;
        let verification = self.verifier.last_verification();
        let certificates = certificate::parse_chain(&verification.chain);
        let tls_warnings = verification.warnings.clone();
        let mut facts = TlsFacts { certificates, tls_version: version, tls_cipher: cipher, tls_warnings };
        let connection_result = connection_result.and_then(|connect_result| {
            connect_result.map_err(|error| {
                trace.peer_sent_non_tls_data |= failure::is_not_tls(&error);
                trace.may_need_weak_suites |=
                    self.can_retry_with_weak_suites() && failure::may_lack_cipher_suites(&error);
                failure::handshake_failure(&error, &self.server_name, &self.verifier)
            })
        });
        let connection_result = match connection_result {
            Ok(stream) => {
                facts.tls_warnings.extend(self.weakness_warning(facts.tls_cipher.as_deref()));
                self.check_revocation(deadline, trace, &mut facts.tls_warnings).await.map(|()| stream)
            }
            Err(failure) => Err(failure),
        };
        if connection_result.is_ok() || !facts.certificates.is_empty() {
            trace.tls_facts = Some(Box::new(facts));
        }
        connection_result
    }

    /// Asks the authorities whether a certificate of the accepted chain is revoked, if the monitor wants that.
    async fn check_revocation(
        &self,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
        warnings: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Some(net) = &self.revocation_net else { return Ok(()) };
        let started = Instant::now();
        // On the heap, since few handshakes ask.
        let result = Box::pin(revocation::check_revocation(net, &self.verifier, deadline)).await;
        trace.phases.add(Phase::Validate, started.elapsed());
        match result {
            Ok(revocation_warnings) => {
                warnings.extend(revocation_warnings);
                Ok(())
            }
            Err(error) => {
                let verification = self.verifier.last_verification();
                let (kind, detail) =
                    error.describe(&self.server_name, &verification.chain, &self.verifier.trust_anchors);
                Err(Failure::new(Phase::Tls, kind, detail))
            }
        }
    }

    /// Whether a server that refused the cipher suites may accept weak ones.
    fn can_retry_with_weak_suites(&self) -> bool {
        matches!(self.backend, TlsBackend::Rustls(_))
    }

    /// Returns what is weak about a session of this client with this cipher suite.
    #[cfg(feature = "legacy-tls")]
    fn weakness_warning(&self, cipher: Option<&str>) -> Option<String> {
        let TlsBackend::Legacy(legacy::LegacyTlsVersion::Tls12WeakSuites, _) = &self.backend else {
            return None;
        };
        let weakness = super::weak_suites::describe_weak_suite(cipher.unwrap_or("an unnamed cipher suite"));
        Some(format!("the target accepts only weak cipher suites of TLS 1.2, such as {weakness}"))
    }

    #[cfg(not(feature = "legacy-tls"))]
    #[expect(clippy::unused_self, reason = "other builds ask the backend")]
    fn weakness_warning(&self, _: Option<&str>) -> Option<String> {
        None
    }

    /// Whether a later handshake can resume an earlier session. Those of old versions cannot: that call of the OpenSSL
    /// binding is `unsafe`, which this crate forbids.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        matches!(self.backend, TlsBackend::Rustls(_))
    }

    /// Runs the handshake of the backend. Fails itself only before the handshake; its outcome is in the result.
    async fn run_handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        deadline: Deadline,
    ) -> Result<HandshakeResult<S>, Failure> {
        let config = match &self.backend {
            TlsBackend::Rustls(config) => config.clone(),
            #[cfg(feature = "legacy-tls")]
            TlsBackend::Legacy(version, client_certificate) => {
                let ssl = legacy::new_ssl(
                    *version,
                    &self.parsed_server_name,
                    client_certificate.as_ref().map(|certificate| &certificate.pem),
                )?;
                return legacy::handshake(ssl, stream, &self.parsed_server_name, &self.verifier, deadline)
                    .await;
            }
            #[cfg(not(feature = "legacy-tls"))]
            TlsBackend::WeakSuiteDetection => {
                return Err(
                    legacy_hello::weak_suites_failure(stream, &self.parsed_server_name, deadline).await
                );
            }
        };
        let connection = TlsConnector::from(config).connect(self.parsed_server_name.clone(), stream);
        let connection_result = deadline.enforce(Phase::Tls, connection).await;
        let rustls_connection = connection_result
            .as_ref()
            .ok()
            .and_then(|result| result.as_ref().ok())
            .map(|stream| stream.get_ref().1);
        let version = rustls_connection
            .and_then(|session| session.protocol_version()?.as_str())
            .map(certificate::version_name);
        let cipher =
            rustls_connection.and_then(|session| session.negotiated_cipher_suite()?.suite().as_str());
        let cipher = cipher.map(certificate::cipher_name);
        Ok(HandshakeResult {
            result: connection_result.map(|result| result.map(TlsStream::Rustls)),
            tls_version: version,
            tls_cipher: cipher,
        })
    }
}

/// Whether the handshake of `stream` resumed an earlier session.
#[must_use]
pub fn was_tls_session_resumed<S>(stream: &TlsStream<S>) -> bool {
    stream.rustls_connection().and_then(|session| session.handshake_kind()) == Some(HandshakeKind::Resumed)
}
