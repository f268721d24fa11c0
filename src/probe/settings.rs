//! What building a probe may need beside the document.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::browser::{BrowserPool, DeviceProfile};
use crate::domain::MonitorId;
use crate::vault::Keyring;

/// What building a probe may need beside the document: values of the settings file, and who the monitor is.
#[derive(Clone, Debug)]
pub struct ProbeSettings {
    /// Names behind `name_to_resolve_id`; entry 0 is `dns.default_name`.
    pub dns_names: Vec<String>,
    /// Days before a certificate's end at which `Expiring` warns.
    pub certificate_days: u32,
    /// Bytes of a body that are read at most, after decompression.
    pub max_body_bytes: u64,
    /// What checks call themselves in `User-Agent`.
    pub user_agent: Arc<str>,
    /// What they call this host in EHLO; without it the address that they come from.
    pub ehlo_name: Option<Arc<str>>,
    /// The monitor that it is built for; 0 for one that is not stored, as with `vigie check`.
    pub monitor: MonitorId,
    /// Signs what checks leave behind at a target, so that later ones recognise it. Without it a key of this
    /// process alone does: `vigie check` reads no keys, so what it leaves behind nobody knows later.
    pub keyring: Option<Arc<Keyring>>,
    /// Where browsers come from.
    pub browser_pool: Arc<BrowserPool>,
    /// What the author of a browser script wants to see of it.
    pub authoring: AuthoringOptions,
    /// Devices that browsers can pretend to be, by the `subtype` of their monitors.
    pub devices: Arc<BTreeMap<i64, DeviceProfile>>,
    /// Variables of steps and scripts that stand before the first step, as `vigie check --set` gives them.
    pub variables: Arc<BTreeMap<String, String>>,
}

/// What somebody who writes a browser script wants to see of it (`vigie check --headful`, `--screenshots`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthoringOptions {
    /// The browser shows its windows.
    pub headful: bool,
    /// A picture is kept of each act, whatever the monitor says.
    pub screenshots: bool,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self {
            dns_names: vec!["example.com".to_owned()],
            certificate_days: 30,
            max_body_bytes: 10 * 1024 * 1024,
            user_agent: concat!("vigie/", env!("CARGO_PKG_VERSION")).into(),
            ehlo_name: None,
            monitor: MonitorId(0),
            keyring: None,
            browser_pool: Arc::default(),
            authoring: AuthoringOptions::default(),
            devices: Arc::default(),
            variables: Arc::default(),
        }
    }
}
