//! QUIC connections for HTTP/3.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, EndpointConfig, TokioRuntime, TransportConfig};
use tokio::time::Instant;

use super::meter::{MeteredSocket, QuicMeter};
use super::server_hello::{SharedCipherSuite, SuiteRecordingConfig};
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;
use crate::net::dial::{RaceResult, happy_eyeballs, join_first_items, primary_failure};
use crate::net::endpoint::{ConnectionTrace, Endpoint};
use crate::net::socket;
use crate::net::stack::Net;
use crate::net::tls::{QuicTlsClient, TlsOptions};

/// TLS alerts as QUIC error codes (RFC 9001 4.8).
const TLS_ALERT_CODES: std::ops::Range<u64> = 0x100..0x200;

/// The alert of a server without the requested protocol (RFC 7301 3.2).
const NO_APPLICATION_PROTOCOL_ALERT: u64 = 0x178;

/// An established connection.
#[derive(Debug)]
pub struct QuicConnection {
    /// The connection. It is closed when its last handle is dropped.
    pub connection: Connection,
    /// The meter of its received data.
    pub meter: QuicMeter,
}

/// A handshake with one address.
struct QuicHandshake {
    address: SocketAddr,
    /// Meters what its socket receives.
    meter: QuicMeter,
    tls_client: QuicTlsClient,
    /// Set when the server has chosen it.
    cipher_suite: SharedCipherSuite,
}

