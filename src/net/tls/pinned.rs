//! TLS to a server of Vigie, whose certificate is known by its fingerprint or issued by an authority.

use std::sync::Arc;

use aws_lc_rs::digest;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Returns the configuration of a client that accepts the certificate with this SHA-256, and those that `authorities`
/// issued.
///
/// # Errors
/// Fails for authorities that cannot be used.
pub fn pinned_or_issued(
    pinned_sha256: Option<[u8; 32]>,
    authorities: RootCertStore,
) -> Result<ClientConfig, Error> {
    let crypto_provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    // Without any authorities, the pinned certificate can still be accepted.
    let chain_verifier = if authorities.is_empty() {
        None
    } else {
        let authorities = Arc::new(authorities);
        let builder = WebPkiServerVerifier::builder_with_provider(authorities, Arc::clone(&crypto_provider));
        Some(builder.build().map_err(|error| Error::General(error.to_string()))?)
    };
    let verifier =
        PinOrChainVerifier { pinned_sha256, chain_verifier, crypto_provider: Arc::clone(&crypto_provider) };
    Ok(ClientConfig::builder_with_provider(crypto_provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

/// Accepts the certificate with the pinned SHA-256, and certificates that the authorities issued.
#[derive(Debug)]
struct PinOrChainVerifier {
    pinned_sha256: Option<[u8; 32]>,
    chain_verifier: Option<Arc<WebPkiServerVerifier>>,
    crypto_provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinOrChainVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self
            .pinned_sha256
            .is_some_and(|fingerprint| digest::digest(&digest::SHA256, end_entity).as_ref() == fingerprint)
        {
            return Ok(ServerCertVerified::assertion());
        }
        match &self.chain_verifier {
            Some(verifier) => {
                verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            }
            None => Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.crypto_provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.crypto_provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.crypto_provider.signature_verification_algorithms.supported_schemes()
    }
}
