//! Judges the certificates of a TLS server, and its stapled OCSP response.

use std::net::IpAddr;
use std::time::Duration;

use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::oid_registry::{OID_PKIX_ACCESS_DESCRIPTOR_OCSP, Oid};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

use super::finding_collector::FindingCollector;
use super::finding_table::{
    CERTIFICATE_EXPIRED, CERTIFICATE_EXPIRING, CERTIFICATE_KEY_WEAK, CERTIFICATE_LIFETIME, CERTIFICATE_NAME,
    CERTIFICATE_NOT_YET_VALID, CERTIFICATE_ROOT_SENT, CERTIFICATE_SIGNATURE_WEAK, CERTIFICATE_UNTRUSTED,
    CERTIFICATE_UNUSABLE, OCSP_MUST_STAPLE, OCSP_NOT_STAPLED, OCSP_UNUSABLE,
};
use crate::domain::{Failure, FailureKind, Severity, Timestamp};

/// Maximum number of certificates of a chain that are judged.
const MAX_CHAIN_LEN: usize = 10;
/// Days before the end at which the certificate expires soon, and very soon.
const EXPIRING_DAYS: (i64, i64) = (30, 7);
/// Longest life of a certificate, in days (CA/Browser Forum).
const MAX_LIFETIME_DAYS: i64 = 398;
/// Shortest keys, in bits.
const MIN_RSA_BITS: usize = 2048;
const MIN_CURVE_BITS: usize = 224;
/// `id-pe-tlsfeature` (RFC 7633).
const TLS_FEATURE: &[u64] = &[1, 3, 6, 1, 5, 5, 7, 1, 24];
/// Signatures with MD2, MD5 and SHA-1: of RSA, ECDSA and DSA.
const BROKEN_SIGNATURES: [(&str, &str); 6] = [
    ("1.2.840.113549.1.1.2", "MD2"),
    ("1.2.840.113549.1.1.4", "MD5"),
    ("1.2.840.113549.1.1.5", "SHA-1"),
    ("1.3.14.3.2.29", "SHA-1"),
    ("1.2.840.10045.4.1", "SHA-1"),
    ("1.2.840.10040.4.3", "SHA-1"),
];

/// Judges `chain`, in DER as sent, at `now`; `host` is the scanned name or address.
pub fn judge_certificates(
    chain: &[Vec<u8>],
    ocsp_response: Option<&[u8]>,
    host: &str,
    now: Timestamp,
    findings: &mut FindingCollector,
) {
    for (index, der) in chain.iter().take(MAX_CHAIN_LEN).enumerate() {
        let subject = (index > 0).then(|| format!("certificate {}", index + 1));
        let Ok((_, certificate)) = X509Certificate::from_der(der) else {
            findings.add_with_severity(
                &CERTIFICATE_UNUSABLE,
                Severity::High,
                subject.as_deref(),
                "it is not X.509",
            );
            continue;
        };
        judge_strength(&certificate, subject.as_deref(), findings);
        if index > 0 && certificate.subject() == certificate.issuer() {
            findings.add(&CERTIFICATE_ROOT_SENT, format!("`{}`", certificate.subject()));
        }
    }
    if let Some(Ok((_, own))) = chain.first().map(|der| X509Certificate::from_der(der)) {
        judge_validity(&own, now, findings);
        judge_name(&own, host, findings);
        judge_ocsp(&own, ocsp_response, findings);
    }
}

/// Judges the failure of a handshake that verified the certificate. Failures that the certificate itself tells are left
/// to [`judge_certificates`].
pub fn judge_trust(failure: &Failure, findings: &mut FindingCollector) {
    match failure.kind {
        FailureKind::CertificateIssuerUnknown => {
            findings.add(&CERTIFICATE_UNTRUSTED, failure.detail.as_str());
        }
        FailureKind::CertificateInvalid | FailureKind::CertificateRevoked => {
            findings.add(&CERTIFICATE_UNUSABLE, failure.to_string());
        }
        _ => {}
    }
}

fn judge_validity(certificate: &X509Certificate<'_>, now: Timestamp, findings: &mut FindingCollector) {
    let (start, end) =
        (certificate.validity().not_before.timestamp(), certificate.validity().not_after.timestamp());
    let now = now.as_micros().div_euclid(1_000_000);
    let day = Duration::from_hours(24).as_secs().cast_signed();
    let text = |seconds: i64| Timestamp::from_seconds(seconds).to_string();
    if end < now {
        findings.add(&CERTIFICATE_EXPIRED, format!("it expired {}", text(end)));
    } else if start > now {
        findings.add(&CERTIFICATE_NOT_YET_VALID, format!("it is valid from {} on", text(start)));
    } else if end - now < EXPIRING_DAYS.0 * day {
        let severity = if end - now < EXPIRING_DAYS.1 * day { Severity::Medium } else { Severity::Low };
        // Without the days left, which change from scan to scan.
        findings.add_with_severity(
            &CERTIFICATE_EXPIRING,
            severity,
            None,
            format!("it expires {}", text(end)),
        );
    }
    let lifetime = (end - start) / day;
    if lifetime > MAX_LIFETIME_DAYS {
        findings.add(&CERTIFICATE_LIFETIME, format!("it is valid for {lifetime} days"));
    }
}

