//! Which certificates a browser takes, and where TLS to targets is spoken.

use super::session_options::SessionOptions;

/// Whether the browser takes any certificate: where none is verified, and where the forward proxy does it
/// ([`BrowserPool::rules`](super::house::House::rules)).
pub(super) fn accepts_any_certificate(wish: &SessionOptions) -> bool {
    !wish.verify_certificates || intercepts_tls(wish)
}

/// Whether TLS to targets is spoken by the forward proxy: for what a browser cannot be given for one session, and to
/// put the trace into requests of the site alone. Browsers add header fields to all requests or to those of one
/// window, and each in a way of its own.
pub(super) fn intercepts_tls(wish: &SessionOptions) -> bool {
    wish.ca_id.is_some() || wish.client_certificate.is_some() || wish.trace_id.is_some()
}
