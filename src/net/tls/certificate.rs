//! Facts about certificates, and names of versions and cipher suites.

use std::net::IpAddr;

use aws_lc_rs::digest::{SHA256, digest};
use rustls_pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::domain::{Certificate, Timestamp, replace_control_chars};

/// Maximum number of certificates kept of a chain; a peer may send any number.
const MAX_CHAIN_LEN: usize = 10;
/// Maximum number of names kept of a certificate.
const MAX_ALT_NAMES: usize = 100;

/// Returns the facts of `chain`, in its order. An unreadable certificate is identified by its fingerprint.
pub(super) fn parse_chain(chain: &[CertificateDer<'static>]) -> Vec<Certificate> {
    chain.iter().take(MAX_CHAIN_LEN).map(|der| parse_certificate(der)).collect()
}

fn parse_certificate(der: &[u8]) -> Certificate {
    let sha256 = fingerprint(der);
    let Ok((_, parsed)) = X509Certificate::from_der(der) else {
        return Certificate {
            subject: "unreadable certificate".to_owned(),
            issuer: String::new(),
            subject_alt_names: Vec::new(),
            not_before: Timestamp::default(),
            not_after: Timestamp::default(),
            sha256,
        };
    };
    Certificate {
        subject: replace_control_chars(&parsed.subject().to_string()),
        issuer: replace_control_chars(&parsed.issuer().to_string()),
        subject_alt_names: subject_alt_names(&parsed),
        not_before: Timestamp::from_seconds(parsed.validity().not_before.timestamp()),
        not_after: Timestamp::from_seconds(parsed.validity().not_after.timestamp()),
        sha256,
    }
}

pub(super) fn subject_alt_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(extension)) = certificate.subject_alternative_name() else { return Vec::new() };
    let to_text = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some(replace_control_chars(name)),
        GeneralName::IPAddress(bytes) => parse_ip_address(bytes).map(|address| address.to_string()),
        _ => None,
    };
    extension.value.general_names.iter().filter_map(to_text).take(MAX_ALT_NAMES).collect()
}

fn parse_ip_address(bytes: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(bytes)
        .map(IpAddr::from)
        .or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}

fn fingerprint(der: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let hash = digest(&SHA256, der);
    let digits = hash.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Returns the usual spelling of a version: `TLSv1.3` for `TLSv1_3` of rustls.
pub(super) fn version_name(name: &str) -> String {
    name.replace('_', ".")
}

/// Returns the IANA name of a suite: `TLS_AES_256_GCM_SHA384` for `TLS13_AES_256_GCM_SHA384` of rustls.
pub(super) fn cipher_name(name: &str) -> String {
    name.strip_prefix("TLS13_").map_or_else(|| name.to_owned(), |suite| format!("TLS_{suite}"))
}
