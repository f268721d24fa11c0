//! OCSP (RFC 6960): the request about one certificate, and the response to it, whose signature is checked.

use aws_lc_rs::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rustls_pki_types::{SignatureVerificationAlgorithm, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::accepted_path::PathLink;
use super::der::{
    DerElement, DerReader, ENUMERATED, GENERALIZED_TIME, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE,
    context_tag, encode,
};
use super::signed::{PublicKeyInfo, SignedData};
use crate::domain::Timestamp;

const SHA1_OID: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x1a];
const SHA256_OID: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
/// `id-pkix-ocsp-basic`.
const BASIC_RESPONSE_OID: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01];
/// Seconds by which clocks may differ.
const CLOCK_SKEW_SECONDS: i64 = 300;
/// Most statuses of a response that are read; a response to one question has one.
const MAX_STATUSES: usize = 100;
/// Most certificates of a response that are read.
const MAX_CERTIFICATES: usize = 4;

/// What an authority says about a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OcspStatus {
    /// It is not revoked, as far as this time.
    Good(Option<Timestamp>),
    /// It is revoked since this time; with the reason, if one is given.
    Revoked(Timestamp, Option<&'static str>),
    /// The responder does not know it.
    Unknown,
}

/// The identity of a certificate in OCSP (RFC 6960 4.1.1).
struct CertificateId<'a> {
    /// The encoded subject of the issuer.
    issuer_name: &'a [u8],
    /// The bits of the public key of the issuer.
    issuer_key: &'a [u8],
    serial: &'a [u8],
}

impl<'a> CertificateId<'a> {
    fn new(certificate: &'a X509Certificate<'a>, link: &'a PathLink) -> Option<Self> {
        Some(Self {
            issuer_name: certificate.issuer().as_raw(),
            issuer_key: PublicKeyInfo::read(&link.issuer_key)?.key,
            serial: certificate.raw_serial(),
        })
    }

    fn hashes(&self, algorithm: &'static Algorithm) -> [Vec<u8>; 2] {
        [self.issuer_name, self.issuer_key].map(|bytes| digest(algorithm, bytes).as_ref().to_vec())
    }

    /// Whether `id`, the content of a `CertID`, is this one.
    fn matches(&self, id: DerElement<'_>) -> Option<bool> {
        let mut reader = id.reader();
        let algorithm = reader.next_with_tag(SEQUENCE)?.reader().next_with_tag(OBJECT_IDENTIFIER)?.content;
        let (name_hash, key_hash) =
            (reader.next_with_tag(OCTET_STRING)?.content, reader.next_with_tag(OCTET_STRING)?.content);
        let serial = reader.next_with_tag(INTEGER)?.content;
        let algorithm = match algorithm {
            SHA1_OID => &SHA1_FOR_LEGACY_USE_ONLY,
            SHA256_OID => &SHA256,
            _ => return Some(false),
        };
        let [expected_name, expected_key] = self.hashes(algorithm);
        Some(serial == self.serial && name_hash == expected_name && key_hash == expected_key)
    }
}

/// Returns the request about the certificate of `link` (RFC 6960 4.1); `None` when its parts cannot be read.
pub(super) fn encode_request(link: &PathLink) -> Option<Vec<u8>> {
    let (_, certificate) = X509Certificate::from_der(&link.certificate).ok()?;
    let id = CertificateId::new(&certificate, link)?;
    // SHA-1 names the issuer here and protects nothing; it is the one that every responder knows.
    let [name_hash, key_hash] = id.hashes(&SHA1_FOR_LEGACY_USE_ONLY);
    let algorithm = encode(SEQUENCE, &[encode(OBJECT_IDENTIFIER, SHA1_OID), vec![0x05, 0x00]].concat());
    let parts = [
        algorithm,
        encode(OCTET_STRING, &name_hash),
        encode(OCTET_STRING, &key_hash),
        encode(INTEGER, id.serial),
    ];
    let mut request = encode(SEQUENCE, &parts.concat());
    // CertID, Request, requestList, TBSRequest, OCSPRequest.
    for _ in 0..4 {
        request = encode(SEQUENCE, &request);
    }
    Some(request)
}

