//! Settings of the browser pool.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::session_options::BrowserKind;
use crate::net::IpNetwork;

/// Settings of the browsers of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserPoolConfig {
    /// Folder of the profiles, one per browser; created when missing. `None` uses a folder below the system's temporary
    /// folder.
    pub profiles_folder: Option<PathBuf>,
    /// The user that browsers and drivers run as; `None` for the user of this process.
    pub os_user: Option<String>,
    /// Whether Chromium uses its own sandbox. It never does as root.
    pub use_sandbox: bool,
    /// Path of Chromium or Google Chrome; `None` looks for it in `PATH`.
    pub chromium: Option<PathBuf>,
    /// Path of chromedriver.
    pub chromedriver: Option<PathBuf>,
    /// Path of Firefox.
    pub firefox: Option<PathBuf>,
    /// Path of geckodriver.
    pub geckodriver: Option<PathBuf>,
    /// WebDriver end points on other hosts, used instead of local browsers.
    pub remotes: Vec<RemoteWebDriver>,
    /// Memory limit of one browser, in bytes, all of its processes together.
    pub max_memory_bytes_per_browser: u64,
    /// Memory limit of all browsers together, in bytes; `None` for half of the host's memory.
    pub max_memory_bytes_total: Option<u64>,
    /// Niceness of the browsers, 0 to 19 (`nice`).
    pub niceness: u8,
    /// Limit for a driver and its browser to start.
    pub start_timeout: Duration,
}

impl Default for BrowserPoolConfig {
    fn default() -> Self {
        Self {
            profiles_folder: None,
            os_user: None,
            use_sandbox: true,
            chromium: None,
            chromedriver: None,
            firefox: None,
            geckodriver: None,
            remotes: Vec::new(),
            max_memory_bytes_per_browser: 1536 << 20,
            max_memory_bytes_total: None,
            niceness: 5,
            start_timeout: Duration::from_secs(30),
        }
    }
}

/// A WebDriver end point: a grid, drivers on another host, or the browser host of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteWebDriver {
    /// The browser that it provides.
    pub browser_kind: BrowserKind,
    /// Its `http` URL, or `unix:` and the path of the socket of a browser host.
    pub url: url::Url,
    /// Address of this host at which remote browsers reach the forward proxy. Without it the egress policy cannot be
    /// enforced, and such checks do not run.
    pub forward_proxy_address: Option<std::net::IpAddr>,
    /// Networks that the remote browsers connect from.
    pub client_networks: Vec<IpNetwork>,
    /// Ports of the forward proxies, one for each check; `None` for any free port.
    pub forward_proxy_ports: Option<RangeInclusive<u16>>,
}

impl RemoteWebDriver {
    /// Returns the socket of the browser host (`vigie browser-host`); `None` for an end point over HTTP.
    #[must_use]
    pub fn browser_host_socket(&self) -> Option<&Path> {
        (self.url.scheme() == "unix").then(|| Path::new(self.url.path()))
    }
}
