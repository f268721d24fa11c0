//! Limits of connections: how many, how large, how long.

use std::time::Duration;

/// Connections at once, over all addresses; more wait in the kernel's queue. One address gets half of them.
pub(super) const MAX_CONNECTIONS: usize = 512;

/// Most time for the head of a request, also while a kept connection is idle, and for a TLS handshake.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes of the head of a request.
pub(super) const MAX_HEAD_BYTES: u32 = 64 * 1024;

/// Calls at once over one connection of HTTP/2.
pub(super) const MAX_HTTP2_STREAMS: u32 = 64;

/// Time that open connections get at the end.
pub(super) const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Pause when no connection can be taken, as without descriptors.
pub(super) const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);