fn judge_strength(certificate: &X509Certificate<'_>, subject: Option<&str>, findings: &mut FindingCollector) {
    let name = certificate.subject().to_string();
    let weakness = match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => key_weakness("RSA", key.key_size(), MIN_RSA_BITS),
        Ok(PublicKey::EC(point)) => key_weakness("elliptic", point.key_size(), MIN_CURVE_BITS),
        Ok(PublicKey::DSA(_)) => Some("a DSA key".to_owned()),
        _ => None,
    };
    if let Some(weakness) = weakness {
        findings.add_with_severity(
            &CERTIFICATE_KEY_WEAK,
            Severity::High,
            subject,
            format!("`{name}` has {weakness}"),
        );
    }
    // Nobody checks the signature of a root.
    let is_root = certificate.subject() == certificate.issuer();
    let algorithm = certificate.signature_algorithm.algorithm.to_id_string();
    if let Some(hash) = broken_hash(&algorithm).filter(|_| !is_root) {
        let evidence = format!("`{name}` is signed with {hash}");
        findings.add_with_severity(&CERTIFICATE_SIGNATURE_WEAK, Severity::High, subject, evidence);
    }
}

fn key_weakness(kind: &str, bits: usize, min_bits: usize) -> Option<String> {
    (bits < min_bits).then(|| format!("an {kind} key of {bits} bits"))
}

fn broken_hash(signature_oid: &str) -> Option<&'static str> {
    BROKEN_SIGNATURES.iter().find(|(oid, _)| *oid == signature_oid).map(|(_, hash)| *hash)
}

fn judge_name(certificate: &X509Certificate<'_>, host: &str, findings: &mut FindingCollector) {
    let address = host.parse::<IpAddr>().ok();
    let names = certificate.subject_alternative_name().ok().flatten();
    let names = names.map(|extension| extension.value.general_names.as_slice()).unwrap_or_default();
    let covers = |name: &GeneralName<'_>| match (name, address) {
        (GeneralName::DNSName(pattern), None) => matches_name(pattern, host),
        (GeneralName::IPAddress(bytes), Some(IpAddr::V4(address))) => **bytes == address.octets(),
        (GeneralName::IPAddress(bytes), Some(IpAddr::V6(address))) => **bytes == address.octets(),
        _ => false,
    };
    if !names.iter().any(covers) {
        let texts: Vec<String> = names.iter().take(5).map(ToString::to_string).collect();
        let texts = if texts.is_empty() { "no name at all".to_owned() } else { texts.join(", ") };
        findings.add(&CERTIFICATE_NAME, format!("`{host}` is not among {texts}"));
    }
}

/// Whether a DNS name of a certificate covers `host`; a `*` stands for the first label alone (RFC 9525 6.3).
fn matches_name(pattern: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match pattern.strip_prefix("*.") {
        Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
        None => pattern.eq_ignore_ascii_case(host),
    }
}

fn judge_ocsp(certificate: &X509Certificate<'_>, response: Option<&[u8]>, findings: &mut FindingCollector) {
    let must_staple = Oid::from(TLS_FEATURE)
        .is_ok_and(|oid| certificate.extensions().iter().any(|extension| extension.oid == oid));
    let has_responder = certificate.extensions().iter().any(|extension| match extension.parsed_extension() {
        ParsedExtension::AuthorityInfoAccess(access) => access
            .accessdescs
            .iter()
            .any(|description| description.access_method == OID_PKIX_ACCESS_DESCRIPTOR_OCSP),
        _ => false,
    });
    match response.map(ocsp_status) {
        None if must_staple => findings.add(&OCSP_MUST_STAPLE, "the handshake had no OCSP response"),
        None if has_responder => findings.add(&OCSP_NOT_STAPLED, "the certificate names an OCSP responder"),
        None | Some(Some(0)) => {}
        Some(Some(status)) => {
            findings.add(&OCSP_UNUSABLE, format!("its status is {status}, not successful (0)"));
        }
        Some(None) => findings.add(&OCSP_UNUSABLE, "it is not an OCSP response"),
    }
}

/// Returns the status of an OCSP response: `SEQUENCE { ENUMERATED status, … }` (RFC 6960 4.2.1).
fn ocsp_status(response: &[u8]) -> Option<u8> {
    let [0x30, length, rest @ ..] = response else { return None };
    let skipped = if length & 0x80 == 0 { 0 } else { usize::from(length & 0x7f) };
    match rest.get(skipped..)? {
        [0x0a, 1, status, ..] => Some(*status),
        _ => None,
    }
}

#[cfg(test)]
#[path = "certificates_tests.rs"]
mod tests;
