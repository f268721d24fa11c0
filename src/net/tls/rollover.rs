//! Chains with certificates that an authority issued to itself when it changed its key (RFC 4210 4.4). They do not
//! count for path lengths, and name constraints do not apply to them (RFC 5280 6.1); webpki knows neither exemption.
//! This is asked only after webpki refused a chain by one of these two rules.

use std::net::IpAddr;

use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use x509_parser::extensions::{GeneralName, GeneralSubtree, NameConstraints, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::accepted_path::{AcceptedPath, PathLink, expired_root};
use super::signed::SignedData;
use super::trust::TrustAnchors;

/// Most certificates of a chain that are read.
const MAX_CERTIFICATES: usize = 10;
/// Most signatures that are checked.
const MAX_SIGNATURE_CHECKS: u32 = 60;

/// A certificate that may be part of the path.
struct Candidate<'a> {
    der: &'a CertificateDer<'a>,
    parsed: X509Certificate<'a>,
}

/// Returns a valid path from `leaf` to a trusted authority; `None` without one, and where no certificate is
/// self-issued.
pub(super) fn find_path(
    anchors: &TrustAnchors,
    leaf: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    now: UnixTime,
) -> Option<AcceptedPath> {
    let parse = |der| Some(Candidate { der, parsed: X509Certificate::from_der(der).ok()?.1 });
    let candidates: Vec<Candidate<'_>> =
        intermediates.iter().take(MAX_CERTIFICATES).filter_map(parse).collect();
    if !candidates.iter().any(|candidate| is_self_issued(&candidate.parsed)) {
        return None;
    }
    let leaf = parse(leaf)?;
    let search = PathSearch { anchors, candidates: &candidates, now };
    let mut remaining_signature_checks = MAX_SIGNATURE_CHECKS;
    search.complete_path(&mut vec![&leaf], &mut remaining_signature_checks)
}

/// A depth-first search for a path among the candidates.
struct PathSearch<'a> {
    anchors: &'a TrustAnchors,
    candidates: &'a [Candidate<'a>],
    now: UnixTime,
}

impl<'a> PathSearch<'a> {
    /// Extends `path` up to a trusted authority; returns the first valid path, otherwise restores `path`.
    fn complete_path(
        &self,
        path: &mut Vec<&'a Candidate<'a>>,
        remaining_signature_checks: &mut u32,
    ) -> Option<AcceptedPath> {
        let head = *path.last()?;
        let issuer = head.parsed.issuer().as_raw();
        let signed = SignedData::from_certificate(head.der)?;
        let algorithms = self.anchors.crypto_provider.signature_verification_algorithms.all;
        let mut is_signed_by = |key_info: &[u8]| {
            *remaining_signature_checks = remaining_signature_checks.saturating_sub(1);
            *remaining_signature_checks > 0 && signed.is_signed_by(key_info, algorithms)
        };
        for anchor in &self.anchors.roots.roots {
            let is_issuer = sequence_content(issuer) == Some(anchor.subject.as_ref());
            if is_issuer && is_signed_by(&anchor.subject_public_key_info) && self.is_valid(path, anchor) {
                return Some(self.to_accepted_path(path, anchor));
            }
        }
        let issuers: Vec<_> = self
            .candidates
            .iter()
            .filter(|candidate| candidate.parsed.subject().as_raw() == issuer)
            .filter(|candidate| !path.iter().any(|used| std::ptr::eq(*used, *candidate)))
            .filter(|candidate| key_info(&candidate.parsed).is_some_and(&mut is_signed_by))
            .collect();
        for issuer in issuers {
            path.push(issuer);
            let found = self.complete_path(path, remaining_signature_checks);
            if found.is_some() {
                return found;
            }
            path.pop();
        }
        None
    }

    fn to_accepted_path(&self, path: &[&Candidate<'_>], anchor: &TrustAnchor<'_>) -> AcceptedPath {
        let issuer_keys = path[1..].iter().map(|issuer| key_info(&issuer.parsed).unwrap_or_default());
        let issuer_keys = issuer_keys.chain([anchor.subject_public_key_info.as_ref()]);
        let links = path.iter().zip(issuer_keys).map(|(candidate, key)| PathLink {
            certificate: candidate.der.clone().into_owned(),
            issuer_key: key.into(),
        });
        AcceptedPath { links: links.collect(), expired_root: expired_root(self.anchors, anchor, self.now) }
    }

    /// Applies the rules of RFC 5280 6.1 to the signed `path`, the server's own certificate first.
    fn is_valid(&self, path: &[&Candidate<'_>], anchor: &TrustAnchor<'_>) -> bool {
        let now = i64::try_from(self.now.as_secs()).unwrap_or(i64::MAX);
        let Some((leaf, issuers)) = path.split_first() else { return false };
        let is_current = |certificate: &X509Certificate<'_>| {
            let validity = certificate.validity();
            (validity.not_before.timestamp()..=validity.not_after.timestamp()).contains(&now)
        };
        path.iter().all(|candidate| {
            is_current(&candidate.parsed) && has_known_critical_extensions(&candidate.parsed)
        }) && path.iter().all(|candidate| allows_tls_servers(&candidate.parsed))
            && !is_authority(&leaf.parsed)
            && issuers.iter().enumerate().all(|(index, issuer)| {
                // Those that the issuer at `index` has below it, without the server's own and the self-issued ones.
                let below =
                    issuers[..index].iter().filter(|candidate| !is_self_issued(&candidate.parsed)).count();
                may_issue(&issuer.parsed, below)
            })
            && fits_name_constraints(path, anchor)
    }
}

fn sequence_content(encoded: &[u8]) -> Option<&[u8]> {
    super::der::DerReader(encoded).next_with_tag(super::der::SEQUENCE).map(|element| element.content)
}

fn key_info<'a>(certificate: &X509Certificate<'a>) -> Option<&'a [u8]> {
    sequence_content(certificate.tbs_certificate.subject_pki.raw)
}

