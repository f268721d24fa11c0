//! Client certificates and authorities of accounts.

use serde::Deserialize;

/// A client certificate or an authority.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CertificateSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// What it is for.
    pub kind: CertificateKind,
    /// `PEM` or `PKCS#12`: as it came in.
    pub format: Option<&'a str>,
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateKind {
    /// Monitors show it.
    Client,
    /// Servers are checked against it.
    Authority,
}
