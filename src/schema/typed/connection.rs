//! Settings for connections to a target.

use std::num::NonZeroU16;

use serde::Deserialize;

/// The port of the service.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PortSettings {
    /// The port; `None` for that of the protocol.
    pub port: Option<NonZeroU16>,
}

/// How the address of a host name is found.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct AddressSettings<'a> {
    /// Address to connect to when `resolve_dns` is false.
    pub ipv4: Option<&'a str>,
    /// Whether the name is resolved afresh for each attempt.
    pub resolve_dns: bool,
}

/// How a TLS certificate is verified.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TrustSettings {
    /// Whether chain, name and dates of the certificate are verified.
    pub verify_certificate: bool,
    /// A private authority that is trusted in addition to those of the system.
    pub ca_cert_id: Option<i64>,
}

/// Whether revoked certificates are looked for.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RevocationSettings {
    /// Whether the authorities are asked if a certificate is revoked.
    pub check_revocation: bool,
}

/// The client certificate.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ClientCertificateSettings {
    /// Id of the certificate.
    pub ssl_cert_id: Option<i64>,
    /// Whether it is presented.
    pub use_client_ssl_cert: bool,
}

impl ClientCertificateSettings {
    /// Returns the id of the certificate to present.
    #[must_use]
    pub fn presented_certificate(&self) -> Option<i64> {
        self.ssl_cert_id.filter(|&id| self.use_client_ssl_cert && id != 0)
    }
}

/// The version of TLS.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TlsVersionSettings {
    /// The only version to use.
    pub use_ssl_version: SslVersion,
}

/// A version of TLS or SSL that can be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum SslVersion {
    /// The best of TLS 1.2 and 1.3.
    #[serde(rename = "")]
    Auto,
    /// SSL 2.0.
    #[serde(rename = "2")]
    Ssl2,
    /// SSL 3.0.
    #[serde(rename = "3")]
    Ssl3,
    /// TLS 1.0.
    #[serde(rename = "10")]
    Tls10,
    /// TLS 1.1.
    #[serde(rename = "11")]
    Tls11,
    /// TLS 1.2.
    #[serde(rename = "12")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "13")]
    Tls13,
}

impl SslVersion {
    /// Returns its value in the field table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "",
            Self::Ssl2 => "2",
            Self::Ssl3 => "3",
            Self::Tls10 => "10",
            Self::Tls11 => "11",
            Self::Tls12 => "12",
            Self::Tls13 => "13",
        }
    }
}

/// Address families.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct AddressFamilySettings {
    /// Address families.
    pub ipv6_enabled: Ipv6Mode,
}

/// Address families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Ipv6Mode {
    /// IPv4 only.
    Disabled,
    /// IPv6, then IPv4.
    Preferred,
    /// IPv6 only.
    Enforced,
}

/// A forward proxy of the settings.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ProxySettings {
    /// Id of the proxy that the check goes through.
    pub proxy_id: Option<i64>,
}

impl ProxySettings {
    /// Returns the id of the proxy that the check goes through.
    #[must_use]
    pub fn selected_proxy(&self) -> Option<i64> {
        self.proxy_id.filter(|&id| id != 0)
    }
}
