//! Failures of handshakes.

use std::io;

use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};

use super::chain_error::{is_short_key, short_key_text};
use super::error_text::tls_error_text;
use super::presented_chain::PresentedChain;
use super::verifier::RecordingVerifier;
use crate::domain::{Failure, FailureKind, Phase};

/// Returns the failure of a handshake that ended with `error`. Certificate errors have their own kinds; everything else
/// that the peer does, an alert, garbage, a reset or a close, is a failed handshake.
pub(super) fn handshake_failure(
    error: &io::Error,
    server_name: &str,
    verifier: &RecordingVerifier,
) -> Failure {
    let (kind, detail) = match rustls_error(error) {
        Some(Error::InvalidCertificate(_)) => certificate_failure(server_name, verifier),
        Some(other) => (FailureKind::TlsHandshakeFailed, tls_error_text(other)),
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

/// Whether a handshake ended with `error` since the peer may know only cipher suites that were not offered. Some
/// peers say so, and some just close.
pub(super) fn may_lack_cipher_suites(error: &io::Error) -> bool {
    match rustls_error(error) {
        Some(Error::AlertReceived(alert)) => {
            matches!(alert, AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity)
        }
        Some(Error::PeerIncompatible(reason)) => matches!(
            reason,
            PeerIncompatible::NoCipherSuitesInCommon
                | PeerIncompatible::NoKxGroupsInCommon
                | PeerIncompatible::NoSignatureSchemesInCommon
                | PeerIncompatible::ExtendedMasterSecretExtensionRequired
                | PeerIncompatible::EcPointsExtensionRequired
        ),
        _ => false,
    }
}

/// Returns the error of the TLS library inside `error`.
fn rustls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

/// Returns kind and text of a refused certificate, or of a signature that does not fit an accepted one.
pub(super) fn certificate_failure(server_name: &str, verifier: &RecordingVerifier) -> (FailureKind, String) {
    let verification = verifier.last_verification();
    if let Some(error) = &verification.error {
        return error.describe(server_name, &verification.chain, &verifier.trust_anchors);
    }
    let chain = PresentedChain::new(&verification.chain);
    let detail = match chain.own_rsa_bits().filter(|&bits| is_short_key(bits)) {
        Some(bits) => short_key_text(&chain.describe_certificate(0), bits),
        None => format!(
            "the target did not sign the handshake with the key of {}, or by an algorithm that is not accepted; check \
             that its private key belongs to this certificate",
            chain.describe_certificate(0)
        ),
    };
    (FailureKind::CertificateInvalid, detail)
}
