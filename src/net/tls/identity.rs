//! Handshakes of TLS 1.3 that look at what the server presents and trust nothing: for scans, which only describe.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, IpAddr, Ipv4Addr, ServerName, UnixTime};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::error_text::io_error_text;
use super::handshake::parse_server_name;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;
use crate::net::stack::Net;
use crate::sync::Mutex;

/// What is asked of the server.
#[derive(Clone, Copy, Debug)]
pub struct IdentityRequest<'a> {
    /// The name for SNI; `None` sends none.
    pub server_name: Option<&'a str>,
    /// Whether signatures by RSA are accepted.
    pub accepts_rsa: bool,
    /// Whether signatures by other keys are accepted.
    pub accepts_others: bool,
}

impl Default for IdentityRequest<'_> {
    fn default() -> Self {
        Self { server_name: None, accepts_rsa: true, accepts_others: true }
    }
}

/// What the server presented. Nothing of it is verified, not even the signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PresentedIdentity {
    /// The certificates in DER as sent.
    pub chain: Vec<Vec<u8>>,
    /// The stapled OCSP response in DER.
    pub ocsp_response: Option<Vec<u8>>,
    /// Number of the scheme of the signature.
    pub signature_scheme: Option<u16>,
    /// The protocol that was chosen among `h2` and `http/1.1`.
    pub alpn_protocol: Option<Vec<u8>>,
}

impl Net {
    /// Runs a handshake of TLS 1.3 over `stream` and returns what the server presents. A handshake that fails after the
    /// certificates counts, since they have been seen.
    pub async fn fetch_tls13_identity(
        &self,
        stream: TcpStream,
        request: IdentityRequest<'_>,
        deadline: Deadline,
    ) -> Result<PresentedIdentity, Failure> {
        let verifier = Arc::new(IdentityRecorder::new(request));
        let config = client_config(request, verifier.clone())
            .map_err(|error| Failure::new(Phase::Tls, FailureKind::Internal, error.to_string()))?;
        // Without a name there is no SNI, and whatever stands here is not sent.
        let name = match request.server_name {
            Some(name) => parse_server_name(name)?,
            None => ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([127, 0, 0, 1]))),
        };
        let connection = TlsConnector::from(Arc::new(config)).connect(name, stream);
        let result = deadline.enforce(Phase::Tls, connection).await?;
        let mut identity = verifier.identity.lock().clone();
        match result {
            Ok(stream) => identity.alpn_protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec),
            Err(error) if identity.chain.is_empty() => {
                let detail = io_error_text(&error);
                return Err(Failure::new(Phase::Tls, FailureKind::TlsHandshakeFailed, detail));
            }
            Err(_) => {}
        }
        Ok(identity)
    }
}

fn client_config(
    request: IdentityRequest<'_>,
    verifier: Arc<IdentityRecorder>,
) -> Result<ClientConfig, Error> {
    let provider =
        CryptoProvider { kx_groups: aws_lc_rs::ALL_KX_GROUPS.to_vec(), ..aws_lc_rs::default_provider() };
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.enable_sni = request.server_name.is_some();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Accepts every certificate and signature, and records them.
#[derive(Debug)]
struct IdentityRecorder {
    schemes: Vec<SignatureScheme>,
    identity: Mutex<PresentedIdentity>,
}

impl IdentityRecorder {
    fn new(request: IdentityRequest<'_>) -> Self {
        let rsa = [
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PSS_SHA384,
            SignatureScheme::RSA_PSS_SHA512,
            // Not for TLS 1.3, but for the certificates.
            SignatureScheme::RSA_PKCS1_SHA256,
            SignatureScheme::RSA_PKCS1_SHA384,
            SignatureScheme::RSA_PKCS1_SHA512,
            SignatureScheme::RSA_PKCS1_SHA1,
        ];
        let others = [
            SignatureScheme::ED25519,
            SignatureScheme::ED448,
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ECDSA_NISTP521_SHA512,
        ];
        let others = others.into_iter().filter(|_| request.accepts_others);
        let schemes = others.chain(rsa.into_iter().filter(|_| request.accepts_rsa)).collect();
        Self { schemes, identity: Mutex::default() }
    }
}

impl ServerCertVerifier for IdentityRecorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        ocsp_response: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let mut identity = self.identity.lock();
        identity.chain = std::iter::once(end_entity).chain(intermediates).map(|der| der.to_vec()).collect();
        identity.ocsp_response = (!ocsp_response.is_empty()).then(|| ocsp_response.to_vec());
        drop(identity);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.identity.lock().signature_scheme = Some(signature.scheme.into());
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_tls12_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
