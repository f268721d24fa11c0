//! Reads the browser's log of its requests and its console while a script runs.

use serde_json::Value;
use tokio::time::Instant;

use crate::browser::{BrowserKind, BrowserSession, NetworkLog};
use crate::sync::{Mutex, MutexGuard};

/// Reads the network log. Firefox reports its requests by itself; Chromium's driver keeps a log that must be fetched.
#[derive(Clone, Copy)]
pub(super) struct NetworkLogReader<'a> {
    network_log: &'a Mutex<NetworkLog>,
    browser_kind: BrowserKind,
}

impl<'a> NetworkLogReader<'a> {
    /// Creates the reader for a browser of this `browser_kind`.
    pub(super) const fn new(network_log: &'a Mutex<NetworkLog>, browser_kind: BrowserKind) -> Self {
        Self { network_log, browser_kind }
    }

    /// Returns what was logged so far.
    pub(super) fn lock_log(&self) -> MutexGuard<'a, NetworkLog> {
        self.network_log.lock()
    }

    /// Whether the driver keeps a log that must be fetched.
    pub(super) fn must_be_fetched(&self) -> bool {
        self.browser_kind == BrowserKind::Chrome
    }

    /// Reads the requests that Chromium's driver logged since the last time; Firefox reports them by itself. Returns
    /// `false` when the driver did not respond before `deadline`.
    pub(super) async fn fetch_logged_requests(&self, session: &BrowserSession, deadline: Instant) -> bool {
        if !self.must_be_fetched() {
            return true;
        }
        match self.fetch_driver_log(session, "performance", deadline).await {
            Some(entries) => self.lock_log().add_chrome_events(&entries),
            None => self.lock_log().clear_pending(),
        }
        !session.is_driver_busy()
    }

    /// Fetches a log of Chromium's driver; `None` where the driver has none, such as that of a grid.
    pub(super) async fn fetch_driver_log(
        &self,
        session: &BrowserSession,
        log_type: &str,
        deadline: Instant,
    ) -> Option<Value> {
        if !self.must_be_fetched() {
            return None;
        }
        session.fetch_driver_log(log_type, deadline).await.ok()
    }
}
