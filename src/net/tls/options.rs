//! Options of a TLS handshake.

#[cfg(feature = "legacy-tls")]
use super::legacy::LegacyTlsVersion;

/// TLS versions that a handshake offers (interface.md 2.2 `use_ssl_version`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersions {
    /// TLS 1.3 and 1.2, the best that both sides support.
    #[default]
    Default,
    /// TLS 1.2 only.
    Tls12Only,
    /// TLS 1.3 only.
    Tls13Only,
    /// Only this one version older than TLS 1.2.
    #[cfg(feature = "legacy-tls")]
    Legacy(LegacyTlsVersion),
    /// A version of this name that needs the cargo feature `legacy-tls`, which this build lacks. Every handshake fails
    /// with [`TlsVersionUnsupported`](crate::domain::FailureKind::TlsVersionUnsupported).
    NotInThisBuild(&'static str),
    /// A version of this name that no build supports. Every handshake fails with
    /// [`TlsVersionUnsupported`](crate::domain::FailureKind::TlsVersionUnsupported).
    Unsupported(&'static str),
}

impl TlsVersions {
    /// Returns the versions of a value of the field: empty, `2`, `3`, `10`, `11`, `12` or `13`.
    #[must_use]
    #[cfg(feature = "legacy-tls")]
    pub fn from_field(value: &str) -> Self {
        match value {
            "3" => Self::Legacy(LegacyTlsVersion::Ssl3),
            "10" => Self::Legacy(LegacyTlsVersion::Tls10),
            "11" => Self::Legacy(LegacyTlsVersion::Tls11),
            other => Self::from_field_of_any_build(other),
        }
    }

    /// Returns the versions of a value of the field: empty, `2`, `3`, `10`, `11`, `12` or `13`.
    #[must_use]
    #[cfg(not(feature = "legacy-tls"))]
    pub fn from_field(value: &str) -> Self {
        match value {
            "3" => Self::NotInThisBuild("SSL 3.0"),
            "10" => Self::NotInThisBuild("TLS 1.0"),
            "11" => Self::NotInThisBuild("TLS 1.1"),
            other => Self::from_field_of_any_build(other),
        }
    }

    fn from_field_of_any_build(value: &str) -> Self {
        match value {
            "" => Self::Default,
            "12" => Self::Tls12Only,
            "13" => Self::Tls13Only,
            "2" => Self::Unsupported("SSL 2.0"),
            _ => Self::Unsupported("an unlisted version"),
        }
    }

    /// Whether this build supports them.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        !matches!(self, Self::NotInThisBuild(_) | Self::Unsupported(_))
    }
}

/// Options of a TLS handshake.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// TLS versions to offer.
    pub versions: TlsVersions,
    /// Application protocols to offer (RFC 7301), the preferred one first; empty for no ALPN.
    pub alpn_protocols: &'static [&'static [u8]],
    /// Whether the certificate must be valid. Its facts are recorded in either case.
    pub verify_certificate: bool,
    /// Whether the authorities are asked if a certificate is revoked (`check_revocation`); only where certificates are
    /// verified.
    pub check_revocation: bool,
    /// Id of a CA that is trusted in addition to those of the location (fields.md 2 `ca_cert_id`).
    pub ca_id: Option<i64>,
    /// Id of the client certificate to present when the server requests one (`ssl_cert_id`).
    pub client_certificate_id: Option<i64>,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            versions: TlsVersions::Default,
            alpn_protocols: &[],
            verify_certificate: true,
            check_revocation: false,
            ca_id: None,
            client_certificate_id: None,
        }
    }
}
