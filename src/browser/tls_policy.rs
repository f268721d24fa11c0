//! Which certificates a browser accepts, and whether the forward proxy terminates TLS.

use super::session_options::SessionOptions;

/// Whether the browser accepts any certificate: when none is verified, or when the forward proxy verifies them
/// ([`BrowserPool::proxy_config`](super::pool::BrowserPool::proxy_config)).
pub(super) fn accepts_any_certificate(options: &SessionOptions) -> bool {
    !options.verify_certificates || intercepts_tls(options)
}

/// Whether the forward proxy terminates TLS to targets: for options that a browser does not support per session, and to
/// add the trace id to requests of the site alone. Browsers add header fields to all requests or to those of one
/// window, each in its own manner.
pub(super) fn intercepts_tls(options: &SessionOptions) -> bool {
    options.ca_id.is_some() || options.client_certificate_id.is_some() || options.trace_id.is_some()
}
