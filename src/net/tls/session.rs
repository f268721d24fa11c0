//! One TLS configuration for all connections of one session.

use std::sync::Arc;

use rustls::{ClientConfig, HandshakeKind};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::verify::Recorder;
use super::{facts, fault};
use crate::model::{Failure, Phase, TlsFacts};
use crate::net::{Deadline, Trace};

/// What the handshakes with one server share: configuration, and when wanted the sessions to take up
/// again. Cheap to clone; made by [`crate::net::Net::tls_session`].
#[derive(Clone, Debug)]
pub struct TlsSession {
    pub(super) name: ServerName<'static>,
    pub(super) server_name: Box<str>,
    pub(super) config: Arc<ClientConfig>,
    pub(super) recorder: Arc<Recorder>,
}

impl TlsSession {
    /// Speaks TLS over `stream`. `trace.tls` is filled as far as the handshake came, also when the
    /// certificate was refused. A session that is taken up again brings the certificates of its first
    /// handshake.
    pub async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<TlsStream<S>, Failure> {
        let started = Instant::now();
        let connecting = TlsConnector::from(self.config.clone()).connect(self.name.clone(), stream);
        let outcome = deadline.hold(Phase::Tls, connecting).await;
        trace.phases.add(Phase::Tls, started.elapsed());
        let certificates = facts::certificates(&self.recorder.chain());
        let mut facts = TlsFacts { certificates, ..TlsFacts::default() };
        if let Ok(Ok(stream)) = &outcome {
            let session = stream.get_ref().1;
            facts.tls_version = session.protocol_version().and_then(|v| v.as_str()).map(facts::version);
            facts.tls_cipher =
                session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).map(facts::cipher);
        }
        let outcome = outcome.and_then(|done| {
            done.map_err(|error| fault::handshake_failure(&error, &self.server_name, &facts.certificates))
        });
        if outcome.is_ok() || !facts.certificates.is_empty() {
            trace.tls = Some(Box::new(facts));
        }
        outcome
    }
}

/// Whether the handshake of `stream` took up an earlier session again.
#[must_use]
pub fn was_resumed<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed)
}
