//! Limits of connections: number, sizes and times.

use std::time::Duration;

/// Most connections at once, over all networks. One network gets at most as many as are free.
pub(super) const MAX_CONNECTIONS: usize = 512;

/// Connections beyond those, which are served liveness and readiness only.
pub(super) const MAX_HEALTH_CONNECTIONS: usize = 32;

/// Longest time until the first byte of a connection.
pub(super) const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest time for the head of a request, also while a kept connection is idle, and for a TLS handshake.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The same for connections that are served liveness and readiness only.
pub(super) const HEALTH_HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// Most bytes of the head of a request.
pub(super) const MAX_HEAD_BYTES: u32 = 64 * 1024;

/// Most concurrent requests over one HTTP/2 connection.
pub(super) const MAX_HTTP2_STREAMS: u32 = 64;

/// How long open connections may take at the end.
pub(super) const SHUTDOWN_GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Pause when accepting fails, for example without file descriptors.
pub(super) const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);
