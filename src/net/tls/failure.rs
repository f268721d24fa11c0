//! What a failed handshake means.

use std::io;

use rustls::{CertificateError, Error, InvalidMessage};

use crate::domain::{Certificate, Failure, FailureKind, Phase};

/// The failure of a handshake that ended with `error`. A certificate fault is told apart by its reason;
/// everything else that the peer did, an alert, garbage, a reset or a close, is a failed handshake.
pub(super) fn handshake_failure(error: &io::Error, server_name: &str, chain: &[Certificate]) -> Failure {
    let (kind, detail) = match tls_error(error) {
        Some(Error::InvalidCertificate(fault)) => certificate_failure(fault, server_name, chain),
        Some(other) => (FailureKind::TlsHandshake, other.to_string()),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            (FailureKind::TlsHandshake, "the target closed the connection during the handshake".to_owned())
        }
        None if error.kind() == io::ErrorKind::TimedOut => (FailureKind::TimedOut, error.to_string()),
        None => (FailureKind::TlsHandshake, error.to_string()),
    };
    Failure::new(Phase::Tls, kind, detail)
}

/// Whether a handshake ended with `error` since what the peer said was no TLS, as from a server that begins in plain
/// text.
pub(super) fn is_not_tls(error: &io::Error) -> bool {
    matches!(tls_error(error), Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)))
}

/// The error of the TLS library that `error` stands for.
fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn certificate_failure(
    fault: &CertificateError,
    server_name: &str,
    chain: &[Certificate],
) -> (FailureKind, String) {
    let leaf = chain.first();
    let about = leaf.map_or_else(String::new, |leaf| format!("`{}`", leaf.subject));
    match fault {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            let late = chain.iter().min_by_key(|certificate| certificate.not_after);
            let detail = late.map_or(about, |c| format!("`{}` ended at {}", c.subject, c.not_after));
            (FailureKind::CertificateExpired, detail)
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            let early = chain.iter().max_by_key(|certificate| certificate.not_before);
            let detail = early.map_or(about, |c| format!("`{}` begins at {}", c.subject, c.not_before));
            (FailureKind::CertificateNotYetValid, detail)
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let names = leaf.map(|leaf| leaf.names.join(", ")).filter(|names| !names.is_empty());
            let names = names.unwrap_or_else(|| "no name".to_owned());
            (
                FailureKind::CertificateName,
                format!("asked for `{server_name}`, the certificate is for {names}"),
            )
        }
        // A self-signed one that calls itself a CA is refused for that before its issuer is looked at.
        _ if leaf.is_some_and(|leaf| chain.len() == 1 && leaf.subject == leaf.issuer) => {
            (FailureKind::CertificateIssuer, format!("{about} is self-signed and not trusted here"))
        }
        CertificateError::UnknownIssuer => {
            let issuer = chain.last().map_or("", |last| last.issuer.as_str());
            (FailureKind::CertificateIssuer, format!("{about}, issuer `{issuer}` is not trusted here"))
        }
        other => (FailureKind::CertificateInvalid, format!("{about}: {other}")),
    }
}
