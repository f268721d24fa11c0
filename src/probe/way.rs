//! What the kinds that speak HTTP, and FTP with them, take alike out of a document: how connections are made.

use crate::net::{Family, TlsOptions, TlsVersions};
use crate::schema::Document;

/// The families of `ipv6_enabled` (fields.md 3); `None` for a value that is no choice.
pub(super) fn family(document: &Document) -> Option<Family> {
    match document.text("ipv6_enabled") {
        None | Some("Disabled") => Some(Family::V4Only),
        Some("Preferred") => Some(Family::V6Preferred),
        Some("Enforced") => Some(Family::V6Only),
        Some(_) => None,
    }
}

/// The proxy of the settings to go through.
pub(super) fn proxy(document: &Document) -> Option<i64> {
    id(document, "proxy_id")
}

/// The record that `field` names; none with 0.
fn id(document: &Document, field: &str) -> Option<i64> {
    Some(document.number(field)).filter(|&id| id != 0)
}

/// Versions, trust and client certificate; ALPN follows from the request.
pub(super) fn tls(document: &Document) -> TlsOptions {
    TlsOptions {
        versions: TlsVersions::of_field(document.text("use_ssl_version").unwrap_or_default()),
        alpn: &[],
        verify: document.flag("verify_certificate"),
        ca: id(document, "ca_cert_id"),
        client_certificate: id(document, "ssl_cert_id").filter(|_| document.flag("use_client_ssl_cert")),
    }
}
