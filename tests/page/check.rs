//! Runs one attempt of a website monitor with a full page.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation, PageLoad, PageObject, Timestamp};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

pub struct Check {
    fields: Value,
    timeout: Duration,
    last: Option<Timestamp>,
    trust: TrustConfig,
}

impl Check {
    /// Creates a check of `url` with a full page whose failed objects are errors, each within 5 s.
    pub fn of(url: &str) -> Self {
        let fields = json!({
            "url": url, "interval_fullpage": 60, "fullpage_object_timeout": 5, "notify_on_fullpage_errors": true,
            "http_follow_redirects": true, "verify_certificate": true,
        });
        let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
        Self { fields, timeout: Duration::from_secs(20), last: None, trust }
    }

    pub fn with(mut self, fields: Value) -> Self {
        let more = fields.as_object().unwrap().clone();
        self.fields.as_object_mut().unwrap().extend(more);
        self
    }

    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub fn last_at(self, last: Timestamp) -> Self {
        Self { last: Some(last), ..self }
    }

    pub fn trusting(self, trust: TrustConfig) -> Self {
        Self { trust, ..self }
    }

    pub async fn run(self) -> Observation {
        let https = self.fields["url"].as_str().unwrap().starts_with("https:");
        let kind = if https { MonitorType::WebsiteSsl } else { MonitorType::Website };
        let document = MonitorDocument::new(kind, self.fields.as_object().unwrap().clone()).unwrap();
        let settings = ProbeBuildContext { max_body_bytes: 1024 * 1024, ..ProbeBuildContext::default() };
        let (probe, _) = vigie::probe::build_probe(&document, &settings);
        let net = Net::new(&NetConfig { trust_config: self.trust, ..NetConfig::default() }).unwrap();
        let deadline = Deadline::within(self.timeout);
        let cancel = CancellationToken::new();
        let cx = ProbeContext::new(&net, deadline, &cancel, &SystemClock);
        let started = std::time::Instant::now();
        let observation = probe.attempt(ProbeContext { last_full_page_at: self.last, ..cx }).await;
        assert!(started.elapsed() < self.timeout + Duration::from_secs(5), "over its timeout");
        observation
    }
}

pub fn page(observation: &Observation) -> &PageLoad {
    observation.details.page_load.as_deref().unwrap_or_else(|| panic!("no full page: {observation:#?}"))
}

/// Returns the object whose URL ends with `end`.
pub fn object<'a>(observation: &'a Observation, end: &str) -> &'a PageObject {
    let found = page(observation).objects.iter().find(|object| object.url.ends_with(end));
    found.unwrap_or_else(|| panic!("no object `{end}`: {observation:#?}"))
}
