//! The browser host: `vigie browser-host` runs drivers and browsers under a user and a sandbox of their own, for a
//! `vigie serve` on the same host. Everything between the two goes over one Unix socket: `WebDriver`, and the
//! connections of the browsers to the forward proxies of their checks. So no port of this host is well known, and
//! none accepts commands from other users.
//!
//! Each connection begins with a line of JSON from the server ([`OpenRequest`]). The connection of a session stays
//! open while the browser is in use: over it the host reports what happens ([`HostEvent`]), and when it ends, so does
//! the browser. The other connections carry the bytes of one connection to the driver or from the browser.

mod client;
mod driver_connector;
mod messages;
mod server;
mod session;

pub(super) use client::HostedBrowser;
pub use server::BrowserHost;

#[cfg(doc)]
use messages::{HostEvent, OpenRequest};
