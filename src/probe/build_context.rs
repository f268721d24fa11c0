//! Inputs for building a probe, beside the document.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::host_agent::SeriesMemory;
use super::report_source::ReportSource;
use super::security_scan::SecurityScanSettings;
use crate::browser::{BrowserPool, DeviceProfile};
use crate::domain::{CustomerId, MonitorId};
use crate::evaluate::{PatternCache, PatternCaches};
use crate::redaction::redactor::SharedRedactor;
use crate::vault::Keyring;

/// Inputs for building a probe, beside the document: values of the settings file, and the monitor's identity.
#[derive(Clone, Debug)]
pub struct ProbeBuildContext {
    /// Names selected by `name_to_resolve_id`; entry 0 is `dns.default_name`.
    pub dns_query_names: Vec<String>,
    /// Days before a certificate's end at which `Expiring` warns.
    pub certificate_warning_days: u32,
    /// Longest body that is read, in bytes after decompression.
    pub max_body_bytes: u64,
    /// The `User-Agent` of checks.
    pub user_agent: Arc<str>,
    /// The name of this host in EHLO; without it, its address.
    pub ehlo_name: Option<Arc<str>>,
    /// The id of the monitor; 0 for one that is not stored, as with `vigie check`.
    pub monitor_id: MonitorId,
    /// The account of the monitor.
    pub customer_id: CustomerId,
    /// The compiled patterns of all accounts.
    pub pattern_caches: Arc<PatternCaches>,
    /// Signs the test messages that checks leave at a target, so that later checks recognise them. Without it,
    /// a key of this process is used, as in `vigie check`; later checks then do not recognise those messages.
    pub keyring: Option<Arc<Keyring>>,
    /// The pool that browsers come from.
    pub browser_pool: Arc<BrowserPool>,
    /// Options for the author of a browser script.
    pub script_debug: ScriptDebugOptions,
    /// Devices that browsers can emulate, by the `subtype` of their monitors.
    pub device_profiles: Arc<BTreeMap<i64, DeviceProfile>>,
    /// Variables of steps and scripts set before the first step, as with `vigie check --set`.
    pub preset_variables: Arc<BTreeMap<String, String>>,
    /// Whether collections are run here (`collections.enabled`).
    pub collections_enabled: bool,
    /// The program whose command `script-host` runs scripts of collections: `vigie`, by default this process's own.
    pub script_program: Arc<Path>,
    /// Whether test projects are run (`projects.enabled`).
    pub projects_enabled: bool,
    /// Knows what hosts reported; `None` with `vigie check`, which has no server.
    pub report_source: Option<Arc<dyn ReportSource>>,
    /// The values of the last runs of monitors that read a page of metrics.
    pub series_memory: Arc<SeriesMemory>,
    /// The settings of security scans.
    pub security_scan: SecurityScanSettings,
    /// Masks the secrets of the settings, such as the passwords of proxies.
    pub settings_redactor: Arc<SharedRedactor>,
}

impl ProbeBuildContext {
    /// Returns the compiled patterns of the monitor's account.
    #[must_use]
    pub fn patterns(&self) -> Arc<PatternCache> {
        self.pattern_caches.cache_for_account(self.customer_id)
    }
}

/// Options for the author of a browser script (`vigie check --headful`, `--screenshots`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptDebugOptions {
    /// Shows the browser's windows.
    pub headful: bool,
    /// Keeps a screenshot of each action, whatever the monitor's setting.
    pub screenshot_every_action: bool,
}

impl Default for ProbeBuildContext {
    fn default() -> Self {
        Self {
            dns_query_names: vec!["example.com".to_owned()],
            certificate_warning_days: 30,
            max_body_bytes: 10 * 1024 * 1024,
            user_agent: concat!("vigie/", env!("CARGO_PKG_VERSION")).into(),
            ehlo_name: None,
            monitor_id: MonitorId(0),
            customer_id: CustomerId(1),
            pattern_caches: Arc::default(),
            keyring: None,
            browser_pool: Arc::default(),
            script_debug: ScriptDebugOptions::default(),
            device_profiles: Arc::default(),
            preset_variables: Arc::default(),
            collections_enabled: true,
            script_program: Path::new("/proc/self/exe").into(),
            projects_enabled: true,
            report_source: None,
            series_memory: Arc::default(),
            security_scan: SecurityScanSettings::default(),
            settings_redactor: Arc::default(),
        }
    }
}
