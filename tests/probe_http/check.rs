//! Runs one attempt and compares it with the expectation.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind, MonitorType, Observation, Phase, WarningKind};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

pub struct Check {
    fields: Map<String, Value>,
    pub timeout: Duration,
    pub settings: ProbeBuildContext,
    pub config: NetConfig,
    /// Upstream proxies by id.
    pub proxies: std::collections::BTreeMap<i64, vigie::net::UpstreamProxy>,
}

impl Check {
    /// Creates a check of `url` with the default of every other field.
    pub fn new(url: &str) -> Self {
        let fields = json!({ "url": url });
        let Value::Object(fields) = fields else { unreachable!() };
        let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
        Self {
            fields,
            timeout: Duration::from_secs(20),
            settings: ProbeBuildContext { max_body_bytes: 1024 * 1024, ..ProbeBuildContext::default() },
            config: NetConfig { trust_config: trust, ..NetConfig::default() },
            proxies: BTreeMap::default(),
        }
    }

    pub fn with(mut self, fields: Value) -> Self {
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        self.fields.extend(fields);
        self
    }

    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub async fn run(&self) -> Observation {
        self.run_until(&CancellationToken::new()).await
    }

    pub async fn run_until(&self, cancel: &CancellationToken) -> Observation {
        let https = self.fields["url"].as_str().is_some_and(|url| url.starts_with("https:"));
        let kind = if https { MonitorType::WebsiteSsl } else { MonitorType::Website };
        let document = MonitorDocument::new(kind, self.fields.clone()).unwrap();
        let (probe, _) = vigie::probe::build_probe(&document, &self.settings);
        let net = Net::new(&self.config).unwrap().with_proxies(self.proxies.clone());
        let started = Instant::now();
        let deadline = Deadline::within(self.timeout);
        let observation = probe.attempt(ProbeContext::new(&net, deadline, cancel, &SystemClock)).await;
        let slack = Duration::from_secs(5);
        assert!(started.elapsed() < self.timeout + slack, "over its timeout: {:?}", started.elapsed());
        observation
    }
}

/// Expected result of an attempt.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    Passes,
    Warns(WarningKind),
    /// Status code, kind, phase. No phase where the system may report the failure in either of two.
    Fails(u16, FailureKind, Option<Phase>),
}

impl Expect {
    /// Compares `observation` with this expectation; the error describes the difference.
    pub fn compare(self, observation: &Observation) -> Result<(), String> {
        let failure = observation.failure.as_ref();
        let fits = match self {
            Self::Passes => {
                failure.is_none() && !observation.warnings.iter().any(|w| w.kind.affects_outcome())
            }
            Self::Warns(kind) => failure.is_none() && observation.warnings.iter().any(|w| w.kind == kind),
            Self::Fails(status, kind, phase) => failure.is_some_and(|f| {
                f.status().0 == status && f.kind == kind && phase.is_none_or(|phase| phase == f.phase)
            }),
        };
        let reached = match failure.map(|f| f.phase) {
            // A failing phase has a duration too. A denied address is refused before any phase starts.
            _ if failure.is_some_and(|f| f.kind == FailureKind::EgressDenied) => true,
            Some(phase) if (Phase::Resolve..Phase::Validate).contains(&phase) => {
                observation.phases.micros(phase).is_some()
            }
            Some(_) => true,
            None => observation.phases.micros(Phase::Transfer).is_some(),
        };
        if fits && reached { Ok(()) } else { Err(format!("expected {self:?}, saw {observation:#?}")) }
    }
}
