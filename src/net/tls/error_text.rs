//! Errors of TLS in words: what the target did, and what to do about it.

use std::fmt::Debug;
use std::io;

use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};

/// Returns the text of an I/O error of a connection; of one of TLS, a sentence about that.
#[must_use]
pub fn io_error_text(error: &io::Error) -> String {
    let tls_error = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    tls_error.map_or_else(|| error.to_string(), tls_error_text)
}

/// Returns a sentence about `error`. Those about certificates have texts of their own, with the chain at hand; here
/// they are told without it.
pub(super) fn tls_error_text(error: &Error) -> String {
    match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the target did not answer in TLS: it probably speaks plain text at this port, such as HTTP; check the \
             port, or use the variant without TLS"
                .to_owned()
        }
        Error::InvalidMessage(
            InvalidMessage::CertificatePayloadTooLarge
            | InvalidMessage::HandshakePayloadTooLarge
            | InvalidMessage::MessageTooLarge,
        )
        | Error::PeerSentOversizedRecord => {
            "the target sent a TLS message that is larger than allowed; its TLS library or a device in between is broken"
                .to_owned()
        }
        Error::InvalidMessage(InvalidMessage::UnknownProtocolVersion) => {
            "the target answered in a version of TLS that does not exist; check whether it speaks TLS at this port"
                .to_owned()
        }
        Error::InvalidMessage(message) => format!(
            "the target sent a TLS message that cannot be read ({}); its TLS library or a device in between is broken",
            variant_words(message)
        ),
        Error::InappropriateMessage { got_type, .. } => {
            format!("the target sent a TLS record out of turn ({}); its TLS library is broken", variant_words(got_type))
        }
        Error::InappropriateHandshakeMessage { got_type, .. } => format!(
            "the target sent a message of the handshake out of turn ({}); its TLS library is broken",
            variant_words(got_type)
        ),
        Error::AlertReceived(alert) => alert_text(*alert),
        Error::PeerIncompatible(reason) => incompatibility_text(reason),
        Error::PeerMisbehaved(misbehaviour) => format!(
            "the target broke the rules of TLS ({}); its TLS library or a device in between is broken",
            variant_words(misbehaviour)
        ),
        Error::InvalidCertificate(reason) => format!(
            "the certificate of the target was refused ({}); replace the certificate",
            variant_words(reason)
        ),
        Error::InvalidCertRevocationList(reason) => format!(
            "the revocation list of the certificate's authority cannot be used ({}); the authority has to renew it",
            variant_words(reason)
        ),
        Error::InvalidEncryptedClientHello(reason) => format!(
            "the target's settings for an encrypted hello cannot be used ({}); the target has to correct them",
            variant_words(reason)
        ),
        Error::NoCertificatesPresented => {
            "the target sent no certificate; configure one at the target".to_owned()
        }
        Error::UnsupportedNameType => {
            "the name of the target is neither a host name nor an address; check the monitor".to_owned()
        }
        Error::DecryptError => {
            "what the target sent cannot be decrypted; it was altered on its way, or its TLS library is broken".to_owned()
        }
        Error::NoApplicationProtocol => {
            "the target speaks none of the protocols that were offered (ALPN); check which ones it has".to_owned()
        }
        Error::InconsistentKeys(_) => {
            "certificate and private key do not belong together; check the client certificate of the monitor".to_owned()
        }
        Error::EncryptError
        | Error::FailedToGetCurrentTime
        | Error::FailedToGetRandomBytes
        | Error::HandshakeNotComplete
        | Error::BadMaxFragmentSize
        | Error::General(_)
        | Error::Other(_) => {
            "TLS failed inside of Vigie; see the log of this location, and report it if it happens again".to_owned()
        }
        _ => "TLS failed for a reason that this version of Vigie has no words for; try `openssl s_client`".to_owned(),
    }
}