/// Returns the status of the certificate of `link` at `now` in `response`.
///
/// # Errors
/// A sentence about a response that says nothing, is outdated, or is not signed by the issuer.
pub(super) fn read_response(
    response: &[u8],
    link: &PathLink,
    algorithms: &[&dyn SignatureVerificationAlgorithm],
    now: UnixTime,
) -> Result<OcspStatus, String> {
    let unreadable = || "it cannot be read".to_owned();
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let (_, certificate) = X509Certificate::from_der(&link.certificate).map_err(|_| unreadable())?;
    let id = CertificateId::new(&certificate, link).ok_or_else(unreadable)?;
    let basic = basic_response(response)?;
    let (signed, rest) = SignedData::read(basic).ok_or_else(unreadable)?;
    if !is_authentic(signed, rest, link, algorithms, now) {
        return Err(
            "it is signed neither by the issuer of the certificate nor by whom that appointed".to_owned()
        );
    }
    let responses = single_responses(signed.signed_element).ok_or_else(unreadable)?;
    for single_response in responses.into_iter().take(MAX_STATUSES) {
        let mut reader = single_response.reader();
        let matches =
            reader.next_with_tag(SEQUENCE).and_then(|element| id.matches(element)).ok_or_else(unreadable)?;
        if matches {
            return read_status(reader, now);
        }
    }
    Err("it is about another certificate".to_owned())
}

/// Returns the content of the basic response in an `OCSPResponse`.
fn basic_response(response: &[u8]) -> Result<&[u8], String> {
    let unreadable = || "it cannot be read".to_owned();
    let mut reader = DerReader(response).next_with_tag(SEQUENCE).ok_or_else(unreadable)?.reader();
    let status = reader.next_with_tag(ENUMERATED).ok_or_else(unreadable)?.content;
    let refusal = match status {
        [0] => None,
        [1] => Some("the responder says that the request is malformed"),
        [2] => Some("the responder has an internal error"),
        [3] => Some("the responder asks to try later"),
        [5] => Some("the responder wants signed requests"),
        [6] => Some("the responder refuses the request"),
        _ => Some("the responder gives an unknown status"),
    };
    if let Some(refusal) = refusal {
        return Err(refusal.to_owned());
    }
    let parts = reader.next_with_tag(context_tag(0)).and_then(|bytes| bytes.reader().next_with_tag(SEQUENCE));
    let mut parts = parts.ok_or_else(unreadable)?.reader();
    let response_type = parts.next_with_tag(OBJECT_IDENTIFIER).ok_or_else(unreadable)?;
    if response_type.content != BASIC_RESPONSE_OID {
        return Err("it is of an unknown kind".to_owned());
    }
    let basic = parts.next_with_tag(OCTET_STRING).ok_or_else(unreadable)?.content;
    DerReader(basic).next_with_tag(SEQUENCE).map(|element| element.content).ok_or_else(unreadable)
}

/// Whether the issuer signed the response, or a certificate that the issuer issued for that (RFC 6960 4.2.2.2).
fn is_authentic(
    signed: SignedData<'_>,
    mut rest: DerReader<'_>,
    link: &PathLink,
    algorithms: &[&dyn SignatureVerificationAlgorithm],
    now: i64,
) -> bool {
    if signed.is_signed_by(&link.issuer_key, algorithms) {
        return true;
    }
    let list = rest.next_if_tag(context_tag(0)).and_then(|list| list.reader().next_with_tag(SEQUENCE));
    let Some(mut certificates) = list.map(DerElement::reader) else { return false };
    for _ in 0..MAX_CERTIFICATES {
        let Some(element) = certificates.next_element() else { return false };
        let Ok((_, certificate)) = X509Certificate::from_der(element.encoded) else { return false };
        let validity = certificate.validity();
        let is_current = (validity.not_before.timestamp()..=validity.not_after.timestamp()).contains(&now);
        let may_sign =
            matches!(certificate.extended_key_usage(), Ok(Some(usage)) if usage.value.ocsp_signing);
        let key_info = DerReader(certificate.tbs_certificate.subject_pki.raw).next_with_tag(SEQUENCE);
        let is_appointed = || {
            SignedData::from_certificate(element.encoded)
                .is_some_and(|appointment| appointment.is_signed_by(&link.issuer_key, algorithms))
        };
        if is_current
            && may_sign
            && key_info.is_some_and(|key| signed.is_signed_by(key.content, algorithms))
            && is_appointed()
        {
            return true;
        }
    }
    false
}

