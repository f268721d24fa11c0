//! Whether certificates of a chain are revoked: OCSP (RFC 6960) and revocation lists (RFC 5280 5), asked for monitors
//! with `check_revocation`.

use std::time::Duration;

use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, Error as PathError, ExpirationPolicy,
    RevocationOptionsBuilder, UnknownStatusPolicy,
};
use x509_parser::extensions::{DistributionPointName, GeneralName, ParsedExtension};
use x509_parser::oid_registry::OID_PKIX_ACCESS_DESCRIPTOR_OCSP;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::accepted_path::PathLink;
use super::chain_error::ChainError;
use super::ocsp::{self, OcspStatus};
use super::path::verify_with_revocation_lists;
use super::revocation_fetch::{LIST_LIMIT_BYTES, OCSP_LIMIT_BYTES, RevocationRequest};
use super::verifier::{ChainVerification, RecordingVerifier};
use crate::domain::Timestamp;
use crate::net::deadline::Deadline;
use crate::net::stack::Net;

/// Most certificates of a chain that are asked about.
const MAX_CERTIFICATES: usize = 4;
/// Most addresses of a certificate that are tried, for each of both ways.
const MAX_URLS: usize = 2;
/// The remaining time divided by this is the time for all answers.
const REMAINING_TIME_DIVISOR: u32 = 3;
/// Longest time for all answers.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Longest time for one answer.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an OCSP response without an end is kept.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(10);

/// Where the status of a certificate is published.
struct RevocationSources {
    /// URLs of OCSP responders.
    ocsp: Vec<String>,
    /// URLs of revocation lists.
    lists: Vec<String>,
}

/// A status that was found.
enum RevocationAnswer {
    /// OCSP says that it is not revoked.
    Good,
    /// A revocation list, which is read afterwards.
    List(std::sync::Arc<[u8]>),
}

/// Asks about every certificate of the accepted chain of `verifier`; returns remarks on those without an answer. What
/// is not reached is no failure, since an authority that is down says nothing about the server.
///
/// # Errors
/// Fails when a certificate is revoked.
pub(super) async fn check_revocation(
    net: &Net,
    verifier: &RecordingVerifier,
    deadline: Deadline,
) -> Result<Vec<String>, ChainError> {
    let verification = verifier.last_verification();
    // The rest of the attempt needs its time too.
    let deadline = Deadline::within((deadline.remaining() / REMAINING_TIME_DIVISOR).min(MAX_TIME));
    let (mut remarks, mut lists) = (Vec::new(), Vec::new());
    for (index, link) in verification.path.links.iter().take(MAX_CERTIFICATES).enumerate() {
        match check_link(net, verifier, index, link, deadline).await? {
            Ok(RevocationAnswer::Good) => {}
            Ok(RevocationAnswer::List(list)) => lists.push(list),
            Err(remark) => remarks.push(remark),
        }
    }
    if !lists.is_empty() {
        remarks.extend(check_lists(verifier, &verification, &lists)?);
    }
    Ok(remarks)
}

/// Asks about the certificate of `link`. The outer error: it is revoked. The inner one: a remark, nobody answered.
async fn check_link(
    net: &Net,
    verifier: &RecordingVerifier,
    index: usize,
    link: &PathLink,
    deadline: Deadline,
) -> Result<Result<RevocationAnswer, String>, ChainError> {
    let Ok((_, certificate)) = X509Certificate::from_der(&link.certificate) else {
        return Ok(Err("a certificate of the chain cannot be read, so nobody was asked about it".to_owned()));
    };
    let subject = crate::domain::replace_control_chars(&certificate.subject().to_string());
    let sources = revocation_sources(&certificate);
    let mut reasons = Vec::new();
    for url in &sources.ocsp {
        match ask_responder(net, verifier, link, url, deadline).await {
            Ok(OcspStatus::Good(_)) => return Ok(Ok(RevocationAnswer::Good)),
            Ok(OcspStatus::Revoked(since, reason)) => {
                let source = format!("the OCSP responder `{url}`");
                return Err(ChainError::Revoked { index, since: Some(since), reason, source });
            }
            Ok(OcspStatus::Unknown) => reasons.push(format!("`{url}` does not know it")),
            Err(reason) => reasons.push(format!("`{url}`: {reason}")),
        }
    }
    for url in &sources.lists {
        match fetch_list(net, &certificate, url, deadline).await {
            Ok(list) => return Ok(Ok(RevocationAnswer::List(list))),
            Err(reason) => reasons.push(format!("`{url}`: {reason}")),
        }
    }
    let reason = if reasons.is_empty() {
        "it names neither an OCSP responder nor a revocation list by `http`".to_owned()
    } else {
        reasons.join("; ")
    };
    Ok(Err(format!("whether `{subject}` is revoked could not be found out: {reason}")))
}

