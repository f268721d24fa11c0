//! A chain of certificates that was accepted.

use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};

use super::trust::{TrustAnchors, name_and_key_digest};
use crate::domain::Timestamp;

/// A chain that was accepted.
#[derive(Clone, Debug, Default)]
pub(super) struct AcceptedPath {
    /// The certificates up to the trusted authority, which is not among them; the server's own first.
    pub(super) links: Vec<PathLink>,
    /// The trusted authority at its end, if that has expired: its subject and the end of its validity.
    pub(super) expired_root: Option<(String, Timestamp)>,
}

/// A certificate and the key of its issuer.
#[derive(Clone, Debug)]
pub(super) struct PathLink {
    pub(super) certificate: CertificateDer<'static>,
    /// The content of the issuer's `SubjectPublicKeyInfo`.
    pub(super) issuer_key: Box<[u8]>,
}

/// Returns subject and end of validity of `anchor`, if it has expired. Path validation does not ask for the dates of an
/// authority that is trusted as such, and neither do browsers, but other programs do.
pub(super) fn expired_root(
    anchors: &TrustAnchors,
    anchor: &TrustAnchor<'_>,
    now: UnixTime,
) -> Option<(String, Timestamp)> {
    let name_and_key_digest = name_and_key_digest(anchor);
    let now = Timestamp::from_seconds(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    let mut roots_with_same_key =
        anchors.root_dates().filter(|root| root.name_and_key_digest == name_and_key_digest).peekable();
    roots_with_same_key.peek()?;
    // The same key may be trusted by a newer certificate too.
    let newest = roots_with_same_key.max_by_key(|root| root.not_after)?;
    (newest.not_after < now).then(|| (newest.subject.to_string(), newest.not_after))
}
