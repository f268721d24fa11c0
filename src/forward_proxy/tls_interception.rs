//! Terminates TLS of the browser and opens TLS to the target, since a browser cannot be given a private authority and a
//! client certificate for a single session. The target is verified here, so the browser may accept the proxy's
//! certificate. The application protocol (RFC 7301) is the one that the target chose from the offer of the browser.

use std::sync::Arc;

use bytes::Bytes;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;

use super::http_relay::{self, RelayStream};
use super::prefixed_stream::PrefixedStream;
use super::trace_context::TraceContext;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{ConnectionTrace, Deadline, Net, TlsOptions};

/// First byte of a TLS connection: the type of a handshake record (RFC 8446 5.1).
const TLS_HANDSHAKE_RECORD: u8 = 22;
/// Application protocols of web pages.
const ALPN_HTTP2_OR_HTTP1: &[&[u8]] = &[b"h2", b"http/1.1"];
const ALPN_HTTP1: &[&[u8]] = &[b"http/1.1"];

/// Terminates TLS, with the key of the certificates for this check's browser.
pub(super) struct TlsInterceptor {
    target_tls_options: TlsOptions,
    certificate_key: rcgen::KeyPair,
}

impl std::fmt::Debug for TlsInterceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsInterceptor").field("options", &self.target_tls_options).finish_non_exhaustive()
    }
}

impl TlsInterceptor {
    pub(super) fn new(options: TlsOptions) -> Result<Self, Failure> {
        let key = rcgen::KeyPair::generate().map_err(|error| internal_failure(&error))?;
        Ok(Self { target_tls_options: options, certificate_key: key })
    }

    /// Relays bytes between `browser` and `target` until both have ended; bytes other than TLS unchanged. With
    /// `trace_context`, relays HTTP and adds the trace to its requests.
    ///
    /// # Errors
    /// Why the handshake with the target failed.
    pub(super) async fn run_tunnel<S>(
        &self,
        net: &Net,
        mut browser: S,
        mut target: TcpStream,
        host: &str,
        trace_context: Option<&Arc<TraceContext>>,
    ) -> Result<(), Failure>
    where
        S: RelayStream,
    {
        let mut first_byte = [0; 1];
        // The browser closed without a byte: nothing to relay.
        let Ok(1) = browser.read(&mut first_byte).await else { return Ok(()) };
        let mut browser = PrefixedStream::new(Bytes::copy_from_slice(&first_byte), browser);
        if first_byte[0] != TLS_HANDSHAKE_RECORD {
            match trace_context {
                // Browsers use a tunnel for `ws` too.
                Some(trace_context) => http_relay::relay_http1(browser, target, trace_context).await,
                None => drop(copy_bidirectional(&mut browser, &mut target).await),
            }
            return Ok(());
        }
        let Ok(tls_start) = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), browser).await
        else {
            return Ok(());
        };
        let client_hello = tls_start.client_hello();
        let offers_http2 = client_hello.alpn().is_some_and(|mut names| names.any(|name| name == b"h2"));
        let alpn = if offers_http2 { ALPN_HTTP2_OR_HTTP1 } else { ALPN_HTTP1 };
        let options = TlsOptions { alpn_protocols: alpn, ..self.target_tls_options.clone() };
        let deadline = Deadline::within(super::http1_builders::HEAD_AND_CONNECT_TIMEOUT);
        let mut trace = ConnectionTrace::default();
        let mut target = net.tls_handshake(target, host, &options, deadline, &mut trace).await?;
        let config = self.browser_side_config(host, target.alpn_protocol())?;
        let Ok(mut browser) = tls_start.into_stream(Arc::new(config)).await else { return Ok(()) };
        match trace_context {
            Some(trace_context) if target.alpn_protocol() == Some(b"h2") => {
                http_relay::relay_http2(browser, target, trace_context).await;
            }
            Some(trace_context) => http_relay::relay_http1(browser, target, trace_context).await,
            None => drop(copy_bidirectional(&mut browser, &mut target).await),
        }
        Ok(())
    }

    /// Returns the configuration for the browser, with a self-signed certificate for `host`.
    fn browser_side_config(&self, host: &str, alpn_protocol: Option<&[u8]>) -> Result<ServerConfig, Failure> {
        let host = super::blocked_hosts::normalize_host(host);
        let mut parameters =
            rcgen::CertificateParams::new(vec![host]).map_err(|error| internal_failure(&error))?;
        // Firefox rejects two certificates with the same serial number, and each of these is for another host.
        let mut serial = [0; 16];
        ::aws_lc_rs::rand::fill(&mut serial).map_err(|_| internal_failure(&"no random numbers"))?;
        serial[0] &= 0x7f;
        parameters.serial_number = Some(rcgen::SerialNumber::from_slice(&serial));
        let certificate =
            parameters.self_signed(&self.certificate_key).map_err(|error| internal_failure(&error))?;
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.certificate_key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| internal_failure(&error))?;
        config.alpn_protocols = alpn_protocol.into_iter().map(<[u8]>::to_vec).collect();
        Ok(config)
    }
}

fn internal_failure(error: &dyn std::fmt::Display) -> Failure {
    let detail = format!("TLS towards the browser cannot be set up: {error}");
    Failure::new(Phase::Prepare, FailureKind::Internal, detail)
}