/// Returns the addresses that `certificate` names. Only `http` is used for them: the answers are signed, and asking
/// over TLS would need the answer first.
fn revocation_sources(certificate: &X509Certificate<'_>) -> RevocationSources {
    let mut sources = RevocationSources { ocsp: Vec::new(), lists: Vec::new() };
    let http_url = |name: &GeneralName<'_>| match name {
        GeneralName::URI(url) if url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://")) => {
            Some((*url).to_owned())
        }
        _ => None,
    };
    for extension in certificate.extensions() {
        match extension.parsed_extension() {
            ParsedExtension::AuthorityInfoAccess(access) => {
                let responders = access
                    .accessdescs
                    .iter()
                    .filter(|description| description.access_method == OID_PKIX_ACCESS_DESCRIPTOR_OCSP);
                sources
                    .ocsp
                    .extend(responders.filter_map(|description| http_url(&description.access_location)));
            }
            ParsedExtension::CRLDistributionPoints(points) => {
                for point in points.iter() {
                    if let Some(DistributionPointName::FullName(names)) = &point.distribution_point {
                        sources.lists.extend(names.iter().filter_map(http_url));
                    }
                }
            }
            _ => {}
        }
    }
    sources.ocsp.truncate(MAX_URLS);
    sources.lists.truncate(MAX_URLS);
    sources
}

/// Returns the deadline of one answer within that of all answers.
fn fetch_deadline(deadline: Deadline) -> Deadline {
    Deadline::within(deadline.remaining().min(FETCH_TIMEOUT))
}

/// Returns the status of the certificate of `link`, from the cache or the responder at `url`; errors are sentences.
async fn ask_responder(
    net: &Net,
    verifier: &RecordingVerifier,
    link: &PathLink,
    url: &str,
    deadline: Deadline,
) -> Result<OcspStatus, String> {
    let request = ocsp::encode_request(link).ok_or("the request cannot be written")?;
    let algorithms = verifier.trust_anchors.crypto_provider.signature_verification_algorithms.all;
    let now = UnixTime::now();
    // The response is read again each time, since it is only as good as the key that it is checked by.
    let cache = &net.stack.revocation_cache;
    let key = (net.egress_principal, url.to_owned(), request.clone());
    if let Some(cached_answer) = cache.get(&key, now) {
        return ocsp::read_response(&cached_answer, link, algorithms, now);
    }
    let fetch = RevocationRequest { url, ocsp_request: Some(request), limit_bytes: OCSP_LIMIT_BYTES };
    let response = fetch.send(net, fetch_deadline(deadline)).await?;
    let status = ocsp::read_response(&response, link, algorithms, now)?;
    let until = match &status {
        OcspStatus::Good(Some(until)) => u64::try_from(until.as_micros() / 1_000_000).ok(),
        _ => None,
    };
    let default_end = now.as_secs() + DEFAULT_LIFETIME.as_secs();
    cache.insert(key, response.into(), until.map_or(default_end, |until| until.max(now.as_secs())), now);
    Ok(status)
}

