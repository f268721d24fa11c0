//! What the kinds that speak HTTP take alike out of a document: how connections are made.

use crate::model::Document;
use crate::net::{Family, TlsOptions, TlsVersions};

/// The families of `ipv6_enabled` (fields.md 3); `None` for a value that is no choice.
pub(super) fn family(document: &Document) -> Option<Family> {
    match document.text("ipv6_enabled") {
        None | Some("Disabled") => Some(Family::V4Only),
        Some("Preferred") => Some(Family::V6Preferred),
        Some("Enforced") => Some(Family::V6Only),
        Some(_) => None,
    }
}

/// Versions, trust and client certificate; ALPN follows from the request.
pub(super) fn tls(document: &Document) -> TlsOptions {
    let id = |field| Some(document.number(field)).filter(|&id| id != 0);
    TlsOptions {
        versions: TlsVersions::of_field(document.text("use_ssl_version").unwrap_or_default()),
        alpn: &[],
        verify: document.flag("verify_certificate"),
        ca: id("ca_cert_id"),
        client_certificate: id("ssl_cert_id").filter(|_| document.flag("use_client_ssl_cert")),
    }
}
