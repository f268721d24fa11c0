//! The servers that a command trusts over TLS: those with certificates of the system's authorities and of `--ca-file`,
//! and the server of this host by the certificate in its host token.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use aws_lc_rs::digest;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// What a connection trusts in addition to the authorities of the system.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerTrust<'a> {
    /// File of authorities, in PEM.
    pub(super) ca_file: Option<&'a Path>,
    /// SHA-256 of the certificate of the server on this host.
    pub(super) pinned_sha256: Option<[u8; 32]>,
}

impl ServerTrust<'_> {
    /// Returns a TLS connector that trusts these servers.
    pub(super) fn tls_connector(&self) -> anyhow::Result<tokio_rustls::TlsConnector> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(file) = self.ca_file {
            let certificates: Result<Vec<_>, _> =
                CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
            let certificates =
                certificates.with_context(|| format!("the CA file `{}` cannot be read", file.display()))?;
            let (added_count, _) = roots.add_parsable_certificates(certificates);
            anyhow::ensure!(added_count > 0, "there is no certificate in the CA file `{}`", file.display());
        }
        let crypto_provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        // Without any authorities, the pinned certificate of the own server can still be accepted.
        let chain_verifier = if roots.is_empty() {
            None
        } else {
            let verifier =
                WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&crypto_provider));
            Some(verifier.build().context("the authorities cannot be used")?)
        };
        let verifier = PinOrChainVerifier {
            pinned_sha256: self.pinned_sha256,
            chain_verifier,
            crypto_provider: Arc::clone(&crypto_provider),
        };
        let config = ClientConfig::builder_with_provider(crypto_provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Arc::new(config).into())
    }
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

/// Returns a hint for a handshake that failed with `error`.
pub(super) fn handshake_hint(error: &std::io::Error) -> &'static str {
    let tls_error = error.get_ref().and_then(|source| source.downcast_ref::<Error>());
    match tls_error {
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "use a host name that is in the certificate of the server",
        Some(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => "the server needs a new certificate",
        Some(Error::InvalidCertificate(_)) => "`--ca-file FILE` trusts a private authority",
        Some(Error::InvalidMessage(_)) => "if the server has no certificate, name it `http://…`",
        _ => "see the log of the server",
    }
}
