//! What one check wants of its browser.

use crate::forward_proxy::{BlockedHosts, TraceId};
use crate::net::AddressFamily;

/// The browsers that can be asked for (interface.md 2.2, `browser_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BrowserKind {
    /// Chromium or Google Chrome, over chromedriver.
    Chrome,
    /// Firefox, over geckodriver.
    #[default]
    Firefox,
    /// Internet Explorer: only at a remote end point that has it.
    InternetExplorer,
}

impl BrowserKind {
    /// The word of `browser_type`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chrome => "Google Chrome",
            Self::Firefox => "Firefox",
            Self::InternetExplorer => "Internet Explorer",
        }
    }

    /// Every browser.
    pub const ALL: [Self; 3] = [Self::Chrome, Self::Firefox, Self::InternetExplorer];

    /// Every word of `browser_type`.
    pub const NAMES: [&'static str; 3] =
        [Self::Chrome.name(), Self::Firefox.name(), Self::InternetExplorer.name()];

    /// The browser that `browser_type` names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What the browser pretends to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Width and height of the page in CSS pixels.
    pub viewport: (u32, u32),
    /// Device pixels a CSS pixel.
    pub scale: f64,
    /// Whether pages are laid out as on a phone: by their `viewport`, or else wide and made small.
    pub mobile: bool,
    /// Whether it has a touch screen.
    pub touch: bool,
    /// `User-Agent`; without, the browser's own.
    pub user_agent: Option<String>,
    /// Header fields that go with every request.
    pub headers: Vec<(String, String)>,
}

impl Default for Emulation {
    fn default() -> Self {
        Self {
            viewport: (1366, 768),
            scale: 1.0,
            mobile: false,
            touch: false,
            user_agent: None,
            headers: Vec::new(),
        }
    }
}

/// A device of the settings that a browser can pretend to be (`mobile.profiles`, fields.md 3 `subtype`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceProfile {
    /// What people call it.
    pub name: String,
    /// What it looks like to pages.
    pub emulation: Emulation,
    /// Hosts that nothing is fetched from.
    pub blocked: BlockedHosts,
}

/// All that a session is opened with.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Which browser.
    pub kind: BrowserKind,
    /// Whether it shows its windows, to write scripts with.
    pub headful: bool,
    /// What it pretends to be.
    pub emulation: Emulation,
    /// Families of addresses that it may reach.
    pub family: AddressFamily,
    /// The proxy of the settings behind ours.
    pub proxy_id: Option<i64>,
    /// Whether certificates of servers are verified.
    pub verify_certificates: bool,
    /// A private CA beside the system's.
    pub ca_id: Option<i64>,
    /// The client certificate that it shows.
    pub client_certificate: Option<i64>,
    /// The trace that requests to the script's own site carry.
    pub trace_id: Option<TraceId>,
}