/// Returns the revocation list at `url`, from the cache or fetched; errors are sentences.
async fn fetch_list(
    net: &Net,
    certificate: &X509Certificate<'_>,
    url: &str,
    deadline: Deadline,
) -> Result<std::sync::Arc<[u8]>, String> {
    let now = UnixTime::now();
    let cache = &net.stack.revocation_cache;
    let key = (net.egress_principal, url.to_owned(), Vec::new());
    let list = if let Some(cached_answer) = cache.get(&key, now) {
        cached_answer
    } else {
        let fetch = RevocationRequest { url, ocsp_request: None, limit_bytes: LIST_LIMIT_BYTES };
        let list: std::sync::Arc<[u8]> = fetch.send(net, fetch_deadline(deadline)).await?.into();
        cache.insert(key, list.clone(), now.as_secs() + DEFAULT_LIFETIME.as_secs(), now);
        list
    };
    let parsed = BorrowedCertRevocationList::from_der(&list)
        .map_err(|_| "what is there is not a revocation list that is understood here".to_owned())?;
    let issuer = super::der::DerReader(certificate.issuer().as_raw()).next_with_tag(super::der::SEQUENCE);
    if issuer.map(|element| element.content) != Some(CertRevocationList::from(parsed).issuer()) {
        return Err("the revocation list is of another authority".to_owned());
    }
    Ok(list)
}

/// Verifies the chain with the revocation lists; returns a remark about lists that cannot be used.
fn check_lists(
    verifier: &RecordingVerifier,
    verification: &ChainVerification,
    lists: &[std::sync::Arc<[u8]>],
) -> Result<Option<String>, ChainError> {
    let parsed: Vec<CertRevocationList<'_>> = lists
        .iter()
        .filter_map(|list| BorrowedCertRevocationList::from_der(list).ok())
        .map(CertRevocationList::from)
        .collect();
    let parsed: Vec<&CertRevocationList<'_>> = parsed.iter().collect();
    let Ok(builder) = RevocationOptionsBuilder::new(&parsed) else { return Ok(None) };
    let options = builder
        .with_status_policy(UnknownStatusPolicy::Allow)
        .with_expiration_policy(ExpirationPolicy::Enforce)
        .build();
    let Some((leaf, intermediates)) = verification.chain.split_first() else { return Ok(None) };
    match verify_with_revocation_lists(&verifier.trust_anchors, leaf, intermediates, UnixTime::now(), options)
    {
        Ok(()) => Ok(None),
        Err(PathError::CertRevoked) => {
            let (index, since, reason) = find_revoked(verification, &parsed);
            let source = "the revocation list of its authority".to_owned();
            Err(ChainError::Revoked { index, since, reason, source })
        }
        Err(error) => {
            let (_, text) =
                ChainError::Path(error).describe("", &verification.chain, &verifier.trust_anchors);
            Ok(Some(format!("whether the chain is revoked could not be found out: {text}")))
        }
    }
}

/// Returns which certificate of the path is revoked, since when, and why; the first, if no list has any of them.
fn find_revoked(
    verification: &ChainVerification,
    lists: &[&CertRevocationList<'_>],
) -> (usize, Option<Timestamp>, Option<&'static str>) {
    for (index, link) in verification.path.links.iter().enumerate() {
        let certificate: &CertificateDer<'_> = &link.certificate;
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { continue };
        let issuer = super::der::DerReader(certificate.issuer().as_raw()).next_with_tag(super::der::SEQUENCE);
        let issuer = issuer.map(|element| element.content);
        for list in lists.iter().filter(|list| Some(list.issuer()) == issuer) {
            // webpki compares serial numbers without the zero that marks them as positive.
            let serial = certificate.raw_serial();
            let serial = serial.strip_prefix(&[0]).unwrap_or(serial);
            if let Ok(Some(revoked)) = list.find_serial(serial) {
                let since =
                    i64::try_from(revoked.revocation_date.as_secs()).ok().map(Timestamp::from_seconds);
                let reason = revoked.reason_code.and_then(|reason| ocsp::revocation_reason(&[reason as u8]));
                return (index, since, reason);
            }
        }
    }
    (0, None, None)
}
