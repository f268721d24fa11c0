//! QUIC connections (RFC 9000): a UDP socket that leaves as this location's connections do, the egress policy,
//! and the facts of its TLS 1.3 handshake.

mod gauge;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, EndpointConfig, TokioRuntime, TransportConfig};
use tokio::time::Instant;

use super::tls::QuicSession;
use super::{Deadline, Endpoint, Net, TlsOptions, Trace, decisive, socket};
use crate::model::{Failure, FailureKind, Phase};
pub use gauge::Gauge;
use gauge::Gauged;

/// How long an address that says nothing stands in the way of the next one.
const GIVE_WAY: Duration = Duration::from_secs(2);
/// TLS alerts are errors of QUIC from here on (RFC 9001 4.8).
const ALERTS: std::ops::Range<u64> = 0x100..0x200;
/// The alert of a server that does not speak the wanted protocol (RFC 7301 3.2).
const NO_APPLICATION_PROTOCOL: u64 = 0x178;

/// A connection that stands.
#[derive(Debug)]
pub struct Quic {
    /// The connection. It is closed when its last handle is dropped.
    pub connection: Connection,
    /// What comes in over it.
    pub gauge: Gauge,
}

impl Net {
    /// A QUIC connection to `to`: resolved, held to the egress policy, its addresses tried one after another. In
    /// `trace`, connect is the time until the server's first datagram and tls the rest of the handshake.
    ///
    /// # Errors
    /// The failure of the way or of the handshake. Proxies carry no UDP: one that the way would take is ours (95).
    pub async fn quic(
        &self,
        to: &Endpoint,
        options: &TlsOptions,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Quic, Failure> {
        let named = self.named_proxy(to)?;
        let session = self.quic_session(&to.host, options)?;
        let addresses = self.resolve(to, deadline, trace).await?;
        let allowed = self.permitted(&addresses, trace)?;
        let targets: Vec<SocketAddr> = allowed.iter().map(|&ip| SocketAddr::new(ip, to.port)).collect();
        if let Some(proxy) = targets.iter().find_map(|&at| self.proxy_towards(at, named)) {
            let detail = format!("HTTP/3 goes over UDP, which the proxy {proxy} does not carry");
            return Err(Failure::new(Phase::Connect, FailureKind::NotConfigured, detail));
        }
        let config = client_config(&session)?;
        let mut failures = Vec::new();
        for (number, &at) in (1..).zip(&targets) {
            trace.address = Some(at);
            let patience =
                if number < targets.len() { GIVE_WAY.min(deadline.left()) } else { deadline.left() };
            let (gauge, started) = (Gauge::default(), Instant::now());
            let shaking = self.shake(at, &to.host, config.clone(), &gauge);
            let shaken = tokio::time::timeout(patience, shaking).await;
            let answered = gauge.first();
            trace.phases.add(Phase::Connect, answered.unwrap_or_else(Instant::now).duration_since(started));
            if let Some(answered) = answered {
                trace.phases.add(Phase::Tls, answered.elapsed());
            }
            trace.tls = session.facts(matches!(shaken, Ok(Ok(_)))).map(Box::new).or(trace.tls.take());
            let phase = if answered.is_some() { Phase::Tls } else { Phase::Connect };
            match shaken {
                Ok(Ok(connection)) => return Ok(Quic { connection, gauge }),
                Ok(Err(Stopped::Failed(failure))) => failures.push(failure),
                Ok(Err(Stopped::Refused)) => failures.push(self.refused(at, phase, &gauge)),
                Ok(Err(Stopped::Closed(error))) => {
                    failures
                        .push(session.refusal().unwrap_or_else(|| Failure { phase, ..closed(at, &error) }));
                }
                Err(_) => failures.push(unanswered(at, phase, deadline)),
            }
        }
        Err(decisive(failures))
    }

    async fn shake(
        &self,
        at: SocketAddr,
        host: &str,
        config: ClientConfig,
        gauge: &Gauge,
    ) -> Result<Connection, Stopped> {
        let failed = |error: &std::io::Error| Stopped::Failed(self.dial_failure(at, error));
        let socket = socket::udp(self.source(), at).map_err(|error| failed(&error))?;
        let socket = Gauged::new(socket, gauge.clone()).map_err(|error| failed(&error))?;
        let endpoint = quinn::Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            None,
            Arc::new(socket),
            Arc::new(TokioRuntime),
        );
        let endpoint = endpoint.map_err(|error| failed(&error))?;
        let bare = host.strip_suffix('.').unwrap_or(host);
        let connecting = endpoint.connect_with(config, at, bare).map_err(|error| {
            let detail = format!("{at}: QUIC cannot begin: {error}");
            Stopped::Failed(Failure::new(Phase::Connect, FailureKind::Internal, detail))
        })?;
        tokio::select! {
            done = connecting => done.map_err(Stopped::Closed),
            () = gauge.failing() => Err(Stopped::Refused),
        }
    }

