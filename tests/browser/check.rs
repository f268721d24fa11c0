//! Plays a script on the site, in one of the browsers.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use vigie::browser::{BrowserKind, House, HouseConfig};
use vigie::clock::SystemClock;
use vigie::model::{Document, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig};
use vigie::probe::{Context, ProbeSettings};

use crate::lacking;

pub const BOTH: [BrowserKind; 2] = [BrowserKind::Chrome, BrowserKind::Firefox];

/// Those of the browsers that are here; tells of the others.
pub fn browsers(test: &str) -> Vec<BrowserKind> {
    let house = house();
    let here = |kind: &BrowserKind| {
        let found = house.has(*kind);
        if let Err(failure) = &found {
            lacking::lacks(&format!("{test} ({})", kind.name()), &failure.to_string(), "run tests/run");
        }
        found.is_ok()
    };
    BOTH.into_iter().filter(here).collect()
}

fn house() -> House {
    House::new(HouseConfig {
        // The machine of a test may be busy with others.
        start: Duration::from_secs(90),
        geckodriver: crate::geckodriver::geckodriver(),
        ..HouseConfig::default()
    })
}

/// The browser to try in where one is enough.
pub fn one(test: &str) -> Option<BrowserKind> {
    browsers(test).into_iter().next()
}

pub struct Check {
    fields: Map<String, Value>,
    pub house: Arc<House>,
    pub config: NetConfig,
}

impl Check {
    /// A check of `script`, whose relative addresses stand on `base`.
    pub fn of(kind: BrowserKind, base: &str, steps: &str) -> Self {
        let script = format!("<script version=\"1\" name=\"test\" base=\"{base}\">{steps}</script>");
        Self::playing(kind, &script)
    }

    pub fn playing(kind: BrowserKind, script: &str) -> Self {
        let fields = json!({ "script": script, "browser_type": kind.name(), "timeout": 20 });
        let Value::Object(fields) = fields else { unreachable!() };
        Self { fields, house: Arc::new(house()), config: NetConfig::default() }
    }

    pub fn with(mut self, fields: Value) -> Self {
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        self.fields.extend(fields);
        self
    }

    pub async fn run(&self) -> Observation {
        let document = Document::trusted(MonitorType::BrowserScript, self.fields.clone());
        let settings = ProbeSettings { browser: Arc::clone(&self.house), ..ProbeSettings::default() };
        let (probe, _) = vigie::probe::build(&document, &settings);
        let net = Net::new(&self.config).unwrap();
        let cancel = CancellationToken::new();
        let timeout = Duration::from_secs(self.fields["timeout"].as_u64().unwrap());
        let limit = probe.limit(timeout);
        let started = Instant::now();
        let context = Context::new(&net, Deadline::within(limit), &cancel, &SystemClock);
        let observation = probe.attempt(context).await;
        assert!(
            started.elapsed() < limit + Duration::from_secs(5),
            "over its limit: {:?}",
            started.elapsed()
        );
        observation
    }

    /// Runs it, and says so where it failed.
    pub async fn passes(&self) -> Observation {
        let seen = self.run().await;
        assert!(seen.failure.is_none(), "{}", told(&seen));
        seen
    }

    /// Runs it, and expects the status.
    pub async fn fails(&self, status: u16) -> Observation {
        let seen = self.run().await;
        let found = seen.failure.as_ref().map_or(0, |failure| failure.status().0);
        assert_eq!(found, status, "{} in {}", told(&seen), self.fields["browser_type"]);
        seen
    }
}

/// What a check came to, in a few lines.
fn told(seen: &Observation) -> String {
    let mut text = format!("{:?}\n", seen.failure);
    for step in &seen.course.steps {
        let played = step.played.as_ref().unwrap();
        writeln!(text, "{} {} {} {:?}", step.name, step.status, played.url, played.console).unwrap();
        for act in &played.acts {
            writeln!(text, "    {} {} {} us", act.action, act.status, act.total_us).unwrap();
        }
    }
    text
}
