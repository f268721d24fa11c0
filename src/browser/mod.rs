//! Real browsers: a driver and a browser for each check, with their own profile, process group and forward proxy, all
//! removed when the check ends. Probes run scripts in them.

mod addon;
mod bidi;
mod binaries;
mod capabilities;
mod cdp;
mod chrome;
mod config;
mod driver_launch;
mod driver_start;
mod error;
mod facts;
mod failure;
mod firefox;
mod frame_limiter;
mod host;
mod network_log;
mod pool;
mod process;
mod remote;
mod screenshot;
mod session;
mod session_options;
mod tls_policy;

pub use bidi::bidi_url;
pub use cdp::CdpCommand;
pub use config::{BrowserPoolConfig, RemoteWebDriver};
pub use error::WebDriverError;
pub use host::BrowserHost;
pub use network_log::{BidiListener, LoggedRequest, NetworkActivity, NetworkLog, RESOURCE_TIMING_SCRIPT};
pub use pool::{BrowserPool, FREE_BROWSER_TIMEOUT, OpenBrowser};
pub use process::BrowserProcess;
pub use session::{BrowserSession, ElementRef};
pub use session_options::{BrowserKind, DeviceProfile, Emulation, SessionOptions};
