//! Verification of the chain that a server presents, up to a trusted authority (RFC 5280 6).

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use webpki::{EndEntityCert, Error, KeyUsage, RevocationOptions};

use super::accepted_path::{AcceptedPath, PathLink, expired_root};
use super::der::{DerReader, SEQUENCE};
use super::rollover;
use super::trust::TrustAnchors;

/// Verifies that `leaf` may speak for `server_name` at `now`. `intermediates` are the further certificates that the
/// server sent, in any order.
pub(super) fn verify_path(
    anchors: &TrustAnchors,
    leaf: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    server_name: &ServerName<'_>,
    now: UnixTime,
) -> Result<AcceptedPath, Error> {
    let end_entity = EndEntityCert::try_from(leaf)?;
    let result = find_path(anchors, &end_entity, leaf, intermediates, now, None);
    let path = match result {
        Ok(path) => path,
        // The two rules of which certificates that an authority issued to itself are exempt (RFC 5280 6.1). Where the
        // keys of an authority share a name, a signature by the other one hides them.
        Err(
            error @ (Error::PathLenConstraintViolated
            | Error::NameConstraintViolation
            | Error::InvalidSignatureForPublicKey),
        ) => rollover::find_path(anchors, leaf, intermediates, now).ok_or(error)?,
        Err(error) => return Err(error),
    };
    end_entity.verify_is_valid_for_subject_name(server_name)?;
    Ok(path)
}

/// Verifies the chain again with the revocation lists of `revocation`.
pub(super) fn verify_with_revocation_lists(
    anchors: &TrustAnchors,
    leaf: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    now: UnixTime,
    revocation: RevocationOptions<'_>,
) -> Result<(), Error> {
    let end_entity = EndEntityCert::try_from(leaf)?;
    find_path(anchors, &end_entity, leaf, intermediates, now, Some(revocation)).map(drop)
}

fn find_path(
    anchors: &TrustAnchors,
    end_entity: &EndEntityCert<'_>,
    leaf: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    now: UnixTime,
    revocation: Option<RevocationOptions<'_>>,
) -> Result<AcceptedPath, Error> {
    let algorithms = anchors.crypto_provider.signature_verification_algorithms.all;
    let usage = KeyUsage::server_auth();
    let roots = &anchors.roots.roots;
    let path = end_entity.verify_for_usage(algorithms, roots, intermediates, now, usage, revocation, None)?;
    let issuers: Vec<_> = path.intermediate_certificates().collect();
    let mut certificates = vec![leaf.clone().into_owned()];
    certificates.extend(issuers.iter().map(|issuer| issuer.der().into_owned()));
    let mut keys: Vec<Box<[u8]>> = issuers
        .iter()
        .map(|issuer| key_info_content(&issuer.subject_public_key_info()).unwrap_or_default().into())
        .collect();
    keys.push(path.anchor().subject_public_key_info.as_ref().into());
    let links = certificates.into_iter().zip(keys);
    Ok(AcceptedPath {
        links: links.map(|(certificate, issuer_key)| PathLink { certificate, issuer_key }).collect(),
        expired_root: expired_root(anchors, path.anchor(), now),
    })
}

/// Returns the content of an encoded `SubjectPublicKeyInfo`.
fn key_info_content(encoded: &[u8]) -> Option<&[u8]> {
    DerReader(encoded).next_with_tag(SEQUENCE).map(|element| element.content)
}
