//! Which certificates a browser takes, and where TLS to targets is spoken.

use super::wish::Wish;

/// Whether the browser takes any certificate: where none is verified, and where the forward proxy does it
/// ([`House::rules`](super::house::House::rules)).
pub(super) fn takes_any_certificate(wish: &Wish) -> bool {
    !wish.verify || bridges(wish)
}

/// Whether TLS to targets is spoken by the forward proxy: for what a browser cannot be given for one session, and to
/// put the trace into requests of the site alone. Browsers add header fields to all requests or to those of one
/// window, and each in a way of its own.
pub(super) fn bridges(wish: &Wish) -> bool {
    wish.ca.is_some() || wish.client_certificate.is_some() || wish.trace.is_some()
}
