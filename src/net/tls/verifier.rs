//! The certificate verifier: it records the chain, then applies the trust of the location.

use crate::sync::Mutex;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::accepted_path::AcceptedPath;
use super::chain_error::ChainError;
use super::ocsp::{self, OcspStatus};
use super::path::verify_path;
use super::trust::TrustAnchors;

/// Records the chain that the server sent. Signatures are checked even when the certificate is not: they belong to the
/// protocol, not to the trust.
#[derive(Debug)]
pub(super) struct RecordingVerifier {
    /// The CAs and certificates that it trusts.
    pub(super) trust_anchors: Arc<TrustAnchors>,
    pub(super) verify_certificate: bool,
    /// Replaced by each handshake that is not resumed.
    verification: Mutex<ChainVerification>,
}

/// What the verification of the last full handshake showed.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainVerification {
    /// The chain as the server sent it; empty before the first handshake. A resumed session has no chain, and leaves
    /// the previous one.
    pub(super) chain: Vec<CertificateDer<'static>>,
    /// Why it was refused; `None` when it was accepted.
    pub(super) error: Option<ChainError>,
    /// The chain that was accepted, without those that were not needed; empty where certificates are not verified.
    pub(super) path: AcceptedPath,
    /// Remarks on what was accepted.
    pub(super) warnings: Vec<String>,
}

impl RecordingVerifier {
    pub(super) fn new(anchors: Arc<TrustAnchors>, verify: bool) -> Self {
        Self { trust_anchors: anchors, verify_certificate: verify, verification: Mutex::default() }
    }

    /// Returns what the last handshake showed.
    pub(super) fn last_verification(&self) -> ChainVerification {
        self.verification.lock().clone()
    }

    /// Verifies the chain; the path is empty for a pinned certificate, and where certificates are not verified.
    fn verify_chain(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<AcceptedPath, ChainError> {
        if !self.verify_certificate {
            return Ok(AcceptedPath::default());
        }
        if self.trust_anchors.pinned_certificates.iter().any(|pinned| pinned == end_entity) {
            verify_pinned_certificate(end_entity, server_name, now)?;
            return Ok(AcceptedPath::default());
        }
        verify_path(&self.trust_anchors, end_entity, intermediates, server_name, now)
            .map_err(ChainError::Path)
    }

    /// Reads the response of the authority that the server sent along (RFC 6066 8). One that says nothing is a remark.
    fn read_stapled_response(
        &self,
        path: &AcceptedPath,
        response: &[u8],
        now: UnixTime,
    ) -> Result<Option<String>, ChainError> {
        let Some(link) = path.links.first().filter(|_| !response.is_empty()) else { return Ok(None) };
        let algorithms = self.trust_anchors.crypto_provider.signature_verification_algorithms.all;
        match ocsp::read_response(response, link, algorithms, now) {
            Ok(OcspStatus::Good(_)) => Ok(None),
            Ok(OcspStatus::Revoked(since, reason)) => Err(ChainError::Revoked {
                index: 0,
                since: Some(since),
                reason,
                source: "the OCSP response that the server sends along".to_owned(),
            }),
            Ok(OcspStatus::Unknown) => Ok(Some(
                "the OCSP response that the server sends along says that its authority does not know the certificate"
                    .to_owned(),
            )),
            Err(reason) => Ok(Some(format!("the OCSP response that the server sends along is not used: {reason}"))),
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
        let mut verification = ChainVerification {
            chain: chain.map(|der| der.clone().into_owned()).collect(),
            ..ChainVerification::default()
        };
        let result = self.verify_chain(end_entity, intermediates, server_name, now).and_then(|path| {
            let remark = self.read_stapled_response(&path, ocsp_response, now)?;
            Ok((path, remark))
        });
        let result = match result {
            Ok((path, remark)) => {
                verification.warnings.extend(remark);
                verification.warnings.extend(path.expired_root.as_ref().map(|(subject, not_after)| {
                    format!(
                        "the chain ends at the authority `{subject}`, which is trusted here and expired at \
                         {not_after}; programs that ask for its dates refuse the chain"
                    )
                }));
                verification.path = path;
                Ok(ServerCertVerified::assertion())
            }
            Err(error) => {
                let alert_cause = error.to_rustls_error();
                verification.error = Some(error);
                Err(alert_cause)
            }
        };
        *self.verification.lock() = verification;
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
) -> Result<(), ChainError> {
    let (_, parsed) = X509Certificate::from_der(der).map_err(|_| ChainError::Path(webpki::Error::BadDer))?;
    if parsed.version().0 == 0 {
        return Err(ChainError::PinnedWithoutNames);
    }
    let at =
        |time: i64| UnixTime::since_unix_epoch(std::time::Duration::from_secs(time.try_into().unwrap_or(0)));
    let (not_before, not_after) =
        (at(parsed.validity().not_before.timestamp()), at(parsed.validity().not_after.timestamp()));
    if now > not_after {
        return Err(ChainError::Path(webpki::Error::CertExpired { time: now, not_after }));
    }
    if now < not_before {
        return Err(ChainError::Path(webpki::Error::CertNotValidYet { time: now, not_before }));
    }
    let end_entity = webpki::EndEntityCert::try_from(der).map_err(ChainError::Path)?;
    end_entity.verify_is_valid_for_subject_name(name).map_err(ChainError::Path)
}
