//! Which certificates a browser takes, and where TLS to targets is spoken.

use super::session_options::SessionOptions;

/// Whether the browser takes any certificate: where none is verified, and where the forward proxy does it
/// ([`BrowserPool::rules`](super::pool::BrowserPool::proxy_config)).
pub(super) fn accepts_any_certificate(options: &SessionOptions) -> bool {
    !options.verify_certificates || intercepts_tls(options)
}

/// Whether TLS to targets is spoken by the forward proxy: for what a browser cannot be given for one session, and to
/// put the trace into requests of the site alone. Browsers add header fields to all requests or to those of one
/// window, and each in a way of its own.
pub(super) fn intercepts_tls(options: &SessionOptions) -> bool {
    options.ca_id.is_some() || options.client_certificate.is_some() || options.trace_id.is_some()
}
