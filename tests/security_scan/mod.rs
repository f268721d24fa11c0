//! Scans of `security-scan` against weak, sound and hostile servers on loopback.

mod alerts_by_severity;
mod dns;
mod hostile;
mod ports;
mod site;
mod targets;
mod web;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation, SecurityFinding, SecurityScanFacts, Severity};
use vigie::net::{Deadline, NameServers, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{AllowedTargets, ProbeBuildContext, ProbeContext, SecurityScanSettings, build_probe};
use vigie::schema::MonitorDocument;

/// Longest scan of a test.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Returns settings that allow all of loopback, with a rate that tests need.
fn settings() -> SecurityScanSettings {
    SecurityScanSettings {
        allowed_targets: AllowedTargets::parse(&["127.0.0.0/8"]),
        connections_per_second: NonZeroU32::new(1000).unwrap(),
    }
}

fn net_with(name_servers: NameServers) -> Net {
    let trust_config = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    Net::new(&NetConfig { trust_config, name_servers, ..NetConfig::default() }).unwrap()
}

/// Scans as `fields` say.
pub async fn scan(fields: Value) -> Observation {
    scan_with(fields, settings(), &net_with(NameServers::System)).await
}

async fn scan_with(fields: Value, security_scan: SecurityScanSettings, net: &Net) -> Observation {
    let mut all = json!({"timeout": 2});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let Value::Object(fields) = all else { unreachable!() };
    let context = ProbeBuildContext { security_scan, ..ProbeBuildContext::default() };
    let document = MonitorDocument::new(MonitorType::SecurityScan, fields).unwrap();
    let (probe, _) = build_probe(&document, &context);
    let cancel = CancellationToken::new();
    let cx = ProbeContext::new(net, Deadline::within(TIMEOUT), &cancel, &SystemClock);
    probe.attempt(cx).await
}

pub fn facts(observation: &Observation) -> &SecurityScanFacts {
    observation.facts.security.as_deref().unwrap_or_else(|| panic!("{observation:?}"))
}

pub fn find<'a>(observation: &'a Observation, label: &str) -> Option<&'a SecurityFinding> {
    facts(observation).findings.iter().find(|finding| finding.label() == label)
}

/// Returns the labels of the findings, without those about ports: other services of the host may be on loopback.
fn labels(observation: &Observation) -> BTreeSet<String> {
    let findings = &facts(observation).findings;
    findings
        .iter()
        .map(SecurityFinding::label)
        .filter(|label| !label.starts_with("port-unexpected"))
        .collect()
}

pub fn severity(observation: &Observation, label: &str) -> Option<Severity> {
    find(observation, label).map(|finding| finding.severity)
}