/// Returns a sentence about an alert of the target (RFC 8446 6.2).
fn alert_text(alert: AlertDescription) -> String {
    let meaning = match alert {
        AlertDescription::HandshakeFailure => {
            "it shares no cipher suite, key exchange or signature algorithm with Vigie, or misses a client certificate; \
             allow ECDHE with AES-GCM or ChaCha20 at the target, or set `ssl_cert_id`"
        }
        AlertDescription::InsufficientSecurity => {
            "it wants a stronger cipher suite than those that were offered; check its list of cipher suites"
        }
        AlertDescription::ProtocolVersion => {
            "it does not speak the offered version of TLS; allow TLS 1.2 or 1.3 at the target, or set `use_ssl_version`"
        }
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            "it requires a client certificate; set `ssl_cert_id` and `use_client_ssl_cert`"
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::CertificateUnobtainable
        | AlertDescription::BadCertificateStatusResponse
        | AlertDescription::BadCertificateHashValue
        | AlertDescription::UnknownCA => {
            "it refuses the client certificate; check the one that `ssl_cert_id` names, and whom the target trusts"
        }
        AlertDescription::AccessDenied => "it denies access to the client certificate; ask its operator",
        AlertDescription::UnrecognisedName => {
            "it has no certificate for the name that was asked for; check the name of the monitor, or the virtual hosts \
             of the target"
        }
        AlertDescription::NoApplicationProtocol => {
            "it speaks none of the protocols that were offered (ALPN); check which ones it has"
        }
        AlertDescription::InternalError => "it has an internal error; see its log",
        AlertDescription::CloseNotify | AlertDescription::UserCanceled => {
            "it ended the handshake; see its log"
        }
        _ => "it accepts the handshake no further; see its log, and compare with `openssl s_client`",
    };
    format!("the target refused the TLS handshake (alert: {}): {meaning}", variant_words(&alert))
}

fn incompatibility_text(reason: &PeerIncompatible) -> String {
    match reason {
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled
        | PeerIncompatible::SupportedVersionsExtensionRequired => {
            "the target speaks none of the versions of TLS that were offered; allow TLS 1.2 or 1.3 at the target, or \
             set `use_ssl_version`"
                .to_owned()
        }
        PeerIncompatible::Tls13RequiredForQuic => {
            "the target speaks QUIC without TLS 1.3, which cannot be; its QUIC library is broken".to_owned()
        }
        PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            "the target accepts no signature that the client certificate can make; use a certificate with another key"
                .to_owned()
        }
        PeerIncompatible::ServerRejectedEncryptedClientHello(_) => {
            "the target refused the encrypted hello; its keys for that have changed".to_owned()
        }
        other => format!(
            "the target and Vigie share no way to speak TLS ({}); allow ECDHE with AES-GCM or ChaCha20 at the target",
            variant_words(other)
        ),
    }
}

/// Returns the name of a variant as words: `handshake failure` for `HandshakeFailure`. What it holds is left out.
fn variant_words(variant: &impl Debug) -> String {
    let name = format!("{variant:?}");
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    let mut text = String::new();
    let mut previous = ' ';
    let characters: Vec<char> = name.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let next_is_lower = characters.get(index + 1).is_some_and(char::is_ascii_lowercase);
        let begins_word = character.is_ascii_uppercase()
            && (previous.is_ascii_lowercase() || previous.is_ascii_digit() || next_is_lower);
        if begins_word && !text.is_empty() {
            text.push(' ');
        }
        // Abbreviations stay as they are.
        let in_abbreviation = character.is_ascii_uppercase()
            && (previous.is_ascii_uppercase() && !next_is_lower
                || characters.get(index + 1).is_some_and(char::is_ascii_uppercase));
        text.push(if in_abbreviation { character } else { character.to_ascii_lowercase() });
        previous = character;
    }
    text
}

#[cfg(test)]
#[path = "error_text_tests.rs"]
mod tests;
