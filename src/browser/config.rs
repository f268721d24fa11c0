//! How browsers are found, started and held, as settings describe it.

use std::path::PathBuf;
use std::time::Duration;

use super::session_options::BrowserKind;
use crate::net::IpNetwork;

/// The browsers of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserPoolConfig {
    /// Folder of the profiles, one a browser; made when it is missing. `None`: one below the system's folder for
    /// temporary files.
    pub folder: Option<PathBuf>,
    /// The user that browsers and drivers run as; `None` for the own one.
    pub user: Option<String>,
    /// Whether Chromium keeps its own sandbox. It has none as root, whatever stands here.
    pub sandbox: bool,
    /// Chromium or Google Chrome; `None` looks for it in `PATH`.
    pub chromium: Option<PathBuf>,
    /// Its driver.
    pub chromedriver: Option<PathBuf>,
    /// Firefox.
    pub firefox: Option<PathBuf>,
    /// Its driver.
    pub geckodriver: Option<PathBuf>,
    /// End points of WebDriver on other hosts, used instead of a browser of this one.
    pub remotes: Vec<RemoteWebDriver>,
    /// Bytes that one browser may take, all of its processes together.
    pub memory_bytes: u64,
    /// Bytes that all of them may take; `None` for half of what the host has.
    pub total_memory_bytes: Option<u64>,
    /// How much browsers step back for others, 0 to 19 (`nice`).
    pub nice: u8,
    /// Time for a driver and its browser to be ready.
    pub start_timeout: Duration,
}

impl Default for BrowserPoolConfig {
    fn default() -> Self {
        Self {
            folder: None,
            user: None,
            sandbox: true,
            chromium: None,
            chromedriver: None,
            firefox: None,
            geckodriver: None,
            remotes: Vec::new(),
            memory_bytes: 1536 << 20,
            total_memory_bytes: None,
            nice: 5,
            start_timeout: Duration::from_secs(30),
        }
    }
}

/// An end point of WebDriver, such as a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteWebDriver {
    /// The browser that it is asked for.
    pub kind: BrowserKind,
    /// Its address, with `http`.
    pub url: url::Url,
    /// Address of this host that the browser there reaches; without it the egress policy cannot be held, and such
    /// checks do not run.
    pub forward_host: Option<std::net::IpAddr>,
    /// Networks that browsers there come from.
    pub from: Vec<IpNetwork>,
}
