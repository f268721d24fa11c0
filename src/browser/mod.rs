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

pub use bidi::bidi_address;
pub use commands::Cdp;
pub use config::{HouseConfig, Remote};
pub use house::{House, Opened, QUEUE};
pub use journal::{Exchange, Journal, Listener, Pages, WINDOW};
pub use keeper::Keeper;
pub use session::{Element, Session};
pub use trouble::Trouble;
pub use wish::{BrowserKind, Device, Guise, Wish};
