//! Why the chain of a server was refused: what is wrong, with which certificate, and what to do.

use std::sync::Arc;

use rustls::{CertificateError, OtherError};
use rustls_pki_types::CertificateDer;
use webpki::Error as PathError;

use super::presented_chain::PresentedChain;
use super::trust::TrustAnchors;
use crate::domain::{FailureKind, Timestamp};

/// Shortest RSA key that is accepted, in bits.
const MIN_RSA_BITS: usize = 2048;

/// Why a chain was refused.
#[derive(Clone, Debug)]
pub(super) enum ChainError {
    /// It breaks a rule of path validation.
    Path(PathError),
    /// The server's certificate is trusted as it is, but its version of X.509 has no names to compare.
    PinnedWithoutNames,
    /// An authority has revoked the certificate at `index` of the path.
    /// `source` names in words who said so: a responder or a list.
    Revoked { index: usize, since: Option<Timestamp>, reason: Option<&'static str>, source: String },
}

impl ChainError {
    /// Returns the error by which rustls chooses its alert.
    pub(super) fn to_rustls_error(&self) -> rustls::Error {
        let error = match self {
            Self::Path(PathError::CertExpired { .. } | PathError::InvalidCertValidity) => {
                CertificateError::Expired
            }
            Self::Path(PathError::CertNotValidYet { .. }) => CertificateError::NotValidYet,
            Self::Path(PathError::CertNotValidForName(_)) | Self::PinnedWithoutNames => {
                CertificateError::NotValidForName
            }
            Self::Path(PathError::UnknownIssuer) => CertificateError::UnknownIssuer,
            Self::Path(PathError::BadDer) => CertificateError::BadEncoding,
            Self::Path(error) => CertificateError::Other(OtherError(Arc::new(error.clone()))),
            Self::Revoked { .. } => CertificateError::Revoked,
        };
        error.into()
    }

