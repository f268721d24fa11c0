//! Facts about a certificate, and warnings when it is saved.

use std::net::IpAddr;

use aws_lc_rs::digest::{SHA256, digest};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::{Timestamp, replace_control_chars, to_hex};
use crate::syntax::truncate_value;

/// Most names of a certificate that are stored.
const MAX_ALTERNATIVE_NAMES: usize = 100;

/// Most characters of a subject or issuer that are stored.
const MAX_SUBJECT_CHARS: usize = 4096;

/// What responses contain about a certificate.
pub(super) struct CertificateDescription {
    pub(super) subject: String,
    pub(super) issuer: String,
    pub(super) not_before: Timestamp,
    pub(super) not_after: Timestamp,
    pub(super) alternative_names: Vec<String>,
    /// SHA-256 of the certificate, hexadecimal.
    pub(super) sha256_fingerprint: String,
    /// Such as `RSA 2048`, `EC 256`, `Ed25519`.
    pub(super) key_type: String,
    is_ca: bool,
}

/// Reads the facts of the certificate in `der`.
pub(super) fn from_der(der: &[u8]) -> Result<CertificateDescription, String> {
    let (_, parsed) =
        X509Certificate::from_der(der).map_err(|_| "its certificate cannot be read".to_owned())?;
    let hash = digest(&SHA256, der);
    let clean_text = |name: String| replace_control_chars(&name).chars().take(MAX_SUBJECT_CHARS).collect();
    Ok(CertificateDescription {
        subject: clean_text(parsed.subject().to_string()),
        issuer: clean_text(parsed.issuer().to_string()),
        not_before: Timestamp::from_seconds(parsed.validity().not_before.timestamp()),
        not_after: Timestamp::from_seconds(parsed.validity().not_after.timestamp()),
        alternative_names: alternative_names(&parsed),
        sha256_fingerprint: to_hex(hash.as_ref()),
        key_type: key_type(&parsed),
        is_ca: parsed.is_ca(),
    })
}

/// Returns the warnings for the author of the record.
pub(super) fn warnings(description: &CertificateDescription, is_client: bool, now: Timestamp) -> Vec<String> {
    let subject = truncate_value(&description.subject);
    let mut warnings = Vec::new();
    if description.not_after <= now {
        warnings.push(format!(
            "The certificate `{subject}` expired at {}",
            format_utc_time(description.not_after)
        ));
    } else if description.not_before > now {
        warnings.push(format!(
            "The certificate `{subject}` is valid from {}",
            format_utc_time(description.not_before)
        ));
    }
    if !is_client && !description.is_ca {
        warnings.push(format!(
            "`{subject}` is not an authority; only a server that presents this certificate itself is trusted"
        ));
    }
    warnings
}

fn key_type(certificate: &X509Certificate<'_>) -> String {
    let key = certificate.public_key();
    match key.parsed() {
        Ok(PublicKey::RSA(rsa)) => format!("RSA {}", rsa.key_size()),
        Ok(PublicKey::EC(point)) => format!("EC {}", point.key_size()),
        _ if key.algorithm.algorithm.to_id_string() == "1.3.101.112" => "Ed25519".to_owned(),
        _ => key.algorithm.algorithm.to_id_string(),
    }
}

fn alternative_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(extension)) = certificate.subject_alternative_name() else { return Vec::new() };
    let name_text = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) | GeneralName::RFC822Name(name) => Some(replace_control_chars(name)),
        GeneralName::IPAddress(bytes) => ip_from_bytes(bytes).map(|address| address.to_string()),
        _ => None,
    };
    let truncate = |name: String| name.chars().take(255).collect();
    extension
        .value
        .general_names
        .iter()
        .filter_map(name_text)
        .take(MAX_ALTERNATIVE_NAMES)
        .map(truncate)
        .collect()
}

fn ip_from_bytes(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}
