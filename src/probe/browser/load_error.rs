//! Error pages of browsers, and their names for failed loads.

use url::Url;

use crate::domain::FailureKind;
use crate::protocol::http::client::remove_login;

/// Returns the failure kind of the browser's name for a failed load.
pub(super) fn load_error_to_failure_kind(error_name: &str) -> FailureKind {
    match error_name {
        "ERR_NAME_NOT_RESOLVED" | "dnsNotFound" => FailureKind::NameNotFound,
        "ERR_CONNECTION_REFUSED" | "connectionFailure" | "proxyConnectFailure" => FailureKind::ConnectRefused,
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" | "netTimeout" => FailureKind::TimedOut,
        "ERR_EMPTY_RESPONSE" | "ERR_SOCKET_NOT_CONNECTED" => FailureKind::NoResponse,
        "ERR_CONNECTION_RESET" | "ERR_CONNECTION_CLOSED" | "netReset" => FailureKind::ResponseReset,
        "ERR_CERT_DATE_INVALID" => FailureKind::CertificateExpired,
        "ERR_CERT_COMMON_NAME_INVALID" => FailureKind::CertificateNameMismatch,
        "ERR_CERT_AUTHORITY_INVALID" => FailureKind::CertificateIssuerUnknown,
        "ERR_TOO_MANY_REDIRECTS" | "redirectLoop" => FailureKind::RedirectLoop,
        "ERR_INVALID_HTTP_RESPONSE" | "ERR_INVALID_RESPONSE" => FailureKind::ResponseInvalid,
        error_name if error_name.starts_with("ERR_CERT") || error_name == "nssBadCert" => {
            FailureKind::CertificateInvalid
        }
        error_name if error_name.starts_with("ERR_SSL") || error_name == "nssFailure2" => {
            FailureKind::TlsHandshakeFailed
        }
        _ => FailureKind::NavigationFailed,
    }
}

/// The address of Firefox's page for a crashed tab.
pub(super) const CRASHED_TAB_URL: &str = "about:tabcrashed";

/// Returns `url` without its fragment, which is not sent to servers.
pub(super) fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// Returns the matching prefix when `url` is that of an error page of the browser itself.
pub(super) fn error_page_prefix(url: &str) -> Option<&str> {
    let internal = ["chrome-error://", "about:neterror", "about:certerror", "about:blocked", CRASHED_TAB_URL];
    internal.into_iter().find(|start| url.starts_with(start))
}

/// Returns `url` without credentials and truncated, for results.
pub(super) fn display_url(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.chars().take(2000).collect() };
    remove_login(&mut parsed);
    parsed.as_str().chars().take(2000).collect()
}
