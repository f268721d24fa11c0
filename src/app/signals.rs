//! SIGTERM and SIGINT stop the process, a second one at once; SIGHUP reloads.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

/// Signals within this time after the first count as the same one.
const DEBOUNCE: Duration = Duration::from_millis(500);

/// The request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalRequest {
    /// SIGHUP.
    Reload,
    /// SIGTERM or SIGINT; the name is for the log.
    Stop(&'static str),
}

/// The handled signals.
pub(super) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Installs the signal handlers.
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next request.
    pub(super) async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.terminate.recv() => SignalRequest::Stop("SIGTERM"),
            _ = self.interrupt.recv() => SignalRequest::Stop("SIGINT"),
            _ = self.hangup.recv() => SignalRequest::Reload,
        }
    }

    /// Waits for a second stop request. Signals shortly after the first count as the same request, since a wrapper such
    /// as `timeout` signals its child and then the whole group.
    pub(super) async fn second_stop(&mut self) -> &'static str {
        let first = Instant::now();
        loop {
            if let SignalRequest::Stop(name) = self.next().await
                && first.elapsed() >= DEBOUNCE
            {
                return name;
            }
        }
    }
}
