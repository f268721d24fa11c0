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
use vigie::probe::{ProbeContext, ProbeSettings};
use vigie::schema::MonitorDocument;

use crate::support::lacking;
use crate::support::processes::{processes_of, profiles_in};
use crate::support::side_by_side::browser_permit;

pub const BOTH: [BrowserKind; 2] = [BrowserKind::Chrome, BrowserKind::Firefox];

/// Those of the browsers that are here; tells of the others.
pub fn browsers(test: &str) -> Vec<BrowserKind> {
    BOTH.into_iter().filter(|kind| is_here(*kind, test)).collect()
}

/// Whether this browser is here; tells of it otherwise.
pub fn is_here(kind: BrowserKind, test: &str) -> bool {
    let found = BrowserPool::new(settings()).check_available(kind);
    if let Err(failure) = &found {
        lacking::lacks(&format!("{test} ({})", kind.name()), &failure.to_string(), "run tests/run");
    }
    found.is_ok()
}

fn settings() -> BrowserPoolConfig {
    BrowserPoolConfig {
        // The machine of a test may be busy with others.
        start_timeout: Duration::from_secs(90),
        geckodriver: crate::support::geckodriver::geckodriver(),
        ..BrowserPoolConfig::default()
    }
}

/// The browser to try in where one is enough.
pub fn one(test: &str) -> Option<BrowserKind> {
    browsers(test).into_iter().next()
}

pub struct Check {
    fields: Map<String, Value>,
    /// Where its browsers live, and nothing of them is left.
    folder: TempDir,
    pool: Arc<BrowserPool>,
    pub config: NetConfig,
    /// Whether HTTP exchanges are kept, as for HAR files.
    pub record: bool,
    /// Devices by `subtype`.
    pub devices: BTreeMap<i64, DeviceProfile>,
    /// Proxies by `proxy_id`.
    pub proxies: BTreeMap<i64, UpstreamProxy>,
}

impl Check {
    /// A check of `script`, whose relative addresses stand on `base`.
    pub fn of(kind: BrowserKind, base: &str, steps: &str) -> Self {
        let script = format!("<script version=\"1\" name=\"test\" base=\"{base}\">{steps}</script>");
        Self::playing(kind, &script)
    }

    pub fn playing(kind: BrowserKind, script: &str) -> Self {
        let fields = json!({ "script": script, "browser_type": kind.name(), "timeout": 20 });
        Self::with_fields(fields)
    }

    /// A check without a script, unless `fields` have one.
    pub fn bare(kind: BrowserKind, fields: Value) -> Self {
        Self::with_fields(json!({ "browser_type": kind.name(), "timeout": 20 })).with(fields)
    }

    fn with_fields(fields: Value) -> Self {
        let Value::Object(fields) = fields else { unreachable!() };
        let folder = tempfile::tempdir().unwrap();
        let pool = Self::house(&folder, |_| {});
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

    fn house(folder: &TempDir, change: impl FnOnce(&mut BrowserPoolConfig)) -> Arc<BrowserPool> {
        let mut config = BrowserPoolConfig { folder: Some(folder.path().join("b")), ..settings() };
        change(&mut config);
        Arc::new(BrowserPool::new(config))
    }

    /// With other settings of the browsers.
    pub fn housed(mut self, change: impl FnOnce(&mut BrowserPoolConfig)) -> Self {
        self.pool = Self::house(&self.folder, change);
        self
    }

    /// The folder of its browsers.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("b")
    }

    pub fn with(mut self, fields: Value) -> Self {
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        self.fields.extend(fields);
        self
    }

    pub async fn run(&self) -> Observation {
        let _room = browser_permit().await;
        let document = MonitorDocument::new(MonitorType::BrowserScript, self.fields.clone()).unwrap();
        let settings = ProbeSettings {
            browser_pool: Arc::clone(&self.pool),
            devices: Arc::new(self.devices.clone()),
            ..ProbeSettings::default()
        };
        let (probe, _) = vigie::probe::build(&document, &settings);
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
        assert!(self.pool.wait_until_empty(Duration::from_secs(30)).await, "a browser stays");
        assert_eq!(processes_of(self.folder.path()), Vec::<String>::new(), "{}", told(&observation));
        assert_eq!(profiles_in(&self.folder()), Vec::<String>::new(), "{}", told(&observation));
        observation
    }

    /// Runs it, and says so where it failed.
    pub async fn passes(&self) -> Observation {
        let observation = self.run().await;
        assert!(observation.failure.is_none(), "{}", told(&observation));
        observation
    }

    /// Runs it, and expects the status.
    pub async fn fails(&self, status: u16) -> Observation {
        let observation = self.run().await;
        let found = observation.failure.as_ref().map_or(0, |failure| failure.status().0);
        assert_eq!(found, status, "{} in {}", told(&observation), self.fields["browser_type"]);
        observation
    }
}

/// What a check came to, in a few lines.
fn told(observation: &Observation) -> String {
    let mut text = format!("{:?}\n", observation.failure);
    for step in &observation.details.steps {
        let played = step.browser_step.as_ref().unwrap();
        writeln!(text, "{} {} {} {:?}", step.name, step.status, played.url, played.console).unwrap();
        for result in &played.actions {
            writeln!(text, "    {} {} {} us", result.action, result.status, result.total_us).unwrap();
        }
    }
    text
}
