//! TLS that ends here, and begins anew towards the target: a private authority and a client certificate cannot be
//! given to a browser for one session alone. The target is verified here, so that the browser may take what it is
//! shown; the application protocol (RFC 7301) is the one that the target chose of those that the browser offers.

use std::sync::Arc;

use bytes::Bytes;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;

use super::prefixed_stream::PrefixedStream;
use super::relay::{self, RelayStream};
use super::trace_context::TraceContext;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{ConnectTrace, Deadline, Net, TlsOptions};

/// The first byte of a TLS connection: the type of a handshake record (RFC 8446 5.1).
const TLS_HANDSHAKE_RECORD: u8 = 22;
/// Application protocols of web pages.
const HTTP2: &[&[u8]] = &[b"h2", b"http/1.1"];
const HTTP1: &[&[u8]] = &[b"http/1.1"];

/// How TLS is bridged, with the key that this check shows to its browser.
pub(super) struct TlsInterceptor {
    options: TlsOptions,
    key: rcgen::KeyPair,
}

impl std::fmt::Debug for TlsInterceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("options", &self.options).finish_non_exhaustive()
    }
}

impl TlsInterceptor {
    pub(super) fn new(options: TlsOptions) -> Result<Self, Failure> {
        let key = rcgen::KeyPair::generate().map_err(|error| internal_failure(&error))?;
        Ok(Self { options, key })
    }

    /// Carries bytes between `browser` and `target` until both have ended; those that are no TLS as they are. With
    /// `tracing` they are requests that carry a trace.
    ///
    /// # Errors
    /// Why the handshake with the target failed.
    pub(super) async fn relay<S>(
        &self,
        net: &Net,
        mut browser: S,
        mut target: TcpStream,
        host: &str,
        tracing: Option<&Arc<TraceContext>>,
    ) -> Result<(), Failure>
    where
        S: RelayStream,
    {
        let mut first = [0; 1];
        // Ends before its first byte: there is nothing to carry.
        let Ok(1) = browser.read(&mut first).await else { return Ok(()) };
        let mut browser = PrefixedStream::new(Bytes::copy_from_slice(&first), browser);
        if first[0] != TLS_HANDSHAKE_RECORD {
            match tracing {
                // Browsers ask for a tunnel for `ws` too.
                Some(tracing) => relay::relay_http1(browser, target, tracing).await,
                None => drop(copy_bidirectional(&mut browser, &mut target).await),
            }
            return Ok(());
        }
        let Ok(hello) = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), browser).await else {
            return Ok(());
        };
        let offered = hello.client_hello();
        let wants_http2 = offered.alpn().is_some_and(|mut names| names.any(|name| name == b"h2"));
        let alpn = if wants_http2 { HTTP2 } else { HTTP1 };
        let options = TlsOptions { alpn, ..self.options.clone() };
        let deadline = Deadline::within(super::http1_builders::CONNECT_TIMEOUT);
        let mut trace = ConnectTrace::default();
        let mut target = net.handshake(target, host, &options, deadline, &mut trace).await?;
        let config = self.server_config(host, target.alpn_protocol())?;
        let Ok(mut browser) = hello.into_stream(Arc::new(config)).await else { return Ok(()) };
        match tracing {
            Some(tracing) if target.alpn_protocol() == Some(b"h2") => {
                relay::relay_http2(browser, target, tracing).await;
            }
            Some(tracing) => relay::relay_http1(browser, target, tracing).await,
            None => drop(copy_bidirectional(&mut browser, &mut target).await),
        }
        Ok(())
    }

    /// What the browser is shown: a certificate for `host`, signed by itself.
    fn server_config(&self, host: &str, alpn: Option<&[u8]>) -> Result<ServerConfig, Failure> {
        let host = super::blocked_hosts::normalize_host(host);
        let mut parameters =
            rcgen::CertificateParams::new(vec![host]).map_err(|error| internal_failure(&error))?;
        // Firefox takes no two certificates of one number, and each of these names its own host.
        let mut serial = [0; 16];
        ::aws_lc_rs::rand::fill(&mut serial).map_err(|_| internal_failure(&"no random numbers"))?;
        serial[0] &= 0x7f;
        parameters.serial_number = Some(rcgen::SerialNumber::from_slice(&serial));
        let shown = parameters.self_signed(&self.key).map_err(|error| internal_failure(&error))?;
        let chain = vec![CertificateDer::from(shown.der().to_vec())];
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| internal_failure(&error))?;
        config.alpn_protocols = alpn.into_iter().map(<[u8]>::to_vec).collect();
        Ok(config)
    }
}

fn internal_failure(error: &dyn std::fmt::Display) -> Failure {
    let detail = format!("TLS towards the browser cannot be set up: {error}");
    Failure::new(Phase::Prepare, FailureKind::Internal, detail)
}