impl Net {
    /// Opens a QUIC connection to `endpoint`: resolves it, applies the egress policy, and tries its addresses like
    /// those of TCP, each up to the end of its handshake. In `trace`, connect is the time until the first datagram of
    /// the server, and tls is the rest of the handshake.
    ///
    /// # Errors
    /// Fails with the failure of the connection or handshake. Proxies do not relay UDP: when one would be used, it is
    /// Vigie's own fault (status 95).
    pub async fn quic_connect(
        &self,
        endpoint: &Endpoint,
        options: &TlsOptions,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<QuicConnection, Failure> {
        self.named_proxy(endpoint)?;
        // Errors that concern all addresses are reported before any is tried.
        self.quic_tls_client(&endpoint.host, options)?;
        let addresses = self.resolve(endpoint, deadline, trace).await?;
        self.quic_connect_resolved(endpoint, &addresses, options, deadline, trace).await
    }

    /// Connects like [`Self::quic_connect`] to `endpoint`, already resolved to `addresses`.
    ///
    /// # Errors
    /// Fails like [`Self::quic_connect`].
    pub async fn quic_connect_resolved(
        &self,
        endpoint: &Endpoint,
        addresses: &[IpAddr],
        options: &TlsOptions,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<QuicConnection, Failure> {
        let named_proxy = self.named_proxy(endpoint)?;
        let allowed_addresses = self.allowed_addresses(addresses, Some(endpoint.port), trace)?;
        let socket_addresses: Vec<SocketAddr> =
            allowed_addresses.iter().map(|&ip| SocketAddr::new(ip, endpoint.port)).collect();
        if let Some(proxy) = socket_addresses
            .iter()
            .find_map(|&address| self.proxy_for_address(address, named_proxy.as_deref()))
        {
            let detail = format!("HTTP/3 uses UDP, which the proxy {proxy} does not relay");
            return Err(Failure::new(Phase::Connect, FailureKind::NotConfigured, detail));
        }
        let (started, mut handshakes) = (Instant::now(), Vec::new());
        let race = happy_eyeballs(&socket_addresses, deadline, |address| {
            let tls_client = self.quic_tls_client(&endpoint.host, options);
            let handshake = tls_client.map(|tls_client| {
                Arc::new(QuicHandshake {
                    address,
                    meter: QuicMeter::default(),
                    tls_client,
                    cipher_suite: SharedCipherSuite::default(),
                })
            });
            handshakes.extend(handshake.as_ref().ok().cloned());
            async move {
                let result = match handshake {
                    Ok(handshake) => self.quic_handshake(&handshake, &endpoint.host).await,
                    Err(failure) => Err(failure),
                };
                (address, result)
            }
        });
        let race_result = race.await;
        let (connected_address, connection_result) = match race_result {
            RaceResult::Connected(address, connection) => (Some(address), Ok(connection)),
            RaceResult::AllFailed(failures) => (None, Err(primary_failure(failures))),
            RaceResult::TimedOut(failures) => {
                (None, Err(handshake_timeout_failure(&handshakes, &failures, deadline)))
            }
        };
        record_trace(&handshakes, connected_address, started, trace);
        let connected = handshakes.iter().find(|handshake| Some(handshake.address) == connected_address);
        if let Some(handshake) = connected.filter(|_| connection_result.is_ok()) {
            let started = Instant::now();
            // On the heap, since few handshakes ask.
            let result = Box::pin(handshake.tls_client.check_revocation(deadline)).await;
            trace.phases.add(Phase::Validate, started.elapsed());
            let revocation_warnings = result?;
            trace
                .tls_facts
                .iter_mut()
                .for_each(|facts| facts.tls_warnings.extend(revocation_warnings.iter().cloned()));
        }
        connection_result
    }

    async fn quic_handshake(&self, handshake: &QuicHandshake, host: &str) -> Result<QuicConnection, Failure> {
        let QuicHandshake {
            address: peer_address,
            meter,
            tls_client: quic_tls_client,
            cipher_suite: suite_cell,
        } = handshake;
        let config = build_client_config(quic_tls_client, suite_cell)?;
        let to_failure = |error: &std::io::Error| self.socket_failure(*peer_address, error);
        let socket = socket::create_connected_udp_socket(self.source_binding(), *peer_address)
            .map_err(|error| to_failure(&error))?;
        let socket = MeteredSocket::new(socket, meter.clone()).map_err(|error| to_failure(&error))?;
        let endpoint = quinn::Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            None,
            Arc::new(socket),
            Arc::new(TokioRuntime),
        );
        let endpoint = endpoint.map_err(|error| to_failure(&error))?;
        let server_name = host.strip_suffix('.').unwrap_or(host);
        let connection = endpoint.connect_with(config, *peer_address, server_name).map_err(|error| {
            let detail = format!("{peer_address}: QUIC cannot start: {error}");
            Failure::new(Phase::Connect, FailureKind::Internal, detail)
        })?;
        let phase = || if meter.first_datagram_at().is_some() { Phase::Tls } else { Phase::Connect };
        tokio::select! {
            connect_result = connection => match connect_result {
                Ok(connection) => Ok(QuicConnection { connection, meter: meter.clone() }),
                Err(error) => {
                    let close_failure = || Failure { phase: phase(), ..quic_connection_failure(*peer_address, &error) };
                    Err(quic_tls_client.certificate_failure().unwrap_or_else(close_failure))
                }
            },
            () = meter.wait_for_socket_error() => Err(self.quic_socket_failure(*peer_address, phase(), meter)),
        }
    }

    /// Converts the first error of the socket to a failure.
    fn quic_socket_failure(&self, address: SocketAddr, phase: Phase, meter: &QuicMeter) -> Failure {
        let error = meter.first_socket_error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
        let failure = self.socket_failure(address, &error);
        Failure { phase, detail: format!("{} (QUIC, over UDP)", failure.detail), ..failure }
    }
}

/// Records the handshake with the address `connected_address`, otherwise the one that progressed furthest.
fn record_trace(
    handshakes: &[Arc<QuicHandshake>],
    connected_address: Option<SocketAddr>,
    started: Instant,
    trace: &mut ConnectionTrace,
) {
    let last_responding =
        || handshakes.iter().rev().find(|handshake| handshake.meter.first_datagram_at().is_some());
    let handshake = match connected_address {
        Some(connected_address) => handshakes.iter().find(|handshake| handshake.address == connected_address),
        None => last_responding().or(handshakes.last()),
    };
    let Some(handshake) = handshake else { return };
    trace.peer_address = Some(handshake.address);
    let first_datagram_at = handshake.meter.first_datagram_at();
    trace.phases.add(Phase::Connect, first_datagram_at.unwrap_or_else(Instant::now).duration_since(started));
    if let Some(first_datagram_at) = first_datagram_at {
        trace.phases.add(Phase::Tls, first_datagram_at.elapsed());
    }
    let facts =
        handshake.tls_client.tls_facts(connected_address.is_some(), handshake.cipher_suite.get().copied());
    trace.tls_facts = facts.map(Box::new).or(trace.tls_facts.take());
}

fn build_client_config(
    tls_client: &QuicTlsClient,
    cipher_suite: &SharedCipherSuite,
) -> Result<ClientConfig, Failure> {
    let inner = QuicClientConfig::try_from(tls_client.config()).map_err(|error| {
        Failure::new(Phase::Tls, FailureKind::Internal, format!("QUIC cannot be configured: {error}"))
    })?;
    let mut transport = TransportConfig::default();
    // The deadline of the attempt limits it.
    transport.max_idle_timeout(None);
    let mut config = ClientConfig::new(Arc::new(SuiteRecordingConfig {
        inner: Arc::new(inner),
        suite: Arc::clone(cipher_suite),
    }));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

fn handshake_timeout_failure(
    handshakes: &[Arc<QuicHandshake>],
    failures: &[Failure],
    deadline: Deadline,
) -> Failure {
    let has_response = handshakes.iter().any(|handshake| handshake.meter.first_datagram_at().is_some());
    let phase = if has_response { Phase::Tls } else { Phase::Connect };
    let mut failure = deadline.timeout_failure(phase);
    if !has_response {
        let addresses = join_first_items(handshakes.iter().map(|handshake| handshake.address), ", ");
        failure.detail = format!(
            "no response from {addresses} over QUIC; it may not support HTTP/3, or a firewall drops UDP"
        );
    }
    if !failures.is_empty() {
        let other_details = join_first_items(failures.iter().map(|other| &other.detail), "; ");
        failure.detail = format!("{}; {other_details}", failure.detail);
    }
    failure
}

/// Returns the failure of a QUIC connection to `address` that ended with `error`.
#[must_use]
pub fn quic_connection_failure(address: SocketAddr, error: &ConnectionError) -> Failure {
    let (kind, text) = match error {
        ConnectionError::VersionMismatch => {
            (FailureKind::TlsHandshakeFailed, "it supports none of our QUIC versions".to_owned())
        }
        ConnectionError::ConnectionClosed(close) => {
            let code = u64::from(close.error_code);
            match code {
                NO_APPLICATION_PROTOCOL_ALERT => {
                    (FailureKind::TlsHandshakeFailed, "it supports QUIC, but not HTTP/3".to_owned())
                }
                _ if TLS_ALERT_CODES.contains(&code) => (FailureKind::TlsHandshakeFailed, close.to_string()),
                _ => (FailureKind::ResponseReset, format!("it closed the connection: {close}")),
            }
        }
        ConnectionError::ApplicationClosed(close) => {
            (FailureKind::ResponseReset, format!("it closed the connection: {close}"))
        }
        ConnectionError::TransportError(error) if TLS_ALERT_CODES.contains(&u64::from(error.code)) => {
            (FailureKind::TlsHandshakeFailed, error.to_string())
        }
        ConnectionError::TransportError(error) => (FailureKind::ResponseInvalid, error.to_string()),
        ConnectionError::Reset => {
            (FailureKind::ResponseReset, "it reset the connection (stateless reset)".to_owned())
        }
        ConnectionError::TimedOut => (FailureKind::TimedOut, "no more data was received".to_owned()),
        ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
            (FailureKind::Internal, error.to_string())
        }
    };
    let text = crate::domain::replace_control_chars(&text);
    Failure::new(Phase::Tls, kind, format!("{address}: {text}"))
}
