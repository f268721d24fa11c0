//! One check of each kind. A probe sees; it opens what it needs through [`Net`], asks `judge` for the
//! rules, and always comes back with an [`Observation`].

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::browser::{Device, House};
use crate::clock::Clock;
use crate::domain::{MonitorId, MonitorType, Observation, Timestamp};
use crate::net::{Deadline, Net};
use crate::schema::Document;
use crate::vault::Keyring;

mod apart;
mod api_steps;
mod browser;
mod dns;
mod ftp;
mod full_page;
mod http;
mod mail;
mod ping;
mod registry;
mod search;
mod target;
mod tcp;
mod way;

pub use registry::{Descriptor, REGISTRY, build, descriptor};

/// The future of one attempt.
pub type Attempting<'a> = Pin<Box<dyn Future<Output = Observation> + Send + 'a>>;

/// How much of the host one check takes; each class has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// Sockets and a little memory.
    Light,
    /// A browser.
    Heavy,
}

impl Weight {
    /// The stable word, used by metrics and settings.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }
}

/// What an attempt may use.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// When the attempt has to be over. The engine enforces it too; a probe that keeps it reports better.
    pub deadline: Deadline,
    /// Set when the process shuts down or the monitor is gone.
    pub cancel: &'a CancellationToken,
    /// For wall time, as certificate dates need.
    pub clock: &'a dyn Clock,
    /// Whether HTTP exchanges are kept of an attempt that passes too, and more of their bodies.
    pub record: bool,
    /// Start of the last full page check of this monitor here, as far as it is known.
    pub full_page_at: Option<Timestamp>,
}

impl<'a> Context<'a> {
    /// What every attempt needs; nothing is recorded beyond that.
    #[must_use]
    pub const fn new(
        net: &'a Net,
        deadline: Deadline,
        cancel: &'a CancellationToken,
        clock: &'a dyn Clock,
    ) -> Self {
        Self { net, deadline, cancel, clock, record: false, full_page_at: None }
    }
}

/// A checked monitor of one kind, ready to be attempted any number of times. Holds settings only.
pub trait Probe: Send + Sync + 'static {
    /// One attempt over cold connections. Never fails: what went wrong stands in the observation.
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a>;

    /// The host that is asked, for the limit per target; `None` when there is no single one.
    fn target(&self) -> Option<&str>;

    /// How long one attempt may take as a whole; `timeout` is that of the monitor.
    fn limit(&self, timeout: Duration) -> Duration {
        timeout
    }
}

/// What is left to chance in an attempt.
fn random() -> u128 {
    let mut random = [0; 16];
    // Without chance, numbers that are made of it are zero: nothing depends on them being secret.
    let _ = aws_lc_rs::rand::fill(&mut random);
    u128::from_be_bytes(random)
}

/// What building a probe may need beside the document: values of the settings file, and who the monitor is.
#[derive(Clone, Debug)]
pub struct ProbeSettings {
    /// Names behind `name_to_resolve_id`; entry 0 is `dns.default_name`.
    pub dns_names: Vec<String>,
    /// Days before a certificate's end at which `Expiring` warns.
    pub certificate_days: u32,
    /// Bytes of a body that are read at most, after decompression.
    pub body_bytes: u64,
    /// What checks call themselves in `User-Agent`.
    pub user_agent: Arc<str>,
    /// What they call this host in EHLO; without it the address that they come from.
    pub hello: Option<Arc<str>>,
    /// The monitor that it is built for; 0 for one that is not stored, as with `vigie check`.
    pub monitor: MonitorId,
    /// Signs what checks leave behind at a target, so that later ones recognise it. Without it a key of this
    /// process alone does: `vigie check` reads no keys, so what it leaves behind nobody knows later.
    pub keyring: Option<Arc<Keyring>>,
    /// Where browsers come from.
    pub browser: Arc<House>,
    /// What the author of a browser script wants to see of it.
    pub authoring: Authoring,
    /// Devices that browsers can pretend to be, by the `subtype` of their monitors.
    pub devices: Arc<BTreeMap<i64, Device>>,
    /// Variables of steps and scripts that stand before the first step, as `vigie check --set` gives them.
    pub variables: Arc<BTreeMap<String, String>>,
}

/// What somebody who writes a browser script wants to see of it (`vigie check --headful`, `--screenshots`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Authoring {
    /// The browser shows its windows.
    pub headful: bool,
    /// A picture is kept of each act, whatever the monitor says.
    pub pictures: bool,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self {
            dns_names: vec!["example.com".to_owned()],
            certificate_days: 30,
            body_bytes: 10 * 1024 * 1024,
            user_agent: concat!("vigie/", env!("CARGO_PKG_VERSION")).into(),
            hello: None,
            monitor: MonitorId(0),
            keyring: None,
            browser: Arc::default(),
            authoring: Authoring::default(),
            devices: Arc::default(),
            variables: Arc::default(),
        }
    }
}

/// Builds the probe of a validated document.
pub type Build = fn(&Document, &ProbeSettings) -> Arc<dyn Probe>;

/// The types that share what a descriptor says.
pub type Kinds = &'static [MonitorType];
