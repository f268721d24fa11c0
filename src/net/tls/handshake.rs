//! TLS handshakes of checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};

use super::options::TlsOptions;
use super::session::TlsSession;
use super::stream::TlsStream;
use super::trust::Pem;
use super::verifier::RecordingVerifier;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;
use crate::net::endpoint::ConnectTrace;
use crate::net::error::NetError;
use crate::net::stack::Net;

impl Net {
    /// Takes certificates that come and go while it runs, instead of those that it took before: authorities
    /// (`ca_cert_id`) and client certificates with their keys (`ssl_cert_id`), by id. Those of the settings
    /// stay, and win where an id is in both. One that cannot be used is left out; answers why. Handshakes
    /// that began go on with what there was.
    pub fn set_certificates(
        &self,
        authorities: BTreeMap<i64, Pem>,
        clients: BTreeMap<i64, Pem>,
    ) -> Vec<(i64, NetError)> {
        self.tls.trust_store.set_dynamic(authorities, clients)
    }

    /// Speaks TLS over `stream` with the server called `server_name`, a host name (sent as SNI) or an
    /// address. `trace.tls` is filled as far as the handshake came, also when the certificate was refused.
    pub async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        server_name: &str,
        options: &TlsOptions,
        deadline: Deadline,
        trace: &mut ConnectTrace,
    ) -> Result<TlsStream<S>, Failure> {
        self.tls_session(server_name, options, false)?.handshake(stream, deadline, trace).await
    }

    /// What the handshakes of several connections to the server called `server_name` share. With `resumes`
    /// the later ones take up the session of the first, as FTP servers demand of data connections; nothing
    /// is ever taken up from another [`TlsSession`], and nothing in versions before TLS 1.2.
    pub fn tls_session(
        &self,
        server_name: &str,
        options: &TlsOptions,
        resumes: bool,
    ) -> Result<TlsSession, Failure> {
        let name = parse_server_name(server_name)?;
        let recorder = Arc::new(RecordingVerifier::new(
            self.tls.trust_store.anchors_for_ca(options.ca_id)?,
            options.verify,
        ));
        let way = self.tls.backend(options, &recorder, resumes)?;
        Ok(TlsSession { name, server_name: server_name.into(), backend: way, verifier: recorder })
    }
}

pub(super) fn parse_server_name(server_name: &str) -> Result<ServerName<'static>, Failure> {
    let bare = server_name.strip_suffix('.').unwrap_or(server_name);
    ServerName::try_from(bare.to_owned()).map_err(|_| {
        let detail = format!("`{server_name}` is no name that a certificate can be for");
        Failure::new(Phase::Tls, FailureKind::CertificateName, detail)
    })
}

/// Draws the first random number and makes the first key of the process. Left to the first handshake,
/// that would add some 26 ms to it, which would look like the target's.
pub fn warm_up() {
    let provider = aws_lc_rs::default_provider();
    let mut seed = [0; 32];
    // A failure shows again, with its reason, in the first handshake.
    let _ = provider.secure_random.fill(&mut seed);
    for group in &provider.kx_groups {
        let _ = group.start();
    }
}
