//! The servers that a command trusts over TLS: those with certificates of the system's authorities and of `--ca-file`,
//! and the server of this host by the certificate in its host token.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use rustls::{CertificateError, Error};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::net::{load_public_roots, pinned_or_issued};

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
        let mut roots = load_public_roots().roots;
        if let Some(file) = self.ca_file {
            let certificates: Result<Vec<_>, _> =
                CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
            let certificates =
                certificates.with_context(|| format!("the CA file `{}` cannot be read", file.display()))?;
            let (added_count, _) = roots.add_parsable_certificates(certificates);
            anyhow::ensure!(added_count > 0, "there is no certificate in the CA file `{}`", file.display());
        }
        let config = pinned_or_issued(self.pinned_sha256, roots).context("the authorities cannot be used")?;
        Ok(Arc::new(config).into())
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
