//! Failures of handshakes.

use std::io;

use rustls::{CertificateError, Error, InvalidMessage};

use crate::domain::{Certificate, Failure, FailureKind, Phase};

/// Returns the failure of a handshake that ended with `error`. Certificate errors have their own kinds; everything else
/// that the peer does, an alert, garbage, a reset or a close, is a failed handshake.
pub(super) fn handshake_failure(error: &io::Error, server_name: &str, chain: &[Certificate]) -> Failure {
    let (kind, detail) = match rustls_error(error) {
        Some(Error::InvalidCertificate(error)) => certificate_failure(error, server_name, chain),
        Some(other) => (FailureKind::TlsHandshakeFailed, other.to_string()),
        None if error.kind() == io::ErrorKind::UnexpectedEof => (
            FailureKind::TlsHandshakeFailed,
            "the target closed the connection during the handshake".to_owned(),
        ),
        None if error.kind() == io::ErrorKind::TimedOut => (FailureKind::TimedOut, error.to_string()),
        None => (FailureKind::TlsHandshakeFailed, error.to_string()),
    };
    Failure::new(Phase::Tls, kind, detail)
}

/// Whether a handshake ended with `error` because the peer did not send TLS, like a server that starts in plain text.
pub(super) fn is_not_tls(error: &io::Error) -> bool {
    matches!(rustls_error(error), Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)))
}

/// Returns the error of the TLS library inside `error`.
fn rustls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn certificate_failure(
    error: &CertificateError,
    server_name: &str,
    chain: &[Certificate],
) -> (FailureKind, String) {
    let leaf = chain.first();
    let quoted_subject = leaf.map_or_else(String::new, |leaf| format!("`{}`", leaf.subject));
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            let expired = chain.iter().min_by_key(|certificate| certificate.not_after);
            let detail =
                expired.map_or(quoted_subject, |c| format!("`{}` expired at {}", c.subject, c.not_after));
            (FailureKind::CertificateExpired, detail)
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            let not_yet_valid = chain.iter().max_by_key(|certificate| certificate.not_before);
            let detail = not_yet_valid
                .map_or(quoted_subject, |c| format!("`{}` is valid from {}", c.subject, c.not_before));
            (FailureKind::CertificateNotYetValid, detail)
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let names = leaf.map(|leaf| leaf.subject_alt_names.join(", ")).filter(|names| !names.is_empty());
            let names = names.unwrap_or_else(|| "no name".to_owned());
            (
                FailureKind::CertificateNameMismatch,
                format!("asked for `{server_name}`, the certificate is for {names}"),
            )
        }
        // A self-signed certificate that is a CA is refused for that before its issuer is checked.
        _ if leaf.is_some_and(|leaf| chain.len() == 1 && leaf.subject == leaf.issuer) => (
            FailureKind::CertificateIssuerUnknown,
            format!("{quoted_subject} is self-signed and not trusted here"),
        ),
        CertificateError::UnknownIssuer => {
            let issuer = chain.last().map_or("", |last| last.issuer.as_str());
            (
                FailureKind::CertificateIssuerUnknown,
                format!("{quoted_subject}, issuer `{issuer}` is not trusted here"),
            )
        }
        other => (FailureKind::CertificateInvalid, format!("{quoted_subject}: {other}")),
    }
}
