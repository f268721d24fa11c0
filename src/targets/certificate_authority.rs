//! The CA of the built-in targets and the certificate of its HTTPS server, created at every start.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use crate::clock::{Clock, SystemClock};

/// Lifetime of both certificates, which starts a day in the past.
const CERTIFICATE_LIFETIME: Duration = Duration::from_hours(400 * 24);
/// How long before their creation they become valid.
const BACKDATE: Duration = Duration::from_hours(24);

/// A CA, and the TLS acceptor of a server with a certificate from it.
pub(super) struct CertificateAuthority {
    ca_pem: String,
    tls_acceptor: TlsAcceptor,
}

impl CertificateAuthority {
    /// Creates a CA, and a server certificate for `localhost` and `server_addresses`.
    pub(super) fn new(server_addresses: &[IpAddr]) -> io::Result<Self> {
        let ca = CertifiedIssuer::self_signed(ca_params(), new_key()?).map_err(io::Error::other)?;
        let key = new_key()?;
        let certificate = server_params(server_addresses)
            .and_then(|params| params.signed_by(&key, &ca))
            .map_err(io::Error::other)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone(), ca.der().clone()], key)
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { ca_pem: ca.pem(), tls_acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Certificate of the CA, in PEM.
    pub(super) fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// TLS acceptor of the server.
    pub(super) fn tls_acceptor(&self) -> TlsAcceptor {
        self.tls_acceptor.clone()
    }
}

fn new_key() -> io::Result<KeyPair> {
    KeyPair::generate().map_err(io::Error::other)
}

fn ca_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Vigie responder CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params);
    params
}

fn server_params(ips: &[IpAddr]) -> Result<CertificateParams, rcgen::Error> {
    let names: Vec<String> =
        std::iter::once("localhost".to_owned()).chain(ips.iter().map(ToString::to_string)).collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "Vigie responder");
    set_validity(&mut params);
    Ok(params)
}

fn set_validity(params: &mut CertificateParams) {
    let now = Duration::from_micros(u64::try_from(SystemClock.now().as_micros()).unwrap_or_default());
    let not_before = UNIX_EPOCH + now.saturating_sub(BACKDATE);
    params.not_before = not_before.into();
    params.not_after = (not_before + CERTIFICATE_LIFETIME).into();
}
