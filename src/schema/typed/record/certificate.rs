//! Client certificates and authorities of accounts.

use serde::Deserialize;

/// A client certificate or an authority.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CertificateSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// Purpose of the certificate.
    pub kind: CertificateKind,
    /// Format in which it was uploaded: `PEM` or `PKCS#12`.
    pub format: Option<&'a str>,
}

/// Purpose of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateKind {
    /// Presented by monitors.
    Client,
    /// Verifies the certificates of servers.
    Authority,
}