fn is_self_issued(certificate: &X509Certificate<'_>) -> bool {
    certificate.subject().as_raw() == certificate.issuer().as_raw()
}

fn is_authority(certificate: &X509Certificate<'_>) -> bool {
    matches!(certificate.basic_constraints(), Ok(Some(constraints)) if constraints.value.ca)
}

/// Whether an authority may have `below` others between itself and the server.
fn may_issue(certificate: &X509Certificate<'_>, below: usize) -> bool {
    let Ok(Some(constraints)) = certificate.basic_constraints() else { return false };
    let may_sign_certificates = match certificate.key_usage() {
        Ok(usage) => usage.is_none_or(|usage| usage.value.key_cert_sign()),
        Err(_) => false,
    };
    let max = constraints.value.path_len_constraint;
    constraints.value.ca && may_sign_certificates && max.is_none_or(|max| below <= max as usize)
}

/// Whether the certificate is not limited to other purposes than TLS servers.
fn allows_tls_servers(certificate: &X509Certificate<'_>) -> bool {
    match certificate.extended_key_usage() {
        Ok(usage) => usage.is_none_or(|usage| usage.value.server_auth || usage.value.any),
        Err(_) => false,
    }
}

fn has_known_critical_extensions(certificate: &X509Certificate<'_>) -> bool {
    certificate.extensions().iter().filter(|extension| extension.critical).all(|extension| {
        matches!(
            extension.parsed_extension(),
            ParsedExtension::BasicConstraints(_)
                | ParsedExtension::KeyUsage(_)
                | ParsedExtension::ExtendedKeyUsage(_)
                | ParsedExtension::SubjectAlternativeName(_)
                | ParsedExtension::NameConstraints(_)
        )
    })
}

/// Whether the names of all certificates are within the constraints of those above them. Constraints of other forms
/// than DNS names and addresses are not understood here, so that the chain stays refused.
fn fits_name_constraints(path: &[&Candidate<'_>], anchor: &TrustAnchor<'_>) -> bool {
    // Those of an authority are kept in a form of its own; chains below one are left to webpki.
    if anchor.name_constraints.is_some() {
        return false;
    }
    path.iter().enumerate().all(|(position, issuer)| match issuer.parsed.name_constraints() {
        Ok(None) => true,
        Ok(Some(constraints)) => path[..position]
            .iter()
            .enumerate()
            .filter(|(below, candidate)| *below == 0 || !is_self_issued(&candidate.parsed))
            .all(|(_, candidate)| names_fit_constraints(&candidate.parsed, constraints.value)),
        Err(_) => false,
    })
}

fn names_fit_constraints(certificate: &X509Certificate<'_>, constraints: &NameConstraints<'_>) -> bool {
    let permitted = constraints.permitted_subtrees.as_deref().unwrap_or_default();
    let excluded = constraints.excluded_subtrees.as_deref().unwrap_or_default();
    let is_known = |subtree: &GeneralSubtree<'_>| {
        matches!(subtree.base, GeneralName::DNSName(_) | GeneralName::IPAddress(_))
    };
    if !permitted.iter().chain(excluded).all(is_known) {
        return false;
    }
    let names = match certificate.subject_alternative_name() {
        Ok(Some(names)) => names.value.general_names.as_slice(),
        Ok(None) => &[],
        Err(_) => return false,
    };
    names.iter().all(|name| {
        let has_form_of_name = |subtree: &&GeneralSubtree<'_>| {
            std::mem::discriminant(&subtree.base) == std::mem::discriminant(name)
        };
        let mut same_form = permitted.iter().filter(has_form_of_name).peekable();
        let is_permitted =
            same_form.peek().is_none() || same_form.any(|subtree| is_within(name, &subtree.base));
        is_permitted && !excluded.iter().any(|subtree| is_within(name, &subtree.base))
    })
}

/// Whether `name` is within the subtree `base` (RFC 5280 4.2.1.10).
fn is_within(name: &GeneralName<'_>, base: &GeneralName<'_>) -> bool {
    match (name, base) {
        (GeneralName::DNSName(name), GeneralName::DNSName(base)) => {
            let (name, base) = (name.to_ascii_lowercase(), base.to_ascii_lowercase());
            let is_below = |base: &str| name.strip_suffix(base).is_some_and(|rest| rest.ends_with('.'));
            match base.strip_prefix('.') {
                Some(base) => is_below(base),
                None => base.is_empty() || name == base || is_below(&base),
            }
        }
        (GeneralName::IPAddress(address), GeneralName::IPAddress(network)) => {
            let (base, mask) = network.split_at(network.len() / 2);
            let bits = address.iter().zip(base).zip(mask);
            address.len() == base.len()
                && <[u8; 4]>::try_from(*address)
                    .map(IpAddr::from)
                    .or_else(|_| <[u8; 16]>::try_from(*address).map(IpAddr::from))
                    .is_ok()
                && bits.into_iter().all(|((byte, base), mask)| byte & mask == base & mask)
        }
        _ => false,
    }
}
