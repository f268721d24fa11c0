//! The certificate verifier: it records the chain, then applies the trust of the location.

use crate::sync::Mutex;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::trust::TrustAnchors;

/// Records the chain that the server sent. Signatures are checked even when the certificate is not: they belong to the
/// protocol, not of trust.
#[derive(Debug)]
pub(super) struct RecordingVerifier {
    trust_anchors: Arc<TrustAnchors>,
    verify_certificate: bool,
    /// The chain of the last server that sent one.
    last_chain: Mutex<Vec<CertificateDer<'static>>>,
    /// Why it was refused, since some libraries report only the alert.
    last_certificate_error: Mutex<Option<Error>>,
}

impl RecordingVerifier {
    pub(super) fn new(anchors: Arc<TrustAnchors>, verify: bool) -> Self {
        Self {
            trust_anchors: anchors,
            verify_certificate: verify,
            last_chain: Mutex::default(),
            last_certificate_error: Mutex::default(),
        }
    }

    /// Returns the chain as the server sent it; empty before the first handshake. A resumed session has no chain, and
    /// leaves the previous one.
    pub(super) fn last_chain(&self) -> Vec<CertificateDer<'static>> {
        self.last_chain.lock().clone()
    }

    /// Returns why the last certificate was refused; `None` when it was accepted.
    pub(super) fn last_certificate_error(&self) -> Option<Error> {
        self.last_certificate_error.lock().clone()
    }

    fn verify_chain(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self.verify_certificate {
            return Ok(ServerCertVerified::assertion());
        }
        if self.trust_anchors.pinned_certificates.iter().any(|pinned| pinned == end_entity) {
            return verify_pinned_certificate(end_entity, server_name, now);
        }
        match &self.trust_anchors.chain_verifier {
            Some(verifier) => {
                verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            }
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }
}

impl ServerCertVerifier for RecordingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chain = std::iter::once(end_entity).chain(intermediates);
        let chain = chain.map(|der| der.clone().into_owned()).collect();
        *self.last_chain.lock() = chain;
        let result = self.verify_chain(end_entity, intermediates, server_name, ocsp_response, now);
        *self.last_certificate_error.lock() = result.as_ref().err().cloned();
        result
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.trust_anchors.crypto_provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.trust_anchors.crypto_provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust_anchors.crypto_provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Verifies a certificate that is configured as trusted itself, like self-signed ones of a private network. It needs no
/// issuer, even when it is a CA; dates and names still count.
fn verify_pinned_certificate(
    der: &CertificateDer<'_>,
    name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, Error> {
    let (_, parsed) = X509Certificate::from_der(der).map_err(|_| CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now > parsed.validity().not_after.timestamp() {
        return Err(CertificateError::Expired.into());
    }
    if now < parsed.validity().not_before.timestamp() {
        return Err(CertificateError::NotValidYet.into());
    }
    verify_server_name(&ParsedCertificate::try_from(der)?, name)?;
    Ok(ServerCertVerified::assertion())
}
