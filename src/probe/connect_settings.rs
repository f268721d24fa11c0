//! Connection settings that the HTTP and FTP monitor types read from a document.

use crate::net::{AddressFamily, TlsOptions, TlsVersions};
use crate::schema::typed::connection::{
    AddressFamilySettings, ClientCertificateSettings, Ipv6Mode, ProxySettings, RevocationSettings,
    TlsVersionSettings, TrustSettings,
};
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Returns the address family of `ipv6_enabled` (fields.md 3).
pub(super) fn address_family(document: &MonitorDocument) -> Result<AddressFamily, InvalidFieldValue> {
    let settings: AddressFamilySettings = document.deserialize()?;
    Ok(match settings.ipv6_enabled {
        Ipv6Mode::Disabled => AddressFamily::V4Only,
        Ipv6Mode::Preferred => AddressFamily::V6Preferred,
        Ipv6Mode::Enforced => AddressFamily::V6Only,
    })
}

/// Returns the id of the proxy to use, if one is set.
pub(super) fn proxy_id(document: &MonitorDocument) -> Result<Option<i64>, InvalidFieldValue> {
    Ok(document.deserialize::<ProxySettings>()?.selected_proxy())
}

/// Returns TLS versions, server verification and client certificate; ALPN follows from the request.
pub(super) fn tls_options(document: &MonitorDocument) -> Result<TlsOptions, InvalidFieldValue> {
    let version: TlsVersionSettings = document.deserialize()?;
    Ok(TlsOptions {
        versions: TlsVersions::from_field(version.use_ssl_version.as_str()),
        check_revocation: document.deserialize::<RevocationSettings>()?.check_revocation,
        ..tls_options_with_default_versions(document)?
    })
}

/// Returns server verification without revocation, and client certificate, with the default TLS versions: for browsers.
pub(super) fn tls_options_with_default_versions(
    document: &MonitorDocument,
) -> Result<TlsOptions, InvalidFieldValue> {
    let client: ClientCertificateSettings = document.deserialize()?;
    Ok(TlsOptions { client_certificate_id: client.presented_certificate(), ..trust_options(document)? })
}

/// Returns only how the server's certificate is verified: whether at all, by which CA, and whether it may be revoked.
pub(super) fn server_verification_options(
    document: &MonitorDocument,
) -> Result<TlsOptions, InvalidFieldValue> {
    let check_revocation = document.deserialize::<RevocationSettings>()?.check_revocation;
    Ok(TlsOptions { check_revocation, ..trust_options(document)? })
}

fn trust_options(document: &MonitorDocument) -> Result<TlsOptions, InvalidFieldValue> {
    let trust: TrustSettings = document.deserialize()?;
    let ca_id = trust.ca_cert_id.filter(|&id| id != 0);
    Ok(TlsOptions { verify_certificate: trust.verify_certificate, ca_id, ..TlsOptions::default() })
}