/// Returns the `SingleResponses` of `ResponseData`.
fn single_responses(response_data: &[u8]) -> Option<Vec<DerElement<'_>>> {
    let mut reader = DerReader(response_data).next_with_tag(SEQUENCE)?.reader();
    reader.next_if_tag(context_tag(0));
    // The responder, by name or by key.
    reader.next_element()?;
    reader.next_with_tag(GENERALIZED_TIME)?;
    let mut list = reader.next_with_tag(SEQUENCE)?.reader();
    let mut statuses = Vec::new();
    while !list.is_empty() && statuses.len() < MAX_STATUSES {
        statuses.push(list.next_with_tag(SEQUENCE)?);
    }
    Some(statuses)
}

/// Reads a `SingleResponse` after its `CertID`.
fn read_status(mut reader: DerReader<'_>, now: i64) -> Result<OcspStatus, String> {
    let unreadable = || "it cannot be read".to_owned();
    let status = reader.next_element().ok_or_else(unreadable)?;
    let this_update = reader.next_with_tag(GENERALIZED_TIME).and_then(parse_time).ok_or_else(unreadable)?;
    let next_update = reader.next_if_tag(context_tag(0));
    let next_update = next_update.map(|element| {
        element.reader().next_with_tag(GENERALIZED_TIME).and_then(parse_time).ok_or_else(unreadable)
    });
    let next_update = next_update.transpose()?;
    if this_update > now + CLOCK_SKEW_SECONDS {
        return Err(format!("it is from the future, {}", Timestamp::from_seconds(this_update)));
    }
    if let Some(end) = next_update.filter(|&end| end < now - CLOCK_SKEW_SECONDS) {
        return Err(format!("it is outdated since {}", Timestamp::from_seconds(end)));
    }
    match status.tag & 0x1f {
        0 => Ok(OcspStatus::Good(next_update.map(Timestamp::from_seconds))),
        1 => {
            let mut details = status.reader();
            let since =
                details.next_with_tag(GENERALIZED_TIME).and_then(parse_time).ok_or_else(unreadable)?;
            let reason = details
                .next_if_tag(context_tag(0))
                .and_then(|element| element.reader().next_with_tag(ENUMERATED));
            Ok(OcspStatus::Revoked(
                Timestamp::from_seconds(since),
                reason.and_then(|reason| revocation_reason(reason.content)),
            ))
        }
        2 => Ok(OcspStatus::Unknown),
        _ => Err(unreadable()),
    }
}

/// Returns the words for a reason of RFC 5280 5.3.1.
pub(super) fn revocation_reason(code: &[u8]) -> Option<&'static str> {
    Some(match code {
        [1] => "its key was compromised",
        [2] => "the key of its authority was compromised",
        [3] => "its owner changed",
        [4] => "it was replaced",
        [5] => "it is not needed any more",
        [6] => "it is on hold",
        [9] => "its owner lost a privilege",
        _ => return None,
    })
}

/// Parses `YYYYMMDDHHMMSSZ` to Unix seconds.
fn parse_time(element: DerElement<'_>) -> Option<i64> {
    let text = std::str::from_utf8(element.content).ok()?.strip_suffix('Z')?;
    let time = DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
    TimeZone::UTC.to_timestamp(time).ok().map(jiff::Timestamp::as_second)
}