    /// What the socket says of the way to `at`.
    fn refused(&self, at: SocketAddr, phase: Phase, gauge: &Gauge) -> Failure {
        let error = gauge.error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
        let failure = self.dial_failure(at, &error);
        Failure { phase, detail: format!("{} (QUIC, over UDP)", failure.detail), ..failure }
    }
}

enum Stopped {
    Failed(Failure),
    /// The socket told an error, which the gauge has.
    Refused,
    Closed(ConnectionError),
}

fn client_config(session: &QuicSession) -> Result<ClientConfig, Failure> {
    let crypto = QuicClientConfig::try_from(session.config()).map_err(|error| {
        Failure::new(Phase::Tls, FailureKind::Internal, format!("QUIC cannot be spoken: {error}"))
    })?;
    let mut transport = TransportConfig::default();
    // The deadline of the attempt ends it.
    transport.max_idle_timeout(None);
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

fn unanswered(at: SocketAddr, phase: Phase, deadline: Deadline) -> Failure {
    let mut failure = Failure::timed_out(phase, deadline.timeout);
    if phase == Phase::Connect {
        failure.detail =
            format!("{at} does not answer QUIC over UDP; it may not speak HTTP/3, or something drops UDP");
    }
    failure
}

/// What it means that a QUIC connection to `at` ended with `error`.
#[must_use]
pub fn closed(at: SocketAddr, error: &ConnectionError) -> Failure {
    let (kind, words) = match error {
        ConnectionError::VersionMismatch => {
            (FailureKind::TlsHandshake, "it speaks no version of QUIC that is spoken here".to_owned())
        }
        ConnectionError::ConnectionClosed(close) => {
            let code = u64::from(close.error_code);
            match code {
                NO_APPLICATION_PROTOCOL => {
                    (FailureKind::TlsHandshake, "it speaks QUIC, but not HTTP/3".to_owned())
                }
                _ if ALERTS.contains(&code) => (FailureKind::TlsHandshake, close.to_string()),
                _ => (FailureKind::ResponseReset, format!("it closed the connection: {close}")),
            }
        }
        ConnectionError::ApplicationClosed(close) => {
            (FailureKind::ResponseReset, format!("it closed the connection: {close}"))
        }
        ConnectionError::TransportError(error) if ALERTS.contains(&u64::from(error.code)) => {
            (FailureKind::TlsHandshake, error.to_string())
        }
        ConnectionError::TransportError(error) => (FailureKind::ResponseInvalid, error.to_string()),
        ConnectionError::Reset => {
            (FailureKind::ResponseReset, "it knows nothing of the connection".to_owned())
        }
        ConnectionError::TimedOut => (FailureKind::TimedOut, "nothing more came".to_owned()),
        ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
            (FailureKind::Internal, error.to_string())
        }
    };
    let words = crate::model::printable(&words);
    Failure::new(Phase::Tls, kind, format!("{at}: {words}"))
}
