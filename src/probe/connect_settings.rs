//! Connection settings that the HTTP and FTP monitor types read from a document.

use crate::net::{AddressFamily, TlsOptions, TlsVersions};
use crate::schema::typed::connection::{
    AddressFamilySettings, ClientCertificateSettings, Ipv6Mode, ProxySettings, TlsVersionSettings,
    TrustSettings,
};
use crate::schema::{InvalidSettings, MonitorDocument};

/// Returns the address family of `ipv6_enabled` (fields.md 3).
pub(super) fn address_family(document: &MonitorDocument) -> Result<AddressFamily, InvalidSettings> {
    let settings: AddressFamilySettings = document.to_typed()?;
    Ok(match settings.ipv6_enabled {
        Ipv6Mode::Disabled => AddressFamily::V4Only,
        Ipv6Mode::Preferred => AddressFamily::V6Preferred,
        Ipv6Mode::Enforced => AddressFamily::V6Only,
    })
}

/// Returns the id of the proxy to use, if one is set.
pub(super) fn proxy_id(document: &MonitorDocument) -> Result<Option<i64>, InvalidSettings> {
    Ok(document.to_typed::<ProxySettings>()?.id())
}

/// Returns TLS versions, server verification and client certificate; ALPN follows from the request.
pub(super) fn tls_options(document: &MonitorDocument) -> Result<TlsOptions, InvalidSettings> {
    let version: TlsVersionSettings = document.to_typed()?;
    Ok(TlsOptions {
        versions: TlsVersions::from_field(version.use_ssl_version.as_str()),
        ..default_tls_options(document)?
    })
}

/// Returns server verification and client certificate with the default TLS versions, for types without that field.
pub(super) fn default_tls_options(document: &MonitorDocument) -> Result<TlsOptions, InvalidSettings> {
    let client: ClientCertificateSettings = document.to_typed()?;
    Ok(TlsOptions { client_certificate_id: client.certificate_id(), ..trust_options(document)? })
}

/// Returns only how the server's certificate is verified: whether at all, and by which CA.
pub(super) fn trust_options(document: &MonitorDocument) -> Result<TlsOptions, InvalidSettings> {
    let trust: TrustSettings = document.to_typed()?;
    let ca = trust.ca_cert_id.filter(|&id| id != 0);
    Ok(TlsOptions { verify: trust.verify_certificate, ca_id: ca, ..TlsOptions::default() })
}
