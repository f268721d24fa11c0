//! The options of a browser session.

use serde::{Deserialize, Serialize};

use crate::domain::TraceId;
use crate::forward_proxy::BlockedHosts;
use crate::net::AddressFamily;

/// The supported browsers (interface.md 2.2, `browser_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BrowserKind {
    /// Chromium or Google Chrome, over chromedriver.
    #[serde(rename = "Google Chrome")]
    Chrome,
    /// Firefox, over geckodriver.
    #[default]
    Firefox,
    /// Internet Explorer, only at a remote end point that provides it.
    #[serde(rename = "Internet Explorer")]
    InternetExplorer,
}

impl BrowserKind {
    /// Returns the value of `browser_type`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chrome => "Google Chrome",
            Self::Firefox => "Firefox",
            Self::InternetExplorer => "Internet Explorer",
        }
    }

    /// All browsers.
    pub const ALL: [Self; 3] = [Self::Chrome, Self::Firefox, Self::InternetExplorer];

    /// All values of `browser_type`.
    pub const NAMES: [&'static str; 3] =
        [Self::Chrome.name(), Self::Firefox.name(), Self::InternetExplorer.name()];

    /// Returns the browser that `browser_type` names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The device that the browser emulates.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Width and height of the page in CSS pixels.
    pub viewport: (u32, u32),
    /// Device pixels per CSS pixel.
    pub device_pixel_ratio: f64,
    /// Whether pages are laid out as on a phone: by their `viewport`, otherwise wide and scaled down.
    pub mobile_layout: bool,
    /// Whether it has a touch screen.
    pub touch_screen: bool,
    /// The `User-Agent`; `None` for the browser's own.
    pub user_agent: Option<String>,
    /// Header fields added to every request.
    pub extra_headers: Vec<(String, String)>,
}

impl Default for Emulation {
    fn default() -> Self {
        Self {
            viewport: (1366, 768),
            device_pixel_ratio: 1.0,
            mobile_layout: false,
            touch_screen: false,
            user_agent: None,
            extra_headers: Vec::new(),
        }
    }
}

/// A device of the settings that a browser can emulate (`mobile.profiles`, fields.md 3 `subtype`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceProfile {
    /// The display name.
    pub name: String,
    /// The emulation options.
    pub emulation: Emulation,
    /// Hosts that are blocked.
    pub blocked_hosts: BlockedHosts,
}

/// The options to open a session with.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The browser.
    pub browser_kind: BrowserKind,
    /// Whether it shows its windows, for authoring scripts.
    pub headful: bool,
    /// The device to emulate.
    pub emulation: Emulation,
    /// Address families that it may connect to.
    pub address_family: AddressFamily,
    /// The id of the upstream proxy, if one is set.
    pub upstream_proxy_id: Option<i64>,
    /// Whether server certificates are verified.
    pub verify_certificates: bool,
    /// The id of a private CA, in addition to those of the system.
    pub ca_id: Option<i64>,
    /// The id of the client certificate to present.
    pub client_certificate_id: Option<i64>,
    /// The trace id sent with requests to the script's own site.
    pub trace_id: Option<TraceId>,
}
