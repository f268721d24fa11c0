//! Plays a script on the site, in one of the browsers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use vigie::browser::{BrowserKind, BrowserPool, BrowserPoolConfig, DeviceProfile};
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, UpstreamProxy};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

use crate::support::lacking;
use crate::support::long_tests::full;
use crate::support::processes::{processes_of, profiles_in};
use crate::support::side_by_side::browser_permit;

pub const BOTH: [BrowserKind; 2] = [BrowserKind::Chrome, BrowserKind::Firefox];

/// Returns the installed browsers; records the missing ones as left out.
pub fn browsers(test: &str) -> Vec<BrowserKind> {
    BOTH.into_iter().filter(|kind| is_here(*kind, test)).collect()
}

/// Returns the browsers for a test of what does not depend on the browser, such as the order of steps: all of them in a run
/// of the long tests, otherwise the first. Firefox needs five seconds of a processor to start, twice as much as Chromium.
pub fn browsers_for_common_code(test: &str) -> Vec<BrowserKind> {
    let mut browsers = browsers(test);
    browsers.truncate(if full() { BOTH.len() } else { 1 });
    browsers
}

/// Whether this browser is installed; records it as left out otherwise.
pub fn is_here(kind: BrowserKind, test: &str) -> bool {
    let found = BrowserPool::new(settings()).check_available(kind);
    if let Err(failure) = &found {
        lacking::lacks(&format!("{test} ({})", kind.name()), &failure.to_string(), "run tests/run");
    }
    found.is_ok()
}

fn settings() -> BrowserPoolConfig {
    BrowserPoolConfig {
        // The machine of a test may be busy.
        start_timeout: Duration::from_secs(90),
        geckodriver: crate::support::geckodriver::geckodriver(),
        ..BrowserPoolConfig::default()
    }
}

/// Returns the browser to use where one is enough.
pub fn one(test: &str) -> Option<BrowserKind> {
    browsers(test).into_iter().next()
}

pub struct Check {
    fields: Map<String, Value>,
    /// Folder of its browsers, which must be empty after the check.
    folder: TempDir,
    pool: Arc<BrowserPool>,
    pub config: NetConfig,
    /// Whether HTTP exchanges are recorded, as for HAR files.
    pub record: bool,
    /// Device profiles by `subtype`.
    pub devices: BTreeMap<i64, DeviceProfile>,
    /// Upstream proxies by `proxy_id`.
    pub proxies: BTreeMap<i64, UpstreamProxy>,
}

impl Check {
    /// Creates a check of a script with these steps and this base URL.
    pub fn new(kind: BrowserKind, base: &str, steps: &str) -> Self {
        let script = format!("<script version=\"1\" name=\"test\" base=\"{base}\">{steps}</script>");
        Self::with_script(kind, &script)
    }

    pub fn with_script(kind: BrowserKind, script: &str) -> Self {
        let fields = json!({ "script": script, "browser_type": kind.name(), "timeout": 20 });
        Self::with_fields(fields)
    }

    /// Creates a check without a script, unless `fields` contain one.
    pub fn without_script(kind: BrowserKind, fields: Value) -> Self {
        Self::with_fields(json!({ "browser_type": kind.name(), "timeout": 20 })).with(fields)
    }

    fn with_fields(fields: Value) -> Self {
        let Value::Object(fields) = fields else { unreachable!() };
        let folder = tempfile::tempdir().unwrap();
        let pool = Self::create_pool(&folder, |_| {});
        Self {
            fields,
            folder,
            pool,
            config: NetConfig::default(),
            record: false,
            devices: BTreeMap::new(),
            proxies: BTreeMap::new(),
        }
    }

    fn create_pool(folder: &TempDir, change: impl FnOnce(&mut BrowserPoolConfig)) -> Arc<BrowserPool> {
        let mut config = BrowserPoolConfig { profiles_folder: Some(folder.path().join("b")), ..settings() };
        change(&mut config);
        Arc::new(BrowserPool::new(config))
    }

    /// Changes the settings of the browser pool.
    pub fn with_pool_config(mut self, change: impl FnOnce(&mut BrowserPoolConfig)) -> Self {
        self.pool = Self::create_pool(&self.folder, change);
        self
    }

    /// Returns the folder of its browsers.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("b")
    }

    pub fn with(mut self, fields: Value) -> Self {
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        self.fields.extend(fields);
        self
    }

    pub async fn run(&self) -> Observation {
        let _permit = browser_permit().await;
        let document = MonitorDocument::new(MonitorType::BrowserScript, self.fields.clone()).unwrap();
        let settings = ProbeBuildContext {
            browser_pool: Arc::clone(&self.pool),
            device_profiles: Arc::new(self.devices.clone()),
            ..ProbeBuildContext::default()
        };
        let (probe, _) = vigie::probe::build_probe(&document, &settings);
        let net = Net::new(&self.config).unwrap();
        net.set_proxies(self.proxies.clone());
        let cancel = CancellationToken::new();
        let timeout = Duration::from_secs(self.fields["timeout"].as_u64().unwrap());
        let limit = probe.time_limit(timeout);
        let started = Instant::now();
        let context = ProbeContext {
            record_exchanges: self.record,
            ..ProbeContext::new(&net, Deadline::within(limit), &cancel, &SystemClock)
        };
        let observation = probe.attempt(context).await;
        assert!(
            started.elapsed() < limit + Duration::from_secs(5),
            "over its limit: {:?}",
            started.elapsed()
        );
        assert!(self.pool.wait_until_all_closed(Duration::from_secs(30)).await, "a browser stays");
        assert_eq!(processes_of(self.folder.path()), Vec::<String>::new(), "{}", summary(&observation));
        assert_eq!(profiles_in(&self.folder()), Vec::<String>::new(), "{}", summary(&observation));
        observation
    }

    /// Runs the check, which must pass.
    pub async fn passes(&self) -> Observation {
        let observation = self.run().await;
        assert!(observation.failure.is_none(), "{}", summary(&observation));
        observation
    }

    /// Runs the check, which must end with `status`.
    pub async fn fails(&self, status: u16) -> Observation {
        let observation = self.run().await;
        let found = observation.failure.as_ref().map_or(0, |failure| failure.status().0);
        assert_eq!(found, status, "{} in {}", summary(&observation), self.fields["browser_type"]);
        observation
    }
}

/// Summarises the result of a check in a few lines.
fn summary(observation: &Observation) -> String {
    let mut text = format!("{:?}\n", observation.failure);
    for step in &observation.details.steps {
        let browser_step = step.browser_step.as_ref().unwrap();
        writeln!(text, "{} {} {} {:?}", step.name, step.status, browser_step.url, browser_step.console)
            .unwrap();
        for result in &browser_step.actions {
            writeln!(text, "    {} {} {} us", result.action, result.status, result.duration_us).unwrap();
        }
    }
    text
}
