//! What a driver must know before it starts.

use serde::{Deserialize, Serialize};

use super::session_options::{BrowserKind, SessionOptions};

/// What a driver must know before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DriverLaunchOptions {
    /// The browser that it will start.
    #[serde(rename = "browser")]
    pub(super) browser_kind: BrowserKind,
    /// Width and height of the page in CSS pixels.
    pub(super) viewport: (u32, u32),
}

impl DriverLaunchOptions {
    /// Returns what the driver of a session with `options` must know.
    pub(super) fn from_options(options: &SessionOptions) -> Self {
        Self { browser_kind: options.browser_kind, viewport: options.emulation.viewport }
    }
}
