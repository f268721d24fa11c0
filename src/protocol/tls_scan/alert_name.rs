//! Names of alerts, and what they say about an offer.

/// The alert that the version is refused.
pub(super) const PROTOCOL_VERSION: u8 = 70;
/// The alert to a hello with [`FALLBACK_SCSV`](super::client_hello::FALLBACK_SCSV).
pub(super) const INAPPROPRIATE_FALLBACK: u8 = 86;
/// The alert that none of the protocols of ALPN is served.
pub(super) const NO_APPLICATION_PROTOCOL: u8 = 120;

/// The alerts of servers that want none of what was offered: `handshake_failure`, [`PROTOCOL_VERSION`] and
/// `insufficient_security`. Any other has a cause of its own, which an open question names.
pub(super) const fn is_plain_refusal(alert: u8) -> bool {
    matches!(alert, 40 | PROTOCOL_VERSION | 71)
}

/// Returns the name of an alert (IANA "TLS Alerts") with its number.
pub(super) fn alert_name(alert: u8) -> String {
    let name = match alert {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        22 => "record_overflow",
        40 => "handshake_failure",
        47 => "illegal_parameter",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        109 => "missing_extension",
        110 => "unsupported_extension",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => return format!("alert {alert}"),
    };
    format!("alert {name} ({alert})")
}
