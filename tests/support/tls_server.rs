//! Test certificates, and TLS servers on loopback that present them.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::crypto::aws_lc_rs;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A certificate authority.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
#[derive(Clone)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for `names`, valid from the first to the second of `years`.
    pub fn issue(&self, names: &[&str], years: (i32, i32)) -> Identity {
        self.issue_for(&KeyPair::generate().unwrap().serialize_pem(), names, years)
    }

    /// Like [`Authority::issue`], for an existing key in PEM.
    pub fn issue_for(&self, key: &str, names: &[&str], years: (i32, i32)) -> Identity {
        let key = KeyPair::from_pem(key).unwrap();
        let certificate = leaf(names, years).signed_by(&key, &self.0).unwrap();
        Identity { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

/// Creates a self-signed certificate for `names`; `authority` marks it as a CA.
pub fn self_signed(names: &[&str], authority: bool) -> Identity {
    let key = KeyPair::generate().unwrap();
    let mut params = leaf(names, (2020, 2090));
    if authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    Identity { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

fn leaf(names: &[&str], (from, until): (i32, i32)) -> CertificateParams {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, "leaf");
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    params
}

impl Identity {
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.certificate.as_bytes()).map(Result::unwrap).collect()
    }

    pub fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }

    /// Returns certificate and key in one PEM text.
    pub fn pem(&self) -> String {
        format!("{}{}", self.certificate, self.key)
    }
}

pub fn config(
    identity: &Identity,
    versions: &[&'static SupportedProtocolVersion],
    client_ca: Option<&Authority>,
) -> ServerConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions).unwrap();
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(ca.pem().as_bytes()).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    builder.with_single_cert(identity.chain(), identity.private_key()).unwrap()
}

/// Serves `config` on `ip` and sends `hello` to every client that completes the handshake.
pub async fn serve(ip: &str, config: ServerConfig) -> SocketAddr {
    let listener = TcpListener::bind((ip, 0)).await.unwrap();
    let at = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.write_all(b"hello\r\n").await;
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    at
}
