//! Real browsers: a driver and a browser for each check, with a profile, a process group and a forward proxy
//! of their own, all of it gone when the check ends. What a script does with them is the probe's to play.

mod addon;
mod bidi;
mod binaries;
mod chrome;
mod commands;
mod config;
mod fault;
mod firefox;
mod house;
mod journal;
mod keeper;
mod picture;
mod remote;
mod session;
mod sieve;
mod tls_rules;
mod trouble;
mod wish;

pub use bidi::bidi_url;
pub use commands::CdpCommand;
pub use config::{BrowserPoolConfig, RemoteWebDriver};
pub use house::{BrowserPool, OpenBrowser, QUEUE_TIMEOUT};
pub use journal::{BidiListener, LoggedRequest, NetworkActivity, NetworkLog, RESOURCE_TIMING_SCRIPT};
pub use keeper::BrowserProcess;
pub use session::{BrowserSession, ElementRef};
pub use trouble::WebDriverError;
pub use wish::{BrowserKind, DeviceProfile, Emulation, SessionOptions};