    /// Returns kind and text of the failure. `chain` is what the server sent, its own certificate first.
    pub(super) fn describe(
        &self,
        server_name: &str,
        chain: &[CertificateDer<'_>],
        anchors: &TrustAnchors,
    ) -> (FailureKind, String) {
        let chain = PresentedChain::new(chain);
        match self {
            Self::Path(error) => describe_path_error(error, server_name, &chain, anchors),
            Self::PinnedWithoutNames => (
                FailureKind::CertificateNameMismatch,
                format!(
                    "{} is trusted here, but it is of X.509 version 1, which has no names to compare with \
                     `{server_name}`; issue one of version 3 with this name as subjectAltName",
                    chain.describe_certificate(0)
                ),
            ),
            Self::Revoked { index, since, reason, source } => {
                let since = since.map_or(String::new(), |since| format!(" since {since}"));
                let reason = reason.map_or(String::new(), |reason| format!(", because {reason}"));
                let detail = format!(
                    "{} is revoked{since}{reason}, according to {source}; install a new one",
                    chain.describe_certificate(*index)
                );
                (FailureKind::CertificateRevoked, detail)
            }
        }
    }
}

/// Returns kind and text of a broken rule.
#[expect(deprecated, reason = "all variants are described, also those that webpki does not use any more")]
fn describe_path_error(
    error: &PathError,
    server_name: &str,
    chain: &PresentedChain<'_>,
    anchors: &TrustAnchors,
) -> (FailureKind, String) {
    use FailureKind as Kind;
    let invalid = |text: String| (Kind::CertificateInvalid, text);
    match error {
        PathError::CertExpired { .. } => match chain.earliest_expiring_index() {
            Some(index) => (
                Kind::CertificateExpired,
                format!(
                    "{} expired at {}; renew it",
                    chain.describe_certificate(index),
                    chain.not_after(index)
                ),
            ),
            None => {
                (Kind::CertificateExpired, format!("{} expired; renew it", chain.describe_any_certificate()))
            }
        },
        PathError::CertNotValidYet { .. } => match chain.latest_starting_index() {
            Some(index) => (
                Kind::CertificateNotYetValid,
                format!(
                    "{} is valid from {}; install it then, or check the clocks",
                    chain.describe_certificate(index),
                    chain.not_before(index)
                ),
            ),
            None => (
                Kind::CertificateNotYetValid,
                format!("{} is not valid yet; check the clocks", chain.describe_any_certificate()),
            ),
        },
        PathError::InvalidCertValidity => {
            let certificate_text = chain.describe_first_where(|certificate| {
                certificate.validity().not_before > certificate.validity().not_after
            });
            invalid(format!(
                "{certificate_text} is valid until a time before the one from which it is valid; issue it anew"
            ))
        }
        PathError::CertNotValidForName(_) => (
            Kind::CertificateNameMismatch,
            format!(
                "asked for `{server_name}`, the certificate is for {}; issue one with this name, or check the name \
                 that the monitor asks for",
                chain.subject_alt_names()
            ),
        ),
        PathError::UnknownIssuer => unknown_issuer(chain),
        PathError::CaUsedAsEndEntity if chain.is_single_self_signed() => unknown_issuer(chain),
        PathError::CaUsedAsEndEntity => invalid(format!(
            "{} is that of an authority (CA) and not one for a server; issue one without `CA:TRUE` for the server",
            chain.describe_certificate(0)
        )),
        PathError::EndEntityUsedAsCa => {
            let certificate_text = chain
                .describe_first_issuer_where(|certificate| !matches!(certificate.basic_constraints(), Ok(Some(constraints)) if constraints.value.ca));
            invalid(format!(
                "{certificate_text} issued another one, but is not that of an authority (CA); let one issue it"
            ))
        }
        PathError::CertDistrusted => {
            invalid(format!("{} is known to be misused; replace the chain", chain.describe_any_certificate()))
        }
        PathError::CertRevoked => (
            Kind::CertificateRevoked,
            format!(
                "a certificate of the chain of {} is revoked; install a new one",
                chain.describe_certificate(0)
            ),
        ),
        PathError::InvalidSignatureForPublicKey => invalid(signature_text(chain, anchors)),
        PathError::SignatureAlgorithmMismatch => {
            let certificate_text = chain.describe_first_where(|certificate| {
                certificate.signature_algorithm != certificate.tbs_certificate.signature
            });
            invalid(format!("{certificate_text} names two different signature algorithms; issue it anew"))
        }
        PathError::UnsupportedSignatureAlgorithm
        | PathError::UnsupportedSignatureAlgorithmContext(_)
        | PathError::UnsupportedSignatureAlgorithmForPublicKey
        | PathError::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            let (certificate_text, algorithm) = chain.describe_first_weakly_signed();
            invalid(format!(
                "{certificate_text} is signed by {algorithm}, which is not accepted; issue it anew with SHA-256 or better, and a \
                 key of RSA, ECDSA or Ed25519"
            ))
        }
        PathError::EmptyEkuExtension => {
            let certificate_text = chain.describe_first_where(|certificate| {
                matches!(certificate.extended_key_usage(), Ok(Some(usage))
                    if !usage.value.server_auth && !usage.value.any && usage.value.other.is_empty())
            });
            invalid(format!(
                "{certificate_text} has an empty list of purposes (extended key usage); issue it anew"
            ))
        }
        PathError::RequiredEkuNotFound | PathError::RequiredEkuNotFoundContext(_) => {
            let certificate_text = chain.describe_first_where(
                |certificate| matches!(certificate.extended_key_usage(), Ok(Some(usage)) if !usage.value.server_auth),
            );
            invalid(format!(
                "{certificate_text} is for other purposes than TLS servers (extended key usage); issue it with `serverAuth`"
            ))
        }
        PathError::NameConstraintViolation => {
            let issuer = chain.describe_first_issuer_where(|certificate| {
                matches!(certificate.name_constraints(), Ok(Some(_)))
            });
            invalid(format!(
                "{} has a name that {issuer} may not issue (name constraints); let another authority issue it",
                chain.describe_certificate(0)
            ))
        }
        PathError::PathLenConstraintViolated => {
            let certificate_text = chain.describe_first_issuer_where(|certificate| {
                matches!(certificate.basic_constraints(), Ok(Some(constraints)) if constraints.value.path_len_constraint.is_some())
            });
            invalid(format!(
                "below {certificate_text} are more authorities than it allows (path length); let one further up issue the \
                 certificate"
            ))
        }
        PathError::UnsupportedCertVersion => {
            let certificate_text = chain.describe_first_where(|certificate| certificate.version().0 != 2);
            invalid(format!(
                "{certificate_text} is not of X.509 version 3; issue it anew, as every current tool does"
            ))
        }
        PathError::UnsupportedCriticalExtension => {
            let (certificate_text, extension) = chain.describe_first_with_unknown_critical_extension();
            invalid(format!(
                "{certificate_text} has {extension}, which is marked as critical and unknown here; issue it without that"
            ))
        }
        PathError::UnsupportedNameType => invalid(format!(
            "`{server_name}` is neither a host name nor an address; check the name of the monitor"
        )),
        PathError::MalformedDnsIdentifier => invalid(format!(
            "{} has a name that is not written as DNS names are; issue it anew",
            chain.describe_certificate(0)
        )),
        PathError::MalformedNameConstraint | PathError::InvalidNetworkMaskConstraint => {
            let certificate_text = chain.describe_first_issuer_where(|certificate| {
                !matches!(certificate.name_constraints(), Ok(None))
            });
            invalid(format!("{certificate_text} has name constraints that cannot be read; issue it anew"))
        }
        PathError::MaximumNameConstraintComparisonsExceeded
        | PathError::MaximumPathBuildCallsExceeded
        | PathError::MaximumPathDepthExceeded
        | PathError::MaximumSignatureChecksExceeded => invalid(format!(
            "the chain of {} takes too much work to verify: too many certificates or names; send only those between \
             the server and its authority",
            chain.describe_certificate(0)
        )),
        PathError::BadDer
        | PathError::BadDerTime
        | PathError::TrailingData(_)
        | PathError::ExtensionValueInvalid
        | PathError::MalformedExtensions
        | PathError::InvalidSerialNumber => invalid(format!(
            "{} cannot be read: it breaks the rules of its encoding; issue it anew",
            chain.describe_first_unreadable()
        )),
        PathError::UnknownRevocationStatus => invalid(format!(
            "no revocation list says whether {} is revoked; its authority has to publish one",
            chain.describe_certificate(0)
        )),
        PathError::CrlExpired { .. } => invalid(format!(
            "the revocation list for {} is outdated; its authority has to renew it",
            chain.describe_certificate(0)
        )),
        PathError::InvalidCrlSignatureForPublicKey
        | PathError::IssuerNotCrlSigner
        | PathError::UnsupportedCrlSignatureAlgorithm
        | PathError::UnsupportedCrlSignatureAlgorithmContext(_)
        | PathError::UnsupportedCrlSignatureAlgorithmForPublicKey
        | PathError::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(_) => invalid(format!(
            "the revocation list for {} is not signed by its authority, or by an algorithm that is not accepted; the \
             authority has to sign it anew",
            chain.describe_certificate(0)
        )),
        PathError::InvalidCrlNumber
        | PathError::UnsupportedCrlIssuingDistributionPoint
        | PathError::UnsupportedCrlVersion
        | PathError::UnsupportedDeltaCrl
        | PathError::UnsupportedIndirectCrl
        | PathError::UnsupportedRevocationReason
        | PathError::UnsupportedRevocationReasonsPartitioning => invalid(format!(
            "the revocation list for {} is of a kind that is not understood here; its authority has to publish a \
             complete one",
            chain.describe_certificate(0)
        )),
        _ => invalid(format!(
            "the chain of {} was refused for a reason that this version of Vigie has no words for; compare it with \
             what `openssl verify` says",
            chain.describe_certificate(0)
        )),
    }
}

/// Returns kind and text for a chain that ends at no trusted authority.
fn unknown_issuer(chain: &PresentedChain<'_>) -> (FailureKind, String) {
    let kind = FailureKind::CertificateIssuerUnknown;
    if chain.is_single_self_signed() {
        let text = format!(
            "{} is self-signed and not trusted here; trust it (`ca_cert_id`, `tls.ca_files`), or install one of an \
             authority",
            chain.quoted_subject(0)
        );
        return (kind, text);
    }
    let hint = if chain.len() == 1 {
        "; trust that authority (`ca_cert_id`, `tls.ca_files`), or let the server send the certificates in between too"
    } else {
        "; trust that authority (`ca_cert_id`, `tls.ca_files`)"
    };
    (kind, format!("{}, issuer `{}` is not trusted here{hint}", chain.quoted_subject(0), chain.last_issuer()))
}

/// Explains a signature that does not fit: by a key that is too short, if there is one.
fn signature_text(chain: &PresentedChain<'_>, anchors: &TrustAnchors) -> String {
    if let Some((certificate_text, bits)) = chain.describe_first_short_key(anchors, MIN_RSA_BITS) {
        return short_key_text(&certificate_text, bits);
    }
    let Some((certificate_text, issuer)) = chain.describe_first_invalid_signature(anchors) else {
        return format!(
            "several authorities of the same name are in the chain of {}, and the way over none of them is valid; \
             install the chain as the authority delivers it",
            chain.describe_certificate(0)
        );
    };
    format!(
        "the signature of {certificate_text} does not fit the key of `{issuer}`: it was altered, or an authority of the same name \
         with another key issued it; install the chain as the authority delivers it"
    )
}

/// Returns the text about an RSA key of `bits`.
pub(super) fn short_key_text(certificate_text: &str, bits: usize) -> String {
    format!(
        "{certificate_text} has an RSA key of {bits} bits, and at least {MIN_RSA_BITS} are needed; issue it anew with a longer key"
    )
}

/// Whether `bits` are too few for an RSA key.
pub(super) fn is_short_key(bits: usize) -> bool {
    bits < MIN_RSA_BITS
}
