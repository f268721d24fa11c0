//! Reads the browser's log of its requests and its console while a script runs.

use serde_json::Value;
use tokio::time::Instant;

use crate::browser::{BrowserKind, BrowserSession, NetworkLog};
use crate::sync::{Mutex, MutexGuard};

/// Reads the network log. Firefox reports its requests by itself; Chromium's driver keeps a log that must be fetched.
#[derive(Clone, Copy)]
pub(super) struct NetworkLogReader<'a> {
    network_log: &'a Mutex<NetworkLog>,
    kind: BrowserKind,
}

impl<'a> NetworkLogReader<'a> {
    /// Creates the reader for a browser of this `kind`.
    pub(super) const fn new(network_log: &'a Mutex<NetworkLog>, kind: BrowserKind) -> Self {
        Self { network_log, kind }
    }

    /// Returns what was logged so far.
    pub(super) fn log(&self) -> MutexGuard<'a, NetworkLog> {
        self.network_log.lock()
    }

    /// Whether the driver keeps a log that must be fetched.
    pub(super) fn is_kept_by_driver(&self) -> bool {
        self.kind == BrowserKind::Chrome
    }

    /// Reads the requests that Chromium's driver logged since the last time; Firefox reports them by itself. Returns
    /// `false` when the driver did not respond before `until`.
    pub(super) async fn read_requests(&self, session: &BrowserSession, until: Instant) -> bool {
        if !self.is_kept_by_driver() {
            return true;
        }
        match self.fetch_driver_log(session, "performance", until).await {
            Some(entries) => self.log().on_chrome_events(&entries),
            None => self.log().clear_pending(),
        }
        !session.is_busy()
    }

    /// Fetches a log of Chromium's driver; `None` where the driver has none, such as that of a grid.
    pub(super) async fn fetch_driver_log(
        &self,
        session: &BrowserSession,
        log: &str,
        until: Instant,
    ) -> Option<Value> {
        if !self.is_kept_by_driver() {
            return None;
        }
        session.fetch_log(log, until).await.ok()
    }
}
