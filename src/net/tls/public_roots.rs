//! The public authorities that are trusted without a setting.

use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;

/// The public authorities of this host.
#[derive(Clone, Debug)]
pub struct LoadedRoots {
    /// Those that are trusted.
    pub roots: RootCertStore,
    /// The certificates of the system. If empty, `roots` are those of Mozilla that are built in.
    pub system_certificates: Vec<CertificateDer<'static>>,
}

/// Loads the authorities of the system (`/etc/ssl/certs`, or `SSL_CERT_FILE` and `SSL_CERT_DIR`). Where the system has
/// none, as in an empty container, takes those of Mozilla that are built in.
#[must_use]
pub fn load_public_roots() -> LoadedRoots {
    // Single files that cannot be read or parsed are skipped, as other programs do.
    let system_certificates = rustls_native_certs::load_native_certs().certs;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(system_certificates.iter().cloned());
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return LoadedRoots { roots, system_certificates: Vec::new() };
    }
    LoadedRoots { roots, system_certificates }
}
